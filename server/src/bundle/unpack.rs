//! File to parts. Whatever is in the file, what comes out of it is bounded, and stands in the manifest.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use super::BundleError;
use super::manifest::{MOST_JSON, Manifest, NAME};
use super::spool::{Spool, SpoolError};

/// How a Zstandard frame begins.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Most bytes that a bundle unpacks to.
const MOST_UNPACKED: u64 = 2 << 30;
/// The decoder may keep a window of so many bytes, as a power of two; ours write a smaller one.
const WINDOW: u32 = 23;

/// A bundle whose parts are whole.
pub struct Unpacked {
    /// What it says of itself.
    pub manifest: Manifest,
    pub(super) spool: Spool,
}

impl Unpacked {
    /// A part's bytes; `None` where there is none.
    pub(super) fn part(&self, name: &str) -> Result<Option<Vec<u8>>, BundleError> {
        self.spool.bytes(name).map_err(BundleError::Disk)
    }
}

/// Unpacks a bundle to the disk of a folder, and looks at every part's size and SHA-256.
pub fn unpack(file: impl Read, folder: &Path) -> Result<Unpacked, BundleError> {
    unpack_within(file, folder, MOST_UNPACKED)
}

fn unpack_within(file: impl Read, folder: &Path, most: u64) -> Result<Unpacked, BundleError> {
    let mut archive = tar::Archive::new(decoder(file, most)?);
    let mut spool = Spool::new(folder).map_err(BundleError::Disk)?;
    // Raw: a name is at most what its header holds, and nothing is read on behalf of another entry.
    let mut entries = archive.entries().map_err(broken)?.raw(true);
    let first = entries.next().ok_or(BundleError::NotABundle)?;
    let manifest = manifest(first.map_err(not_a_bundle)?)?;
    let mut missing = manifest.parts.clone();
    for entry in entries {
        let entry = entry.map_err(broken)?;
        let name = name(&entry)?;
        let Some(part) = missing.remove(&name) else {
            return Err(BundleError::Foreign(name));
        };
        if entry.size() != part.bytes {
            return Err(BundleError::Damaged(name));
        }
        let taken = spool.take(name.clone(), entry).map_err(untaken)?;
        if taken != part {
            return Err(BundleError::Damaged(name));
        }
    }
    // The frame's own checksum stands at its very end.
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(broken)?;
    match missing.pop_first() {
        Some((name, _)) => Err(BundleError::Missing(name)),
        None => Ok(Unpacked { manifest, spool }),
    }
}

/// What a bundle says of itself, without its parts.
pub fn head(file: impl Read) -> Result<Manifest, BundleError> {
    let mut archive = tar::Archive::new(decoder(file, MOST_JSON)?);
    let mut entries = archive.entries().map_err(not_a_bundle)?.raw(true);
    let first = entries.next().ok_or(BundleError::NotABundle)?;
    manifest(first.map_err(not_a_bundle)?)
}

/// What is inside the frame; it ends with an error before it becomes too much.
fn decoder(file: impl Read, most: u64) -> Result<Bounded<impl Read>, BundleError> {
    let mut file = BufReader::new(file);
    let begins = file.fill_buf().map_err(BundleError::Disk)?;
    if !begins.starts_with(&MAGIC) {
        return Err(BundleError::NotABundle);
    }
    let frame = zstd::Decoder::with_buffer(file).map_err(broken)?;
    let mut frame = frame.single_frame();
    frame.window_log_max(WINDOW).map_err(broken)?;
    Ok(Bounded {
        inner: frame,
        left: most,
    })
}

fn manifest(entry: tar::Entry<'_, impl Read>) -> Result<Manifest, BundleError> {
    if name(&entry).ok().as_deref() != Some(NAME) {
        return Err(BundleError::NotABundle);
    }
    if MOST_JSON < entry.size() {
        let why = format!("its manifest has {} bytes", entry.size());
        return Err(BundleError::TooLarge(why));
    }
    let size = entry.size();
    let mut bytes = Vec::new();
    entry
        .take(MOST_JSON)
        .read_to_end(&mut bytes)
        .map_err(broken)?;
    if bytes.len() as u64 != size {
        return Err(broken(ErrorKind::UnexpectedEof.into()));
    }
    Manifest::read(&bytes)
}

/// An entry's name, where it is a file.
fn name(entry: &tar::Entry<'_, impl Read>) -> Result<String, BundleError> {
    let header = entry.header();
    let name = String::from_utf8_lossy(&header.path_bytes()).into_owned();
    if header.entry_type().is_file() {
        Ok(name)
    } else {
        Err(BundleError::Foreign(name))
    }
}

fn untaken(error: SpoolError) -> BundleError {
    match error {
        SpoolError::Read(cause) => broken(cause),
        SpoolError::Write(cause) => BundleError::Disk(cause),
    }
}

fn broken(cause: io::Error) -> BundleError {
    if is_bound(&cause) {
        BundleError::TooLarge(Bound.to_string())
    } else {
        BundleError::Broken(cause)
    }
}

/// A frame that is whole, without an archive in it, is something else.
fn not_a_bundle(cause: io::Error) -> BundleError {
    match broken(cause) {
        BundleError::Broken(cause) if cause.kind() == ErrorKind::Other => BundleError::NotABundle,
        other => other,
    }
}

/// Whether the reader below was at its bound; the archive wraps what it hears.
fn is_bound(cause: &io::Error) -> bool {
    let Some(inner) = cause.get_ref() else {
        return false;
    };
    let below = inner.source().and_then(|it| it.downcast_ref());
    inner.is::<Bound>() || below.is_some_and(is_bound)
}

/// It would unpack to more.
#[derive(Debug, thiserror::Error)]
#[error("it unpacks to more than 2 GiB")]
struct Bound;

/// A reader that gives so many bytes and then an error.
struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // The frame's errors are told from the archive's by their kind.
        let read = self.inner.read(into).map_err(|cause| match cause.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::Interrupted => cause,
            _ => io::Error::new(ErrorKind::InvalidData, cause),
        })?;
        self.left = self
            .left
            .checked_sub(read as u64)
            .ok_or_else(|| io::Error::other(Bound))?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::manifest::{FORMAT, VERSION};
    use super::*;

    /// A bundle without points, and so many zeros behind it.
    fn bundle(zeros: u64) -> Vec<u8> {
        let study = r#"{"id": "00000000-0000-0000-0000-000000000001", "name": "x", "spec": {}, "state": "finished", "problem": null,
            "tags": [], "note": "", "simulated": true, "engine": "", "created_ms": 0, "dataset_sha256": null,
            "tokenizer_sha256": null, "counted": null}"#;
        let manifest = format!(
            r#"{{"format": "{FORMAT}", "version": {VERSION}, "goodput": "0", "exported_ms": 0, "scope": "shown", "study": {study},
            "configurations": [], "points": [], "unmeasured": 0, "starts": [], "parts": {{}}}}"#
        );
        let mut header = tar::Header::new_ustar();
        header.set_path(NAME).expect("short");
        header.set_size(manifest.len() as u64);
        header.set_cksum();
        let frame = zstd::Encoder::new(Vec::new(), 1).expect("a frame");
        let mut archive = tar::Builder::new(frame);
        archive
            .append(&header, manifest.as_bytes())
            .expect("appended");
        let mut frame = archive.into_inner().expect("ended");
        io::copy(&mut io::repeat(0).take(zeros), &mut frame).expect("zeros");
        frame.flush().expect("flushed");
        frame.finish().expect("finished")
    }

    #[test]
    fn what_comes_out_is_bounded_whatever_is_packed() {
        let folder = tempfile::tempdir().expect("a folder");
        let most = 1 << 20;
        let small = unpack_within(&bundle(0)[..], folder.path(), most);
        assert_eq!(
            small.map(|it| it.manifest.study.name).ok(),
            Some("x".into())
        );
        let large = bundle(64 << 20);
        assert!(large.len() < 1 << 16, "{} bytes", large.len());
        let refused = unpack_within(&large[..], folder.path(), most);
        let refused = refused.err().map(|error| error.to_string());
        let word = "it unpacks to more than 2 GiB";
        assert!(
            refused.clone().is_some_and(|it| it.contains(word)),
            "{refused:?}"
        );
        assert!(head(&large[..]).is_ok(), "what it says of itself is little");
    }
}
