//! Where things are. Everything that is made lies under `target`, which git ignores.

use std::path::{Path, PathBuf};

/// The folder of the workspace's `Cargo.toml`.
pub fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// A path below the workspace's root.
pub fn at(relative: &str) -> PathBuf {
    root().join(relative)
}

/// Where native builds go: `CARGO_TARGET_DIR` when set, else `target`.
pub fn native_target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => at("target"),
    }
}
