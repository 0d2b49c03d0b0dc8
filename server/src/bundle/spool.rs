//! Parts on disk while a bundle is made or opened, in one file without a name: memory holds one part at a time, and nothing
//! is left behind however it ends.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::manifest::Part;
use crate::studio::dataset::hexadecimal;

/// Read and written at a time.
const BLOCK: usize = 1 << 16;

/// The parts.
pub struct Spool {
    file: File,
    end: u64,
    parts: BTreeMap<String, (u64, Part)>,
}

/// Why a part was not taken.
#[derive(Debug)]
pub enum SpoolError {
    /// It cannot be read from where it comes.
    Read(io::Error),
    /// It cannot be written here.
    Write(io::Error),
}

impl Spool {
    /// An empty one, on the disk of this folder.
    pub fn new(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            file: tempfile::tempfile_in(folder)?,
            end: 0,
            parts: BTreeMap::new(),
        })
    }

    /// Takes a part to its end; what it is then.
    pub fn take(&mut self, name: String, mut from: impl Read) -> Result<Part, SpoolError> {
        let (mut sum, mut bytes) = (Sha256::new(), 0);
        let mut block = vec![0; BLOCK];
        (&self.file)
            .seek(SeekFrom::Start(self.end))
            .map_err(SpoolError::Write)?;
        loop {
            let read = match from.read(&mut block) {
                Ok(0) => break,
                Ok(read) => read,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => continue,
                Err(cause) => return Err(SpoolError::Read(cause)),
            };
            sum.update(&block[..read]);
            bytes += read as u64;
            (&self.file)
                .write_all(&block[..read])
                .map_err(SpoolError::Write)?;
        }
        let sha256 = hexadecimal(&sum.finalize());
        let part = Part { bytes, sha256 };
        self.parts.insert(name, (self.end, part.clone()));
        self.end += bytes;
        Ok(part)
    }

    /// What was taken, by name.
    pub fn parts(&self) -> BTreeMap<String, Part> {
        let parts = self.parts.iter();
        parts
            .map(|(name, (_, part))| (name.clone(), part.clone()))
            .collect()
    }

    /// A part's bytes; `None` where there is none of that name.
    pub fn bytes(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let Some((at, part)) = self.parts.get(name) else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        (&self.file).seek(SeekFrom::Start(*at))?;
        (&self.file).take(part.bytes).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }
}

/// A SHA-256 in hexadecimal, as the manifest has it.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back_as_they_went_in() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut spool = Spool::new(folder.path()).expect("made");
        for (name, text) in [("b", "second"), ("a", ""), ("c", "abc")] {
            spool.take(name.into(), text.as_bytes()).expect("taken");
        }
        let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(spool.parts()["c"].sha256, sum);
        assert_eq!(spool.bytes("b").expect("read"), Some(b"second".to_vec()));
        assert_eq!(spool.bytes("a").expect("read"), Some(Vec::new()));
        assert_eq!(spool.bytes("d").expect("read"), None);
        let left = std::fs::read_dir(folder.path()).expect("read").count();
        assert_eq!(left, 0, "it has no name");
    }
}
