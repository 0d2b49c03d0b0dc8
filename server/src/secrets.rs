//! API keys that the studio keeps: one file a secret, readable by its own user alone, in a folder of the data directory.
//!
//! A secret is bound to one origin and is sent nowhere else. Its value is never in the database, in an answer, in an
//! export, in a log line or in an error.

use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use load::Key;
use measure::study::is_variable_name;
use url::Url;

/// The folder within the data directory.
const FOLDER: &str = "secrets";
/// Longest value.
const MAX_VALUE: usize = 8 << 10;
/// Most secrets listed.
const MAX_SECRETS: usize = 1000;

/// The secrets of a data directory.
pub(crate) struct Secrets {
    folder: PathBuf,
}

/// Why a secret cannot be kept, or is not given.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SecretError {
    #[error("a secret's name is written in capitals, digits and underscores, such as VLLM")]
    Name,
    #[error("a secret has one line of 1 to {MAX_VALUE} visible ASCII characters without blanks")]
    Value,
    #[error("--for needs the http:// or https:// URL of the engine that may receive the secret")]
    Origin,
    #[error("the studio keeps no secret {0}; store it with: goodput secret set {0} --for URL")]
    Unknown(String),
    #[error(
        "the secret {name} is kept for {bound} and is sent nowhere else; store another one for {asked}"
    )]
    Elsewhere {
        name: String,
        bound: String,
        asked: String,
    },
    #[error(
        "the file of the secret {0} can be read by others; take that away with chmod 600, then store a new key"
    )]
    Open(String),
    #[error("the file of the secret {0} is damaged; store it again")]
    Damaged(String),
    #[error("the secret cannot be kept or read")]
    Io(#[source] io::Error),
}

impl Secrets {
    pub(crate) fn of(data_dir: &Path) -> Self {
        Self {
            folder: data_dir.join(FOLDER),
        }
    }

    /// Names, sorted. A folder that is not there holds none.
    pub(crate) fn names(&self) -> Result<Vec<String>, SecretError> {
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(SecretError::Io(error)),
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let named = names.filter(|name| is_variable_name(name));
        let mut names: Vec<String> = named.take(MAX_SECRETS).collect();
        names.sort();
        Ok(names)
    }

    /// The origin that a secret is kept for; `None` where there is none, or a damaged one.
    pub(crate) fn bound(&self, name: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.path(name).ok()?).ok()?;
        text.split_once('\n').map(|(bound, _)| bound.to_owned())
    }

    /// Keeps a secret for the origin of a URL; it replaces the one of that name.
    pub(crate) fn set(&self, name: &str, url: &Url, value: &str) -> Result<(), SecretError> {
        let path = self.path(name)?;
        let bound = origin(url).ok_or(SecretError::Origin)?;
        let is_line = value.bytes().all(|byte| byte.is_ascii_graphic());
        if value.is_empty() || MAX_VALUE < value.len() || !is_line {
            return Err(SecretError::Value);
        }
        let kept = self.write(&path, &format!("{bound}\n{value}\n"));
        kept.map_err(SecretError::Io)
    }

    /// Whole or not at all, and never readable by others, not even for a moment.
    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        let mut folder = DirBuilder::new();
        folder.recursive(true).mode(0o700).create(&self.folder)?;
        std::fs::set_permissions(&self.folder, Permissions::from_mode(0o700))?;
        let part = path.with_extension("part");
        // One that was left behind may have other rights.
        match std::fs::remove_file(&part) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut options = OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&part)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(part, path)
    }

    /// Forgets a secret.
    pub(crate) fn remove(&self, name: &str) -> Result<(), SecretError> {
        match std::fs::remove_file(self.path(name)?) {
            Ok(()) => Ok(()),
            Err(error) => Err(not_there(error, name)),
        }
    }

    /// The key for an engine's URL, where the secret is bound to its origin.
    pub(crate) fn key(&self, name: &str, url: &Url) -> Result<Key, SecretError> {
        let path = self.path(name)?;
        let mode = std::fs::metadata(&path)
            .map_err(|error| not_there(error, name))?
            .permissions()
            .mode();
        if mode & 0o077 != 0 {
            return Err(SecretError::Open(name.to_owned()));
        }
        let text = std::fs::read_to_string(path).map_err(|error| not_there(error, name))?;
        let damaged = || SecretError::Damaged(name.to_owned());
        let (bound, value) = text.split_once('\n').ok_or_else(damaged)?;
        let asked = origin(url).ok_or(SecretError::Origin)?;
        if bound != asked {
            let (name, bound) = (name.to_owned(), bound.to_owned());
            return Err(SecretError::Elsewhere { name, bound, asked });
        }
        Ok(Key::new(value.trim_end()))
    }

    fn path(&self, name: &str) -> Result<PathBuf, SecretError> {
        if is_variable_name(name) {
            Ok(self.folder.join(name))
        } else {
            Err(SecretError::Name)
        }
    }
}

fn not_there(error: io::Error, name: &str) -> SecretError {
    if error.kind() == io::ErrorKind::NotFound {
        SecretError::Unknown(name.to_owned())
    } else {
        SecretError::Io(error)
    }
}

/// Scheme, host and port: what a secret is bound to.
fn origin(url: &Url) -> Option<String> {
    let origin = url.origin();
    let is_web = matches!(url.scheme(), "http" | "https") && origin.is_tuple();
    is_web.then(|| origin.ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        text.parse().expect("a URL")
    }

    fn kept() -> (tempfile::TempDir, Secrets) {
        let folder = tempfile::tempdir().expect("a folder");
        let secrets = Secrets::of(&folder.path().join("data"));
        (folder, secrets)
    }

    #[test]
    fn a_secret_is_kept_for_one_origin_and_given_to_no_other() {
        let (_folder, secrets) = kept();
        assert_eq!(secrets.names().expect("none"), [""; 0]);
        let home = url("https://Engine.example/llm/v1");
        secrets.set("VLLM", &home, "sk-first").expect("kept");
        secrets.set("VLLM", &home, "sk-VALUE").expect("replaced");
        secrets.set("A", &home, "x").expect("kept");
        assert_eq!(secrets.names().expect("names"), ["A", "VLLM"]);
        let bound = secrets.bound("VLLM");
        assert_eq!(bound.as_deref(), Some("https://engine.example"));
        assert_eq!(secrets.bound("B"), None);
        for same in ["https://engine.example", "https://engine.example:443/v1"] {
            let key = secrets.key("VLLM", &url(same)).expect("the same origin");
            assert_eq!(key, Key::new("sk-VALUE"));
        }
        for other in [
            "http://engine.example",
            "https://engine.example:8443",
            "https://evil.example",
            "https://engine.example.evil.example",
            "https://engine.example@evil.example",
        ] {
            let error = secrets.key("VLLM", &url(other)).expect_err(other);
            assert!(matches!(error, SecretError::Elsewhere { .. }), "{error}");
            assert!(!format!("{error} {error:?}").contains("VALUE"), "{error}");
        }
        secrets.remove("VLLM").expect("there");
        let gone = secrets.key("VLLM", &home).expect_err("gone");
        assert!(
            gone.to_string().contains("goodput secret set VLLM"),
            "{gone}"
        );
        assert!(matches!(
            secrets.remove("VLLM"),
            Err(SecretError::Unknown(_))
        ));
    }

    #[test]
    fn nobody_else_can_read_a_secret() {
        let (_folder, secrets) = kept();
        let home = url("http://127.0.0.1:8000");
        secrets.set("VLLM", &home, "sk").expect("kept");
        let mode = |path: &Path| {
            let metadata = std::fs::metadata(path).expect("there");
            metadata.permissions().mode() & 0o777
        };
        let file = secrets.folder.join("VLLM");
        assert_eq!((mode(&secrets.folder), mode(&file)), (0o700, 0o600));
        std::fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("set");
        let open = secrets.key("VLLM", &home).expect_err("others can read it");
        assert!(matches!(open, SecretError::Open(_)), "{open}");
        secrets.set("VLLM", &home, "sk-2").expect("kept anew");
        assert_eq!(mode(&file), 0o600);
    }

    #[test]
    fn what_is_no_secret_is_refused_and_not_repeated() {
        let (_folder, secrets) = kept();
        let home = url("http://127.0.0.1:8000");
        for name in ["../VLLM", "vllm", "sk-live", "", "A/B", "A.part"] {
            let error = secrets.set(name, &home, "sk").expect_err(name);
            assert!(matches!(error, SecretError::Name), "{error}");
        }
        for value in ["", "a b", "a\nb", "é", &"x".repeat(MAX_VALUE + 1)] {
            let error = secrets.set("VLLM", &home, value).expect_err("refused");
            assert!(matches!(error, SecretError::Value), "{error}");
        }
        let file = secrets.set("VLLM", &url("file:///x"), "sk");
        assert!(matches!(file, Err(SecretError::Origin)));
    }
}
