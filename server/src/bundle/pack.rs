//! Parts to file.

use std::io::{self, Write};

use super::manifest::{Manifest, NAME};
use super::spool::Spool;

/// Requests and metrics are compressed already: this is for the JSON.
const LEVEL: i32 = 9;

/// Writes a bundle. Parts come in the order of their names.
pub fn pack(out: impl Write, manifest: &Manifest, spool: &Spool) -> io::Result<()> {
    let mut frame = zstd::Encoder::new(out, LEVEL)?;
    frame.include_checksum(true)?;
    let mut archive = tar::Builder::new(frame);
    let made = manifest.exported_ms.unsigned_abs() / 1000;
    let text = serde_json::to_vec_pretty(manifest)?;
    append(&mut archive, NAME, &text, made)?;
    for name in manifest.parts.keys() {
        let part = spool.bytes(name)?.unwrap_or_default();
        append(&mut archive, name, &part, made)?;
    }
    archive.into_inner()?.finish()?.flush()
}

fn append(
    archive: &mut tar::Builder<impl Write>,
    name: &str,
    bytes: &[u8],
    made: u64,
) -> io::Result<()> {
    let mut header = tar::Header::new_ustar();
    header.set_path(name)?;
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    header.set_mtime(made);
    header.set_cksum();
    archive.append(&header, bytes)
}
