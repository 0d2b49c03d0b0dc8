//! Compiles crate `frontend` for the browser: own target folder, own profile, nothing inherited.

use super::toolchain::Toolchain;
use super::{Options, workshop};
use crate::command::{cargo, run};
use crate::fingerprint::{Fingerprint, is_current, keep};
use crate::paths::at;
use crate::step::unchanged;
use std::path::PathBuf;

/// What the module is made of. `public` is not among them: styles change without compiling.
const SOURCES: [&str; 6] = [
    "app",
    "frontend",
    "measure",
    "Cargo.toml",
    "Cargo.lock",
    "xtask/src/web",
];

/// The module as the compiler leaves it; compiled only when a source or the compiler changed.
pub fn build(options: &Options) -> anyhow::Result<PathBuf> {
    let toolchain = Toolchain::choose(options.consent)?;
    let profile = if options.dev { "dev" } else { "wasm-release" };
    let folder = if options.dev { "debug" } else { "wasm-release" };
    let module = workshop()
        .join("wasm32-unknown-unknown")
        .join(folder)
        .join("frontend.wasm");
    let stamp = workshop().join(format!("{profile}.stamp"));
    let fingerprint = fingerprint(&toolchain, profile)?;
    if is_current(&stamp, &fingerprint) && module.is_file() {
        unchanged("frontend");
        return Ok(module);
    }
    let mut command = cargo();
    command.args([
        "build",
        "--package",
        "frontend",
        "--lib",
        "--locked",
        "--profile",
        profile,
        "--target-dir",
    ]);
    command.arg(workshop());
    toolchain.apply(&mut command);
    run(&mut command)?;
    keep(&stamp, &fingerprint)?;
    Ok(module)
}

fn fingerprint(toolchain: &Toolchain, profile: &str) -> anyhow::Result<String> {
    let mut fingerprint = Fingerprint::default();
    fingerprint.word(profile).word(&toolchain.name());
    for source in SOURCES {
        fingerprint.tree(&at(source))?;
    }
    Ok(fingerprint.finish())
}
