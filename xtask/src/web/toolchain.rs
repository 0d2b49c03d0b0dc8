//! Who can compile for wasm32: the installed target, rustup, or Debian's compiler with its sources.

use crate::command::{answer, find, succeeds_within};
use crate::needs::{Consent, install, is_installed};
use anyhow::bail;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A compiler that can make the browser's module.
#[derive(Debug, PartialEq, Eq)]
pub enum Toolchain {
    /// The main toolchain has the target's standard library.
    Main,
    /// Debian's compiler; cargo builds the standard library from Debian's sources first.
    Debian { rustc: PathBuf, linker: PathBuf },
}

const TARGET: &str = "wasm32-unknown-unknown";
/// How long rustup may try to fetch the target. Where it cannot reach anything it fails in seconds.
const RUSTUP_LIMIT: Duration = Duration::from_secs(90);
/// What the compiler is told beside the profile.
///
/// leptos puts the parts of views behind one type, so that the code for them is there once; the server is built so as well
/// (`.cargo/config.toml`), because the two must write and read the same page. Functions are put into their callers only
/// where that makes the whole smaller: a function used in one place only gets a bonus of 15 000, which this takes back.
/// What stays apart stays alike, and compresses better. Panics name no file and no line: the module has no names
/// either, and those texts weigh.
const FLAGS: [&str; 5] = [
    "--cfg",
    "erase_components",
    "-Cllvm-args=-inline-threshold=-14900",
    "-Zlocation-detail=none",
    "-Ctarget-feature=+simd128",
];
const NO_WAY: &str = "the browser's part needs a compiler for wasm32; one of three ways mends this: \
    `rustup target add wasm32-unknown-unknown`, or on Debian `apt-get install rustc-web rust-web-src lld`, \
    or any rustc on the path whose target folder holds wasm32-unknown-unknown";

impl Toolchain {
    /// The first of the three ways that works here. `GOODPUT_WEB_STD=debian` goes straight to the last.
    pub fn choose(consent: Consent) -> anyhow::Result<Self> {
        let forced = std::env::var("GOODPUT_WEB_STD").is_ok_and(|way| way == "debian");
        if !forced && (has_target() || rustup_adds_target()) {
            return Ok(Self::Main);
        }
        Self::debian(consent)
    }

    fn debian(consent: Consent) -> anyhow::Result<Self> {
        if let Some(found) = Self::debian_installed() {
            return Ok(found);
        }
        if find("apt-get").is_none() {
            bail!(NO_WAY);
        }
        install(
            &["rustc-web", "rust-web-src", newest_lld().as_str()],
            "the browser's part",
            consent,
        )?;
        match Self::debian_installed() {
            Some(found) => Ok(found),
            None => bail!(NO_WAY),
        }
    }

    fn debian_installed() -> Option<Self> {
        let packages = ["rustc-web", "rust-web-src"]
            .iter()
            .all(|package| is_installed(package));
        let rustc = Path::new("/usr/bin/rustc");
        let linker = newest_linker(Path::new("/usr/bin"))?;
        (packages && rustc.is_file()).then(|| Self::Debian {
            rustc: rustc.to_path_buf(),
            linker,
        })
    }

    /// What tells one compiler from another, for the fingerprint.
    pub fn name(&self) -> String {
        let rustc = match self {
            Self::Main => Path::new("rustc"),
            Self::Debian { rustc, .. } => rustc,
        };
        answer(Command::new(rustc).arg("-vV")).unwrap_or_default()
    }

    /// Makes a cargo command build with this compiler for the browser, and with nothing inherited.
    pub fn apply(&self, cargo: &mut Command) {
        cargo.args(["--target", TARGET]);
        for name in ["RUSTFLAGS", "CARGO_BUILD_TARGET", "LD_LIBRARY_PATH"] {
            cargo.env_remove(name);
        }
        // Goes before all others, those of configuration files too.
        cargo.env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}"));
        // Lets a stable compiler take the flags that begin with -Z.
        cargo.env("RUSTC_BOOTSTRAP", "1");
        if let Self::Debian { rustc, linker } = self {
            cargo.env("RUSTC", rustc);
            cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
            cargo.args([
                "-Zbuild-std=std,panic_abort",
                "-Zbuild-std-features=optimize_for_size",
            ]);
        }
    }
}

fn has_target() -> bool {
    let folder =
        answer(Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]));
    folder.is_some_and(|folder| Path::new(&folder).is_dir())
}

fn rustup_adds_target() -> bool {
    let Some(rustup) = find("rustup") else {
        return false;
    };
    println!("    asking rustup for {TARGET}");
    let mut command = Command::new(rustup);
    command
        .args(["target", "add", TARGET])
        .env("RUSTUP_MAX_RETRIES", "0");
    succeeds_within(&mut command, RUSTUP_LIMIT) && has_target()
}

/// The newest `wasm-ld` of Debian's lld packages; their names carry LLVM's version.
fn newest_linker(folder: &Path) -> Option<PathBuf> {
    let names = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let newest = names
        .filter_map(|name| version_after("wasm-ld-", &name))
        .max()?;
    Some(folder.join(format!("wasm-ld-{newest}")))
}

/// The newest lld package that this Debian offers.
fn newest_lld() -> String {
    let offered =
        answer(Command::new("apt-cache").args(["search", "--names-only", "^lld-[0-9]+$"]))
            .unwrap_or_default();
    let versions = offered
        .lines()
        .filter_map(|line| version_after("lld-", line.split_whitespace().next()?));
    match versions.max() {
        Some(newest) => format!("lld-{newest}"),
        None => "lld".to_owned(),
    }
}

fn version_after(prefix: &str, name: &str) -> Option<u32> {
    name.strip_prefix(prefix)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let names = ["wasm-ld-9", "wasm-ld-22", "wasm-ld-19", "wasm-ld"];
        assert_eq!(
            names
                .iter()
                .filter_map(|name| version_after("wasm-ld-", name))
                .max(),
            Some(22)
        );
    }

    #[test]
    fn the_last_resort_names_all_three_ways() {
        for way in ["rustup target add", "apt-get install", "rustc on the path"] {
            assert!(NO_WAY.contains(way), "{way}");
        }
    }

    #[test]
    fn the_web_build_inherits_no_flags() {
        let mut cargo = Command::new("cargo");
        Toolchain::Main.apply(&mut cargo);
        let removed: Vec<_> = cargo
            .get_envs()
            .filter(|(_, value)| value.is_none())
            .map(|(name, _)| name)
            .collect();
        assert!(removed.contains(&std::ffi::OsStr::new("RUSTFLAGS")));
        assert!(cargo.get_envs().any(|(name, value)| {
            name == "CARGO_ENCODED_RUSTFLAGS" && value.is_some_and(|flags| !flags.is_empty())
        }));
    }
}
