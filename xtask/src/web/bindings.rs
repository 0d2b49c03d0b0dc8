//! wasm-bindgen as a library: from the compiler's module to the browser's module and its script.
//!
//! The library's version is pinned to that of the crate `wasm-bindgen`, so that the two never differ.

use super::names::shortened;
use super::shrink::{neighbours, optimised, without_idle};
use super::{Part, workshop};
use crate::fingerprint::{Fingerprint, is_current, keep};
use crate::paths::at;
use crate::step::unchanged;
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};
use wasm_bindgen_cli_support::Bindgen;

/// Writes a part's `{name}.js`, `{name}_bg.wasm` and perhaps `snippets/`, and returns their folder.
///
/// The script holds no address of the module: the page names both, because both have hashed names.
pub fn write(part: &Part, module: &Path, packages: &Path, dev: bool) -> anyhow::Result<PathBuf> {
    let made = if dev { "bindings-dev" } else { "bindings" };
    let folder = workshop().join(made).join(part.name);
    let stamp = folder.join("stamp");
    let fingerprint = Fingerprint::default()
        .word(if dev { "dev" } else { "release" })
        .tree(module)?
        .tree(&at("xtask/src/web"))?
        .tree(&at("xtask/npm"))?
        .finish();
    if is_current(&stamp, &fingerprint) {
        unchanged(part.name);
        return Ok(folder);
    }
    if folder.is_dir() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    generate(part, module, &folder, dev)?;
    if !dev {
        shrink(part, &folder, packages)?;
    }
    keep(&stamp, &fingerprint)?;
    Ok(folder)
}

fn generate(part: &Part, module: &Path, folder: &Path, dev: bool) -> anyhow::Result<()> {
    let mut bytes = read(module)?;
    if !dev {
        bytes = without_idle(&bytes)?;
    }
    Bindgen::new()
        .input_bytes(part.name, bytes)
        .web(true)?
        .typescript(false)
        .omit_default_module_path(true)
        .debug(dev)
        .remove_name_section(!dev)
        .remove_producers_section(!dev)
        .generate(folder)
        .with_context(|| format!("cannot make bindings for {}", module.display()))
}

fn shrink(part: &Part, folder: &Path, packages: &Path) -> anyhow::Result<()> {
    let (module, script) = files(part, folder);
    optimised(&module, packages)?;
    let (bytes, text) = shortened(
        &neighbours(&read(&module)?)?,
        &String::from_utf8(read(&script)?)?,
    )?;
    for (file, content) in [(&module, &bytes[..]), (&script, text.as_bytes())] {
        fs::write(file, content).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

/// A part's module and script.
pub fn files(part: &Part, folder: &Path) -> (PathBuf, PathBuf) {
    (
        folder.join(format!("{}_bg.wasm", part.name)),
        folder.join(format!("{}.js", part.name)),
    )
}

fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("cannot read {}", file.display()))
}
