//! Files that commands write. What lies there stays until there is something better: a command that fails destroys nothing. Devices, pipes
//! and links stay what they are, and are written to.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use crate::cli::printable;
use crate::cli::say::{say, warn_of};

/// A place that can be written, known before the run costs anything.
#[derive(Debug)]
pub(super) struct Out {
    named: PathBuf,
    /// What names it on the command line.
    option: &'static str,
    way: Way,
}

#[derive(Debug)]
enum Way {
    /// A new file beside the old one takes its place at the end.
    Beside { part: Part, at: PathBuf },
    /// The folder takes no such file, but the file itself can be written.
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

/// Stands for standard output.
const STANDARD: &str = "-";

impl Out {
    /// Whether it goes to standard output.
    pub(super) fn is_standard(&self) -> bool {
        self.named.as_os_str() == STANDARD
    }

    /// Sees whether the file can be written, and leaves it as it is.
    pub(super) fn check(path: &Path, option: &'static str) -> Result<Self, String> {
        let way = Way::to(path).map_err(|error| {
            format!(
                "{option} names {}, which cannot be written: {error}",
                path.display()
            )
        })?;
        Ok(Self {
            named: path.to_owned(),
            option,
            way,
        })
    }

    /// Writes it piece by piece, so that it is never in memory as a whole. What lies there is touched once all is written.
    pub(super) fn write(
        self,
        what: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), String> {
        let unwritten = |error: &io::Error| {
            format!(
                "cannot write {}: {error}; make room, or name another file with {}",
                self.named.display(),
                self.option
            )
        };
        match self.way {
            Way::Into(file) => match pieces(file, what) {
                // Whoever stops reading has read enough.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                written => written.map_err(|error| unwritten(&error)),
            },
            Way::Over(at) => {
                let part = Part::new(elsewhere()).map_err(|error| unwritten(&error))?;
                part.fill(what).map_err(|error| unwritten(&error))?;
                let moved = copy_over(&part.0, &at);
                moved.map_err(|error| format!("{}{}", unwritten(&error), part.keep()))
            }
            Way::Beside { part, at } => {
                part.fill(what).map_err(|error| unwritten(&error))?;
                let moved = fs::rename(&part.0, at);
                moved.map_err(|error| format!("{}{}", unwritten(&error), part.keep()))
            }
        }
    }
}

/// To people: on standard error where the records go to standard output.
pub(super) fn tell(text: &str, out: Option<&Out>) {
    let text = printable(text);
    if out.is_some_and(Out::is_standard) {
        warn_of!("{text}");
    } else {
        say!("{text}");
    }
}

fn pieces(file: File, what: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    what(&mut file)?;
    file.flush()
}

/// Where a file is written that cannot lie beside its place.
fn elsewhere() -> PathBuf {
    std::env::temp_dir().join(format!("goodput-{}.part", std::process::id()))
}

/// Puts the content of a file into another that is there already. Room is taken first, so that a full disk leaves the
/// other as it was.
fn copy_over(from: &Path, to: &Path) -> io::Result<()> {
    let (mut from, mut to) = (File::open(from)?, OpenOptions::new().write(true).open(to)?);
    let length = from.metadata()?.len();
    let room = rustix::fs::fallocate(&to, rustix::fs::FallocateFlags::KEEP_SIZE, 0, length.max(1));
    if room == Err(rustix::io::Errno::NOSPC) {
        return Err(io::ErrorKind::StorageFull.into());
    }
    io::copy(&mut from, &mut to)?;
    to.set_len(length)
}

impl Part {
    fn new(path: PathBuf) -> io::Result<Self> {
        File::create_new(&path)?;
        Ok(Self(path))
    }

    fn fill(&self, what: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        pieces(OpenOptions::new().write(true).open(&self.0)?, what)
    }

    /// Leaves the file where it is: what was measured is not lost with its place. Where that is.
    fn keep(self) -> String {
        let kept = format!("; what was measured is in {}", self.0.display());
        std::mem::forget(self);
        kept
    }
}

impl Way {
    fn to(path: &Path) -> io::Result<Self> {
        let known = match fs::metadata(path) {
            Ok(known) => Some(known),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if path.as_os_str() == STANDARD {
            let standard = io::stdout().as_fd().try_clone_to_owned()?;
            return Ok(Self::Into(File::from(standard)));
        }
        let is_stream = known.as_ref().is_some_and(|known| !known.is_file());
        if is_stream || is_open_already(path) {
            // Behind /dev/stdout may be a file that the rest of the output goes to.
            return OpenOptions::new().append(true).open(path).map(Self::Into);
        }
        // Through a link: the link stays, the file behind it is replaced.
        let at = match known {
            Some(_) => path.canonicalize()?,
            None => behind(path),
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

/// Whether it names what this program or another has open.
fn is_open_already(path: &Path) -> bool {
    let streams = ["/dev/stdin", "/dev/stdout", "/dev/stderr"];
    let folders = ["/dev/fd", "/proc"];
    streams.iter().any(|it| path == Path::new(it)) || folders.iter().any(|it| path.starts_with(it))
}

/// Where a link leads to nothing yet, that is where the file comes to be.
fn behind(path: &Path) -> PathBuf {
    let mut at = path.to_owned();
    // As many links as systems follow.
    for _ in 0..40 {
        match fs::read_link(&at) {
            Ok(to) => at = at.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => break,
        }
    }
    at
}

fn beside(at: &Path) -> io::Result<Part> {
    let name = at
        .file_name()
        .ok_or_else(|| io::Error::other("it names no file"))?;
    let part = format!(".{}.{}.part", name.to_string_lossy(), std::process::id());
    Part::new(at.with_file_name(part))
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
        drop(Out::check(&file, "--json").expect("can be written"));
        assert_eq!(fs::read_to_string(&file).expect("read"), "earlier");
        let out = Out::check(&file, "--json").expect("can be written");
        out.write(later).expect("written");
        assert_eq!(fs::read_to_string(&file).expect("read"), "later");
        assert_eq!(names(folder.path()), ["keep.json"]);
    }

    fn later(out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"la")?;
        out.write_all(b"ter")
    }

    /// Writes a part, then fails.
    fn fails(out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&[b'x'; 1 << 20])?;
        Err(io::ErrorKind::StorageFull.into())
    }

    #[test]
    fn a_failure_in_the_middle_leaves_an_earlier_file_and_nothing_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        // No name beside the longest is short enough for the folder.
        for name in ["keep.json".to_owned(), "x".repeat(255)] {
            let file = folder.path().join(&name);
            fs::write(&file, "a longer text of earlier").expect("written");
            let out = Out::check(&file, "--json").expect("can be written");
            assert_eq!(matches!(out.way, Way::Over(_)), name.len() == 255);
            let error = out.write(fails).expect_err("full");
            assert!(error.contains("make room"), "{error}");
            let kept = || fs::read_to_string(&file).expect("read");
            assert_eq!(kept(), "a longer text of earlier");
            let out = Out::check(&file, "--json").expect("can be written");
            out.write(later).expect("written");
            assert_eq!(kept(), "later");
            assert_eq!(names(folder.path()), [name]);
            fs::remove_file(&file).expect("removed");
            assert!(!elsewhere().exists());
        }
    }

    #[test]
    fn what_was_measured_is_not_lost_with_its_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("new.json");
        let out = Out::check(&file, "--json").expect("can be written");
        // In the meantime a folder of that name was made.
        fs::create_dir(&file).expect("a folder");
        let error = out.write(later).expect_err("not there");
        let kept = error.rsplit(" is in ").next().expect("a path");
        assert_eq!(fs::read_to_string(kept).expect("kept"), "later");
    }

    #[test]
    fn what_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        for bad in [folder.path(), Path::new("/nowhere/out.json")] {
            let error = Out::check(bad, "--json").expect_err("refused");
            assert!(error.contains(&*bad.to_string_lossy()), "{error}");
        }
    }

    #[test]
    fn links_and_pipes_stay_what_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("old"), "earlier").expect("written");
        for (link, to) in [("to-old", "old"), ("to-new", "new")] {
            std::os::unix::fs::symlink(to, at(link)).expect("linked");
            let out = Out::check(&at(link), "-o").expect("can be written");
            out.write(later).expect("written");
            assert!(at(link).is_symlink(), "{link}");
            assert_eq!(fs::read_to_string(at(to)).expect("read"), "later");
        }
        let pipe = at("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).expect("a pipe");
        let read = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read_to_string(pipe).expect("read")
        });
        let out = Out::check(&pipe, "-o").expect("can be written");
        out.write(later).expect("written");
        assert_eq!(read.join().expect("ended"), "later");
        assert!(!fs::symlink_metadata(&pipe).expect("there").is_file());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_are_written_to_and_named_when_they_are_full() {
        let out = Out::check(Path::new("/dev/null"), "--json").expect("can be written");
        out.write(later).expect("written");
        let full = Out::check(Path::new("/dev/full"), "--json").expect("can be opened");
        let error = full.write(later).expect_err("full");
        assert!(
            error.contains("/dev/full") && error.contains("make room"),
            "{error}"
        );
    }
}
