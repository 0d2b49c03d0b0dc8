//! `cargo xtask web`: everything that the browser gets, in `target/site`.
//!
//! Four stages, each skipped when nothing it depends on has changed: npm packages, the WASM module of each part,
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

/// A part of the studio whose pages share a module (docs/adr/0007-a-small-module.md).
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Its files: `{name}.js`, `{name}.wasm`.
    name: &'static str,
    /// Features of crate `frontend`.
    features: &'static str,
}

/// Every part.
const PARTS: [Part; 2] = [
    Part {
        name: "frontend",
        features: "",
    },
    Part {
        name: "new-study",
        features: "new-study",
    },
];

/// The most that a part's module and script may weigh together, gzipped. plotly is apart.
const LIMIT_GZ: u64 = 500_000;

/// Builds what has changed and says what it weighs.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let packages = step::step("npm packages", || npm::packages(options.consent))?;
    let modules = step::step("frontend for wasm32", || {
        let module = |part| frontend::build(part, options);
        PARTS.iter().map(module).collect::<Result<Vec<_>, _>>()
    })?;
    let bound = step::step("bindings", || {
        let parts = PARTS.iter().zip(&modules);
        parts
            .map(|(part, module)| bindings::write(part, module, &packages, options.dev))
            .collect::<Result<Vec<_>, _>>()
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
