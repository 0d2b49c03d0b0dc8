//! What every source file must hold (a sentence about itself) and must not hold.

use super::Tree;
use std::path::Path;

/// No source file is longer, its own tests not counted.
const LONGEST: usize = 400;
/// Nor any file that holds nothing but tests.
const LONGEST_TESTS: usize = 600;

/// Never in Rust sources, with what to write instead. Written in halves so that this file does not find itself.
const NEVER_IN_RUST: [(&str, &str); 5] = [
    (concat!("todo", "!("), "write it, or leave it out"),
    (concat!("unimplemented", "!("), "write it, or leave it out"),
    (
        concat!("#[all", "ow("),
        "use #[expect(lint, reason = \"...\")]",
    ),
    (
        concat!("#![all", "ow("),
        "use #![expect(lint, reason = \"...\")]",
    ),
    (
        concat!("unbounded", "_channel("),
        "give the channel a bound",
    ),
];

/// Addresses of package registries: they belong into the configuration of a machine.
const HOSTS: [&str; 5] = [
    concat!("registry.", "npmjs.org"),
    concat!("static.", "crates.io"),
    concat!("index.", "crates.io"),
    concat!("files.", "pythonhosted.org"),
    concat!("deb.", "debian.org"),
];
/// Folders of one machine.
const MACHINE: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];

/// Findings over all files.
pub fn check(tree: &Tree) -> anyhow::Result<Vec<String>> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts() {
        let ending = path
            .extension()
            .and_then(|ending| ending.to_str())
            .unwrap_or_default();
        if ending == "rs" {
            findings.extend(head(path, &text));
            findings.extend(never(path, &text));
            findings.extend(length(path, &text));
        }
        findings.extend(places(path, &text));
    }
    Ok(findings)
}

/// A module opens with what it is for. A file of unit tests belongs to the module beside it.
fn head(path: &Path, text: &str) -> Option<String> {
    let first = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let says = first
        .strip_prefix("//!")
        .is_some_and(|words| words.split_whitespace().count() >= 2);
    let unit_tests = path.ends_with("tests.rs");
    (!says && !unit_tests).then(|| {
        format!(
            "{}: does not open with `//!` and what it is for",
            path.display()
        )
    })
}

fn never(path: &Path, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for (pattern, mend) in NEVER_IN_RUST {
            if line.contains(pattern) {
                findings.push(format!(
                    "{}:{}: `{pattern}`: {mend}",
                    path.display(),
                    number + 1
                ));
            }
        }
    }
    findings
}

fn length(path: &Path, text: &str) -> Option<String> {
    let own = text
        .split("\n#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    let lines = own.lines().count();
    let tests = path.ends_with("tests.rs") || path.iter().any(|folder| folder == "tests");
    let longest = if tests { LONGEST_TESTS } else { LONGEST };
    (lines > longest).then(|| {
        format!(
            "{}: {lines} lines, more than {longest}: take it apart",
            path.display()
        )
    })
}

/// Registries and folders that exist on one machine only.
fn places(path: &Path, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let host = HOSTS.iter().find(|host| line.contains(**host));
        let folder = MACHINE.iter().find(|folder| names_folder(line, folder));
        if let Some(place) = host.or(folder) {
            findings.push(format!(
                "{}:{}: names {place}, which belongs to one machine",
                path.display(),
                number + 1
            ));
        }
    }
    findings
}

/// Whether an absolute path begins with `folder` in this line: not after a letter, as in `a/work/b`.
fn names_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|letter| letter.is_alphanumeric() || "._-}*".contains(letter))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_says_what_it_is_for() {
        assert_eq!(
            head(Path::new("a.rs"), "//! Turns this into that.\nfn a() {}"),
            None
        );
        assert!(head(Path::new("a.rs"), "fn a() {}").is_some());
        assert!(head(Path::new("a.rs"), "//! server\n").is_some());
    }

    #[test]
    fn leftovers_are_found_with_their_line() {
        let text = format!("//! Some module.\nfn a() {{ {}) }}", concat!("todo", "!("));
        assert_eq!(never(Path::new("a.rs"), &text).len(), 1);
        assert!(never(Path::new("a.rs"), &text)[0].starts_with("a.rs:2: "));
    }

    #[test]
    fn folders_of_one_machine_are_found_and_parts_of_paths_are_not() {
        let folder = MACHINE[0];
        assert!(names_folder(&format!("see {folder}x"), folder));
        assert!(names_folder(&format!("\"{folder}x\""), folder));
        assert!(!names_folder(&format!("a{folder}x"), folder));
    }

    #[test]
    fn a_long_file_is_found() {
        assert!(length(Path::new("a.rs"), &"\n".repeat(401)).is_some());
        assert!(length(Path::new("a.rs"), &"\n".repeat(400)).is_none());
        assert!(length(Path::new("a/tests/b.rs"), &"\n".repeat(401)).is_none());
        let with_tests = format!("a\n#[cfg(test)]\nmod tests {{{}", "\n".repeat(500));
        assert!(length(Path::new("a.rs"), &with_tests).is_none());
    }
}
