//! `cargo xtask web`: everything that the browser gets, in `target/site`.
//!
//! Four stages, each skipped when nothing it depends on has changed: npm packages, the WASM module,
//! its script, and the folder with hashed names and compressed copies. `target/site/manifest.json`
//! maps plain names (`frontend.js`) to the hashed ones that the server puts into its pages.

mod bindings; // WASM module -> smaller module + script
mod frontend; // crate frontend -> WASM module
mod names; // long names -> short ones, in module and script
mod shrink; // WASM module -> one that compresses better
mod site; // files -> hashed, compressed, listed
mod toolchain; // who can compile for wasm32

use crate::needs::Consent;
use crate::paths::at;
use crate::{npm, step};
use std::path::PathBuf;

/// What `cargo xtask web` may be told.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Options {
    /// Build fast and unoptimised, with names and assertions; no limit on size
    #[arg(long)]
    pub dev: bool,
    #[command(flatten)]
    pub consent: Consent,
}

/// The most that the app's module and script may weigh together, gzipped. plotly is apart.
const LIMIT_GZ: u64 = 530_000;

/// Builds what has changed and says what it weighs.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let packages = step::step("npm packages", || npm::packages(options.consent))?;
    let module = step::step("frontend for wasm32", || frontend::build(options))?;
    let bound = step::step("bindings", || {
        bindings::write(&module, &packages, options.dev)
    })?;
    let weight = step::step("site", || site::write(&bound, &packages, options.dev))?;
    weight.print();
    weight.check(if options.dev { u64::MAX } else { LIMIT_GZ })
}

/// Where the finished site lies.
pub fn folder() -> PathBuf {
    at("target/site")
}

/// Where the web build keeps its own things, apart from the native build.
fn workshop() -> PathBuf {
    at("target/web")
}
