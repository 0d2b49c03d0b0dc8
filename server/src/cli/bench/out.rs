//! Where `--json` goes. What lies there stays until there is something better: a run that never begins destroys nothing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A place that can be written, known before the run costs anything.
#[derive(Debug)]
pub(super) struct Out {
    named: PathBuf,
    way: Way,
}

#[derive(Debug)]
enum Way {
    /// A new file beside the old one takes its place at the end.
    Beside { part: Part, at: PathBuf },
    /// The folder takes no new files, but the file itself can be written.
    Over(PathBuf),
    /// A terminal, a pipe, a device: there is nothing to keep.
    Into(File),
}

/// A file under a name of its own; gone unless it is renamed.
#[derive(Debug)]
struct Part(PathBuf);

impl Drop for Part {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Out {
    /// Sees whether the file can be written, and leaves it as it is.
    pub(super) fn check(path: &Path) -> Result<Self, String> {
        let way = Way::to(path).map_err(|error| {
            format!(
                "--json names {}, which cannot be written: {error}",
                path.display()
            )
        })?;
        Ok(Self {
            named: path.to_owned(),
            way,
        })
    }

    /// Writes it whole.
    pub(super) fn write(self, bytes: &[u8]) -> Result<(), String> {
        let written = match self.way {
            Way::Into(mut file) => file.write_all(bytes).and_then(|()| file.flush()),
            Way::Over(path) => fs::write(path, bytes),
            Way::Beside { part, at } => {
                fs::write(&part.0, bytes).and_then(|()| fs::rename(&part.0, at))
            }
        };
        written.map_err(|error| {
            format!(
                "cannot write {}: {error}; make room, or name another file with --json",
                self.named.display()
            )
        })
    }
}

impl Way {
    fn to(path: &Path) -> io::Result<Self> {
        let known = match fs::metadata(path) {
            Ok(known) => Some(known),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let is_stream = known.as_ref().is_some_and(|known| !known.is_file());
        if is_stream || path.starts_with("/dev") || path.starts_with("/proc") {
            // Behind /dev/stdout may be a file that the rest of the output goes to.
            return OpenOptions::new().append(true).open(path).map(Self::Into);
        }
        // Through a link: the link stays, the file behind it is replaced.
        let at = match known {
            Some(_) => path.canonicalize()?,
            None => path.to_owned(),
        };
        match (beside(&at), known) {
            (Ok(part), known) => {
                if let Some(known) = known {
                    OpenOptions::new().write(true).open(&at)?;
                    fs::set_permissions(&part.0, known.permissions())?;
                }
                Ok(Self::Beside { part, at })
            }
            (Err(_), Some(_)) => {
                OpenOptions::new().write(true).open(&at)?;
                Ok(Self::Over(at))
            }
            (Err(error), None) => Err(error),
        }
    }
}

fn beside(at: &Path) -> io::Result<Part> {
    let name = at
        .file_name()
        .ok_or_else(|| io::Error::other("it names no file"))?;
    let part = format!(".{}.{}.part", name.to_string_lossy(), std::process::id());
    let part = at.with_file_name(part);
    File::create_new(&part)?;
    Ok(Part(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        entries
            .map(|entry| {
                entry
                    .expect("entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect()
    }

    #[test]
    fn an_earlier_file_stays_until_it_is_replaced_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("keep.json");
        fs::write(&file, "earlier").expect("written");
        drop(Out::check(&file).expect("can be written"));
        assert_eq!(fs::read_to_string(&file).expect("read"), "earlier");
        let out = Out::check(&file).expect("can be written");
        out.write(b"later").expect("written");
        assert_eq!(fs::read_to_string(&file).expect("read"), "later");
        assert_eq!(names(folder.path()), ["keep.json"]);
    }

    #[test]
    fn what_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        for bad in [folder.path(), Path::new("/nowhere/out.json")] {
            let error = Out::check(bad).expect_err("refused");
            assert!(error.contains(&*bad.to_string_lossy()), "{error}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_are_written_to_and_named_when_they_are_full() {
        let out = Out::check(Path::new("/dev/null")).expect("can be written");
        out.write(b"{}").expect("written");
        let full = Out::check(Path::new("/dev/full")).expect("can be opened");
        let error = full.write(b"{}").expect_err("full");
        assert!(
            error.contains("/dev/full") && error.contains("make room"),
            "{error}"
        );
    }
}
