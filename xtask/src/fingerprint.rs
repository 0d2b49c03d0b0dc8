//! Has anything changed since last time? A digest over names and contents, kept in a stamp file.

use anyhow::Context;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// Collects what a result depends on.
#[derive(Default)]
pub struct Fingerprint(Sha256);

impl Fingerprint {
    /// A word: a version, a mode.
    pub fn word(&mut self, word: &str) -> &mut Self {
        self.0.update((word.len() as u64).to_le_bytes());
        self.0.update(word);
        self
    }

    /// A file or a whole folder, by names and contents. What does not exist counts as absent.
    pub fn tree(&mut self, path: &Path) -> anyhow::Result<&mut Self> {
        for file in files(path)? {
            let bytes =
                fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            self.word(&file.to_string_lossy());
            self.0.update((bytes.len() as u64).to_le_bytes());
            self.0.update(&bytes);
        }
        Ok(self)
    }

    /// Sixty-four hexadecimal digits.
    pub fn finish(&self) -> String {
        hex(&self.0.clone().finalize())
    }
}

/// Whether `stamp` holds exactly this fingerprint.
pub fn is_current(stamp: &Path, fingerprint: &str) -> bool {
    fs::read_to_string(stamp).is_ok_and(|old| old == fingerprint)
}

/// Keeps the fingerprint for next time.
pub fn keep(stamp: &Path, fingerprint: &str) -> anyhow::Result<()> {
    if let Some(folder) = stamp.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(stamp, fingerprint).with_context(|| format!("cannot write {}", stamp.display()))
}

/// The SHA-256 of some bytes in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// All files at or below a path, sorted, without what version control and editors leave.
pub fn files(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut found = Vec::new();
    if path.is_dir() {
        for entry in
            fs::read_dir(path).with_context(|| format!("cannot list {}", path.display()))?
        {
            let entry = entry?;
            if !entry.file_name().to_string_lossy().starts_with('.') {
                found.extend(files(&entry.path())?);
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_do_not_run_together() {
        let one = Fingerprint::default().word("ab").word("c").finish();
        let other = Fingerprint::default().word("a").word("bc").finish();
        assert_ne!(one, other);
    }

    #[test]
    fn a_digest_is_written_in_hexadecimal() {
        assert!(sha256(b"abc").starts_with("ba7816bf8f01cfea"));
    }

    #[test]
    fn what_is_not_there_has_no_files() {
        assert_eq!(files(Path::new("/no/such/folder")).ok(), Some(vec![]));
    }
}
