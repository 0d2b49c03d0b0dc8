//! The folder that the server serves or embeds: hashed names, compressed copies, one manifest.
//!
//! A file's name carries the first digits of its SHA-256, so that browsers may keep it for ever. Files
//! that have not changed are not written again, and compressed copies are made once per content.

use super::{PARTS, bindings, folder};
use crate::fingerprint::sha256;
use crate::paths::at;
use anyhow::{Context, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

/// The style sheet is these files, joined in this order.
const STYLES: &[&str] = &[
    "tokens",
    "base",
    "layout",
    "components",
    "study",
    "live",
    "new",
    "compare",
    "point",
    "start",
    "everywhere",
    "print",
    "keys",
    "iso",
];
const PLOTLY: &str = "plotly.js-basic-dist-min/plotly-basic.min.js";

/// What each asset weighs, by plain name: as it is, gzipped, and under brotli.
#[derive(Debug, Default)]
pub struct Weight(BTreeMap<String, [u64; 3]>);

impl Weight {
    /// One line per asset.
    pub fn print(&self) {
        for (name, [plain, gz, br]) in &self.0 {
            println!(
                "    {name:<16} {:>9}  gz {:>9}  br {:>9}",
                kb(*plain),
                kb(*gz),
                kb(*br)
            );
        }
    }

    /// Fails when a part's module and script weigh more than `limit` bytes, gzipped.
    pub fn check(&self, limit: u64) -> anyhow::Result<()> {
        for part in PARTS {
            let gz = |ending| self.gz(&format!("{}.{ending}", part.name));
            let both = gz("js") + gz("wasm");
            println!("    {}: {} gzipped", part.name, kb(both));
            if both > limit {
                bail!(
                    "module and script of {} weigh {} gzipped, more than {}: see what grew with `twiggy top`",
                    part.name,
                    kb(both),
                    kb(limit)
                );
            }
        }
        Ok(())
    }

    fn gz(&self, name: &str) -> u64 {
        self.0.get(name).map_or(0, |[_, gz, _]| *gz)
    }
}

/// Writes the site from the folders of the parts' bindings, the npm packages and `public`.
pub fn write(bound: &[PathBuf], packages: &Path, dev: bool) -> anyhow::Result<Weight> {
    let mut site = Site {
        dev,
        ..Site::default()
    };
    for (part, folder) in PARTS.iter().zip(bound) {
        let (module, script) = bindings::files(part, folder);
        site.add(&format!("{}.js", part.name), &read(&script)?)?;
        site.add(&format!("{}.wasm", part.name), &read(&module)?)?;
        site.add_snippets(folder)?;
    }
    site.add("plotly.js", &read(&packages.join(PLOTLY))?)?;
    site.add("app.css", &styles()?)?;
    for (name, file) in other_public_files()? {
        site.add(&name, &read(&file)?)?;
    }
    site.finish()
}

#[derive(Default)]
struct Site {
    dev: bool,
    manifest: BTreeMap<String, String>,
    kept: BTreeSet<PathBuf>,
    weight: Weight,
}

impl Site {
    /// Adds an asset under a name that carries its content's hash.
    fn add(&mut self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let hashed = hashed_name(name, bytes);
        let sizes = self.put(&hashed, bytes)?;
        self.manifest
            .insert(name.to_owned(), format!("assets/{hashed}"));
        self.weight.0.insert(name.to_owned(), sizes);
        Ok(())
    }

    /// Adds what a part's script imports, under the names that it imports them by.
    fn add_snippets(&mut self, bindings: &Path) -> anyhow::Result<()> {
        for file in crate::fingerprint::files(&bindings.join("snippets"))? {
            let name = file.strip_prefix(bindings)?.to_string_lossy().into_owned();
            self.put(&name, &read(&file)?)?;
        }
        Ok(())
    }

    /// Writes a file and its compressed copies, unless they are there.
    fn put(&mut self, name: &str, bytes: &[u8]) -> anyhow::Result<[u64; 3]> {
        let file = folder().join("assets").join(name);
        let gz = with_suffix(&file, "gz");
        let br = with_suffix(&file, "br");
        write_if_changed(&file, bytes)?;
        if !newer(&gz, &file) {
            write_file(&gz, &gzipped(bytes)?)?;
        }
        if !newer(&br, &file) {
            write_file(&br, &brotlied(bytes, if self.dev { 4 } else { 9 })?)?;
        }
        let sizes = [
            bytes.len() as u64,
            fs::metadata(&gz)?.len(),
            fs::metadata(&br)?.len(),
        ];
        self.kept.extend([file, gz, br]);
        Ok(sizes)
    }

    /// Writes the manifest and removes what no longer belongs.
    fn finish(mut self) -> anyhow::Result<Weight> {
        let manifest = folder().join("manifest.json");
        write_if_changed(
            &manifest,
            serde_json::to_string_pretty(&self.manifest)?.as_bytes(),
        )?;
        self.kept.insert(manifest);
        for file in crate::fingerprint::files(&folder())? {
            if !self.kept.contains(&file) {
                fs::remove_file(&file)
                    .with_context(|| format!("cannot remove {}", file.display()))?;
            }
        }
        Ok(self.weight)
    }
}

fn styles() -> anyhow::Result<Vec<u8>> {
    let mut sheet = Vec::new();
    for style in STYLES {
        let file = at("public/css").join(format!("{style}.css"));
        if file.is_file() {
            sheet.extend(read(&file)?);
            sheet.push(b'\n');
        } else {
            println!("    public/css/{style}.css is not there");
        }
    }
    Ok(sheet)
}

/// Icons, pictures, fonts: everything in `public` but the style sheets.
fn other_public_files() -> anyhow::Result<Vec<(String, PathBuf)>> {
    let public = at("public");
    let mut found = Vec::new();
    for file in crate::fingerprint::files(&public)? {
        let name = file.strip_prefix(&public)?.to_string_lossy().into_owned();
        if !name.starts_with("css/") {
            found.push((name, file));
        }
    }
    Ok(found)
}

/// `icons/app.svg` becomes `icons/app.0123456789abcdef.svg`.
fn hashed_name(name: &str, bytes: &[u8]) -> String {
    let hash = &sha256(bytes)[..16];
    match name.rsplit_once('.') {
        Some((stem, ending)) => format!("{stem}.{hash}.{ending}"),
        None => format!("{name}.{hash}"),
    }
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}

/// Whether `copy` exists and was made after `original`.
fn newer(copy: &Path, original: &Path) -> bool {
    let time = |file: &Path| fs::metadata(file).and_then(|data| data.modified());
    matches!((time(copy), time(original)), (Ok(copy), Ok(original)) if original <= copy)
}

/// By zopfli, which searches longer than others: about a twentieth smaller, readable by everyone.
fn gzipped(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let options = zopfli::Options {
        iteration_count: ROUNDS,
        ..Default::default()
    };
    let mut compressed = Vec::new();
    zopfli::compress(options, zopfli::Format::Gzip, bytes, &mut compressed)?;
    Ok(compressed)
}

/// After five rounds of searching nothing is left to gain.
const ROUNDS: NonZeroU64 = NonZeroU64::new(5).expect("not zero");

fn brotlied(bytes: &[u8], quality: i32) -> anyhow::Result<Vec<u8>> {
    let params = brotli::enc::BrotliEncoderParams {
        quality,
        lgwin: 22,
        ..Default::default()
    };
    let mut compressed = Vec::new();
    brotli::BrotliCompress(&mut &bytes[..], &mut compressed, &params)?;
    Ok(compressed)
}

fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("cannot read {}", file.display()))
}

fn write_if_changed(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if fs::read(file).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    write_file(file, bytes)
}

fn write_file(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, bytes).with_context(|| format!("cannot write {}", file.display()))
}

fn kb(bytes: u64) -> String {
    format!("{:.1} kB", bytes as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_name_carries_the_hash_before_its_ending() {
        assert_eq!(
            hashed_name("icons/app.svg", b"abc"),
            "icons/app.ba7816bf8f01cfea.svg"
        );
        assert_eq!(hashed_name("LICENSE", b"abc"), "LICENSE.ba7816bf8f01cfea");
    }

    #[test]
    fn compressed_copies_open_to_the_original() -> anyhow::Result<()> {
        let original = b"the quick brown fox ".repeat(500);
        let mut gz = Vec::new();
        flate2::read::GzDecoder::new(&gzipped(&original)?[..]).read_to_end(&mut gz)?;
        let mut br = Vec::new();
        brotli::BrotliDecompress(&mut &brotlied(&original, 9)?[..], &mut br)?;
        assert_eq!([&gz, &br], [&original, &original]);
        Ok(())
    }

    #[test]
    fn an_app_over_the_limit_fails_and_plotly_does_not_count() {
        let weight = Weight(BTreeMap::from([
            ("frontend.js".to_owned(), [9, 40_000, 9]),
            ("frontend.wasm".to_owned(), [9, 450_000, 9]),
            ("new-study.wasm".to_owned(), [9, 495_000, 9]),
            ("plotly.js".to_owned(), [9, 900_000, 9]),
        ]));
        assert!(weight.check(500_000).is_ok());
        assert!(weight.check(494_000).is_err());
    }
}
