//! The few files that come from npm: plotly.js for the pages, binaryen to make the module smaller, axe-core for the browser
//! tests.
//!
//! They are named in `xtask/npm`, by a lock file that holds checksums and no addresses, and are
//! installed into `target/npm`. Nothing of theirs runs while installing.

use crate::command::run_quietly;
use crate::fingerprint::{Fingerprint, is_current, keep};
use crate::needs::{Consent, program_or_packages};
use crate::paths::at;
use crate::step::unchanged;
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Installs the packages of the lock file and returns their `node_modules`.
pub fn packages(consent: Consent) -> anyhow::Result<PathBuf> {
    let (wanted, installed) = (at("xtask/npm"), at("target/npm"));
    let stamp = installed.join("stamp");
    let fingerprint = Fingerprint::default().tree(&wanted)?.finish();
    let modules = installed.join("node_modules");
    if is_current(&stamp, &fingerprint) && modules.is_dir() {
        unchanged("npm packages");
        return Ok(modules);
    }
    let npm = program_or_packages(
        "npm",
        &["nodejs", "npm"],
        "plotly.js, axe-core and binaryen",
        consent,
    )?;
    fs::create_dir_all(&installed)
        .with_context(|| format!("cannot make {}", installed.display()))?;
    for file in ["package.json", "package-lock.json", ".npmrc"] {
        fs::copy(wanted.join(file), installed.join(file))
            .with_context(|| format!("cannot copy xtask/npm/{file}"))?;
    }
    install(&npm, &installed)?;
    keep(&stamp, &fingerprint)?;
    Ok(modules)
}

fn install(npm: &Path, folder: &Path) -> anyhow::Result<()> {
    run_quietly(
        Command::new(npm)
            .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
            .current_dir(folder),
    )
    .context("cannot install the npm packages: is npm's registry within reach?")
}
