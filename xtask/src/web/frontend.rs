//! Compiles crate `frontend` for the browser, once for each part of the studio: own target folder, own profile, nothing inherited.

use super::toolchain::Toolchain;
use super::{Options, Part, workshop};
use crate::command::{cargo, run};
use crate::fingerprint::{Fingerprint, is_current, keep};
use crate::paths::at;
use crate::step::unchanged;
use anyhow::Context;
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

/// A part's module as the compiler leaves it; compiled only when a source or the compiler changed.
pub fn build(part: &Part, options: &Options) -> anyhow::Result<PathBuf> {
    let toolchain = Toolchain::choose(options.consent)?;
    let profile = if options.dev { "dev" } else { "wasm-release" };
    let folder = if options.dev { "debug" } else { "wasm-release" };
    let module = workshop().join(format!("{}-{folder}.wasm", part.name));
    let stamp = workshop().join(format!("{}-{profile}.stamp", part.name));
    let fingerprint = fingerprint(&toolchain, profile)?;
    if is_current(&stamp, &fingerprint) && module.is_file() {
        unchanged(part.name);
        return Ok(module);
    }
    let mut command = cargo();
    command.args([
        "build",
        "--package",
        "frontend",
        "--lib",
        "--locked",
        "--features",
        part.features,
        "--profile",
        profile,
        "--target-dir",
    ]);
    command.arg(workshop());
    toolchain.apply(&mut command);
    run(&mut command)?;
    let compiled = workshop().join("wasm32-unknown-unknown").join(folder);
    std::fs::copy(compiled.join("frontend.wasm"), &module)
        .with_context(|| format!("cannot write {}", module.display()))?;
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
