//! `cargo xtask dist`: the one self-contained binary, to copy to another machine.

use crate::needs::Consent;
use crate::{fingerprint, paths, release};
use anyhow::Context;
use std::fs;

/// Leaves `target/dist/goodput` and says how large it is.
pub fn run(consent: Consent) -> anyhow::Result<()> {
    let goodput = release::build(consent)?;
    let folder = paths::at("target/dist");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let copy = folder.join("goodput");
    // A running copy cannot be written over, but it can be replaced.
    let _ = fs::remove_file(&copy);
    fs::copy(&goodput, &copy).with_context(|| format!("cannot copy to {}", copy.display()))?;
    let bytes = fs::read(&copy)?;
    println!(
        "{} ({} kB, sha256 {})",
        copy.display(),
        bytes.len() / 1000,
        fingerprint::sha256(&bytes)
    );
    Ok(())
}
