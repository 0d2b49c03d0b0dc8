//! Script, style and WASM: hashed names, compressed beforehand, immutable.
//!
//! `cargo xtask web` leaves `manifest.json` (name to hashed file) and `assets/*` with `.br` and `.gz` beside each. They
//! come out of the binary (feature `embed`) or from a folder, are read once, and are served from memory. A name that is
//! not there is a 404 in plain text: a script tag that gets a page instead of a script fails without saying why.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use app::{Assets, Module};
use axum::extract::{self, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use bytes::Bytes;

use crate::routes::Edge;

/// The built web assets.
#[derive(Debug, Default)]
pub struct Site {
    /// By path below the site: `assets/frontend.1a2b.js`, `assets/frontend.1a2b.js.br`.
    files: HashMap<String, Bytes>,
    assets: Assets,
}

/// Why there are no assets.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// Nothing was built.
    #[error(
        "no web assets in {0:?}: pages are served without style and script; `cargo xtask web` builds them"
    )]
    Missing(PathBuf),
    /// A file cannot be read.
    #[error("web asset {path:?} cannot be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        cause: std::io::Error,
    },
    /// The manifest is not what `cargo xtask web` writes.
    #[error("manifest of the web assets cannot be read; `cargo xtask web` writes a new one")]
    Manifest(#[source] serde_json::Error),
}

#[cfg(feature = "embed")]
#[derive(rust_embed::Embed)]
#[folder = "../target/site"]
struct Embedded;

impl Site {
    /// The assets in the binary, or those of the named folder, or of the workspace's target/site.
    pub fn open(named: Option<&Path>) -> Result<Self, SiteError> {
        match named {
            Some(folder) => Self::read(folder),
            None => Self::built_in(),
        }
    }

    #[cfg(feature = "embed")]
    fn built_in() -> Result<Self, SiteError> {
        let file = |name: std::borrow::Cow<'static, str>| {
            let data = Embedded::get(&name)?.data;
            Some((name.into_owned(), Bytes::from(data.into_owned())))
        };
        Self::from_files(
            Embedded::iter().filter_map(file).collect(),
            "the binary".as_ref(),
        )
    }

    #[cfg(not(feature = "embed"))]
    fn built_in() -> Result<Self, SiteError> {
        Self::read(Path::new(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../target/site"
        )))
    }

    fn read(folder: &Path) -> Result<Self, SiteError> {
        if !folder.join("manifest.json").exists() {
            return Err(SiteError::Missing(folder.to_owned()));
        }
        let mut files = HashMap::new();
        let mut take = |name: String, path: PathBuf| {
            let bytes = std::fs::read(&path).map_err(|cause| SiteError::Read { path, cause })?;
            files.insert(name, Bytes::from(bytes));
            Ok(())
        };
        take("manifest.json".into(), folder.join("manifest.json"))?;
        let assets = folder.join("assets");
        let read = |cause| SiteError::Read {
            path: assets.clone(),
            cause,
        };
        for entry in std::fs::read_dir(&assets).map_err(read)? {
            let entry = entry.map_err(read)?;
            take(
                format!("assets/{}", entry.file_name().to_string_lossy()),
                entry.path(),
            )?;
        }
        Self::from_files(files, folder)
    }

    fn from_files(files: HashMap<String, Bytes>, from: &Path) -> Result<Self, SiteError> {
        let manifest = files
            .get("manifest.json")
            .ok_or_else(|| SiteError::Missing(from.to_owned()))?;
        let manifest: BTreeMap<String, String> =
            serde_json::from_slice(manifest).map_err(SiteError::Manifest)?;
        let url = |name: &str| {
            manifest
                .get(name)
                .map(|file| format!("/{file}"))
                .unwrap_or_default()
        };
        let module = |name: &str| Module {
            js: url(&format!("{name}.js")),
            wasm: url(&format!("{name}.wasm")),
        };
        let assets = Assets {
            css: url("app.css"),
            frontend: module("frontend"),
            new_study: module("new-study"),
            plotly: url("plotly.js"),
            favicon: url("favicon.svg"),
        };
        Ok(Self { files, assets })
    }

    /// The addresses that pages name.
    pub fn assets(&self) -> &Assets {
        &self.assets
    }

    /// A file in the smallest form that the caller takes, with that form's name.
    fn find(&self, name: &str, accepts: &str) -> Option<(Bytes, Option<&'static str>)> {
        let plain = self.files.get(name)?;
        for (coding, suffix) in [("br", ".br"), ("gzip", ".gz")] {
            let file = self.files.get(&format!("{name}{suffix}"));
            if let Some(bytes) = file.filter(|_| takes(accepts, coding)) {
                return Some((bytes.clone(), Some(coding)));
            }
        }
        Some((plain.clone(), None))
    }
}

/// Whether an Accept-Encoding header takes a coding.
fn takes(accepts: &str, coding: &str) -> bool {
    accepts.split(',').any(|item| {
        let mut parts = item.split(';').map(str::trim);
        let named = parts
            .next()
            .is_some_and(|name| name.eq_ignore_ascii_case(coding));
        let weight = parts
            .find_map(|part| part.strip_prefix("q="))
            .and_then(|q| q.parse::<f64>().ok());
        named && weight.is_none_or(|weight| 0.0 < weight)
    })
}

/// `GET /assets/{file}`
pub async fn asset(
    State(edge): State<Edge>,
    extract::Path(file): extract::Path<String>,
    headers: HeaderMap,
) -> Response {
    let accepts = headers
        .get(header::ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let Some((bytes, coding)) = edge.site.find(&format!("assets/{file}"), accepts) else {
        return (StatusCode::NOT_FOUND, "no such asset\n").into_response();
    };
    let mut response = bytes.into_response();
    let head = response.headers_mut();
    let mut set = |name, value: &str| {
        if let Ok(value) = value.parse() {
            head.insert(name, value);
        }
    };
    set(header::CONTENT_TYPE, &mime(&file));
    set(header::CACHE_CONTROL, "public, max-age=31536000, immutable");
    set(header::VARY, "accept-encoding");
    if let Some(coding) = coding {
        set(header::CONTENT_ENCODING, coding);
    }
    response
}

/// `GET /favicon.ico`, which browsers ask for by themselves.
pub async fn favicon(State(edge): State<Edge>) -> Response {
    match edge.site.assets().favicon.as_str() {
        "" => (StatusCode::NOT_FOUND, "no such asset\n").into_response(),
        url => Redirect::permanent(url).into_response(),
    }
}

fn mime(file: &str) -> String {
    let kind = mime_guess::from_path(file).first_or_octet_stream();
    let is_text = kind.type_() == "text" || kind.subtype() == "json";
    if is_text {
        format!("{kind}; charset=utf-8")
    } else {
        kind.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        let manifest = r#"{"app.css": "assets/app.1.css", "frontend.wasm": "assets/f.2.wasm"}"#;
        let file = |(name, text): (&str, &str)| (name.to_owned(), Bytes::from(text.to_owned()));
        let files = [
            ("manifest.json", manifest),
            ("assets/app.1.css", "plain"),
            ("assets/app.1.css.br", "brotli"),
            ("assets/app.1.css.gz", "gzip"),
            ("assets/f.2.wasm", "wasm"),
        ];
        Site::from_files(files.into_iter().map(file).collect(), "test".as_ref()).expect("site")
    }

    #[track_caller]
    fn check(accepts: &str, expected: &str) {
        let site = site();
        let (bytes, _) = site.find("assets/app.1.css", accepts).expect("file");
        assert_eq!(bytes, expected.as_bytes(), "{accepts:?}");
    }

    #[test]
    fn the_smallest_form_that_is_taken_is_sent() {
        check("gzip, deflate, br, zstd", "brotli");
        check("gzip, br;q=0", "gzip");
        check("GZIP;q=0.5", "gzip");
        check("identity", "plain");
        check("", "plain");
        check("brotli", "plain");
    }

    #[test]
    fn pages_name_what_the_manifest_lists() {
        let site = site();
        assert_eq!(site.assets().css, "/assets/app.1.css");
        assert_eq!(site.assets().frontend.wasm, "/assets/f.2.wasm");
        assert_eq!(site.assets().plotly, "", "what was not built is not named");
    }

    #[test]
    fn kinds_are_what_browsers_demand() {
        assert_eq!(mime("a.wasm"), "application/wasm");
        assert_eq!(mime("a.js"), "text/javascript; charset=utf-8");
        assert_eq!(mime("a.css"), "text/css; charset=utf-8");
        assert_eq!(mime("a.svg"), "image/svg+xml");
    }

    #[test]
    fn a_missing_site_is_one_clear_sentence() {
        let error = Site::open(Some("/nowhere".as_ref()))
            .expect_err("missing")
            .to_string();
        assert!(error.contains("cargo xtask web"), "{error}");
    }
}
