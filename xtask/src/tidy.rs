//! `cargo xtask tidy`: what the compiler does not check. Also a test of this crate.
//!
//! Who may import whom, a sentence at the head of every module, migrations for both databases, every
//! metric documented, no file too long, nothing of one machine in the tree.

mod crates; // arrows and lints, from the Cargo.tomls
mod documents; // metrics are documented, links lead somewhere
mod migrations; // the two databases have the same steps
mod sources; // what every source file must and must not hold

use anyhow::bail;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Prints each finding; fails when there is one.
pub fn run() -> anyhow::Result<()> {
    let findings = Tree::open()?.findings()?;
    for finding in &findings {
        println!("    {finding}");
    }
    match findings.len() {
        0 => Ok(()),
        1 => bail!("one thing is untidy"),
        more => bail!("{more} things are untidy"),
    }
}

/// The files of the project: tracked, or new and not ignored.
struct Tree {
    root: PathBuf,
    files: Vec<PathBuf>,
}

impl Tree {
    fn open() -> anyhow::Result<Self> {
        let root = crate::paths::root();
        let files = listed_by_git(&root).map_or_else(|| walked(&root), Ok)?;
        Ok(Self { root, files })
    }

    /// Everything that is wrong, each with its place, sorted.
    fn findings(&self) -> anyhow::Result<Vec<String>> {
        let mut findings = crates::check(self)?;
        findings.extend(sources::check(self)?);
        findings.extend(migrations::check(self));
        findings.extend(documents::check(self)?);
        findings.sort();
        Ok(findings)
    }

    /// The texts among the files, each with its path from the root. Pictures and other bytes are left out.
    fn texts(&self) -> impl Iterator<Item = (&Path, String)> {
        self.files.iter().filter_map(|file| {
            let text = fs::read_to_string(self.root.join(file)).ok()?;
            Some((file.as_path(), text))
        })
    }

    fn read(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.root.join(file)).ok()
    }
}

fn listed_by_git(root: &Path) -> Option<Vec<PathBuf>> {
    let mut git = Command::new("git");
    git.current_dir(root)
        .args(["ls-files", "--cached", "--others", "--exclude-standard"]);
    let listed = crate::command::answer(&mut git)?;
    let files: Vec<_> = listed
        .lines()
        .map(PathBuf::from)
        .filter(|file| root.join(file).is_file())
        .collect();
    (!files.is_empty()).then_some(files)
}

/// For a copy without git: everything but what is built.
fn walked(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(root)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !name.starts_with("target") && name != ".git" {
            files.extend(crate::fingerprint::files(&path)?);
        }
    }
    Ok(files
        .into_iter()
        .filter_map(|file| file.strip_prefix(root).map(Path::to_path_buf).ok())
        .collect())
}

#[cfg(test)]
mod tests {
    use super::Tree;

    #[test]
    fn the_tree_is_tidy() -> anyhow::Result<()> {
        let findings = Tree::open()?.findings()?;
        assert!(findings.is_empty(), "{}", findings.join("\n"));
        Ok(())
    }
}
