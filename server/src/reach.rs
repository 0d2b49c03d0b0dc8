//! How an endpoint is reached: what its connection and its key name is looked up here, and nowhere else.
//!
//! The studio calls URLs and reads files for people. A file is therefore named, never a path, and a stored secret goes
//! only where nobody in between can read it.

use std::path::Path;

use load::{Trust, Wire};
use measure::study::{Connection, Endpoint};
use url::Url;

use crate::secrets::{SecretError, Secrets};
use crate::studio::engines::base_url;

/// The folder of certificates within the data directory.
pub(crate) const CERTIFICATES: &str = "certificates";

/// Why an endpoint cannot be reached as it says.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReachError {
    #[error("{0}")]
    Url(String),
    #[error(
        "no such file {0:?}; put the authority's PEM file into {CERTIFICATES} in the studio's data directory"
    )]
    NoCaFile(String),
    #[error("must be an http:// URL, such as http://proxy.example:3128")]
    Proxy,
    #[error(transparent)]
    Secret(SecretError),
    #[error(
        "a stored secret is not sent where every certificate is believed, for whoever stands between could read it; name the authority's CA file instead"
    )]
    SecretToAnybody,
    #[error(
        "a stored secret is not sent unencrypted through a proxy, which could read it; leave the proxy out, or reach the engine at https://"
    )]
    SecretToProxy,
}

impl ReachError {
    /// The endpoint's field that is wrong.
    pub(crate) fn field(&self) -> &'static str {
        match self {
            Self::Url(_) => "url",
            Self::NoCaFile(_) => "connection.ca_file",
            Self::Proxy => "connection.proxy",
            Self::Secret(_) | Self::SecretToAnybody | Self::SecretToProxy => "api_key_secret",
        }
    }
}

/// How an endpoint of a study is reached. Reads files: not for threads that must not wait long.
pub(crate) fn wire(endpoint: &Endpoint, data_dir: &Path) -> Result<Wire, ReachError> {
    let Connection {
        ca_file,
        insecure,
        http2,
        proxy,
    } = &endpoint.connection;
    let trust = match ca_file {
        _ if *insecure => Trust::Insecure,
        Some(name) => ca(name, data_dir)?,
        None => Trust::System,
    };
    let proxy = proxy.as_deref().map(Url::parse).transpose();
    let wire = Wire {
        trust,
        http2: *http2,
        proxy: proxy.map_err(|_| ReachError::Proxy)?,
        key: None,
    };
    with_secret(wire, endpoint, data_dir)
}

/// The file of that name; nothing that is a path ever comes so far, and none is followed.
fn ca(name: &str, data_dir: &Path) -> Result<Trust, ReachError> {
    let path = data_dir.join(CERTIFICATES).join(name);
    let is_name = Path::new(name).file_name().is_some_and(|it| it == name);
    if is_name && path.is_file() {
        Ok(Trust::CaFile(path))
    } else {
        Err(ReachError::NoCaFile(name.to_owned()))
    }
}

/// Adds the key, where the endpoint names a stored one and it can be read by nobody on its way.
pub(crate) fn with_secret(
    mut wire: Wire,
    endpoint: &Endpoint,
    data_dir: &Path,
) -> Result<Wire, ReachError> {
    let Some(name) = &endpoint.api_key_secret else {
        return Ok(wire);
    };
    let url = base_url(&endpoint.url).map_err(ReachError::Url)?;
    if wire.trust == Trust::Insecure {
        return Err(ReachError::SecretToAnybody);
    }
    if wire.proxy.is_some() && url.scheme() == "http" {
        return Err(ReachError::SecretToProxy);
    }
    let key = Secrets::of(data_dir).key(name, &url);
    wire.key = Some(key.map_err(ReachError::Secret)?);
    Ok(wire)
}

#[cfg(test)]
mod tests {
    use load::Key;
    use measure::study::Api;

    use super::*;

    const HOME: &str = "https://engine.example/v1";

    /// A data directory with one certificate and one secret, and a file that is nobody's business.
    fn data_dir() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let certificates = folder.path().join(CERTIFICATES);
        std::fs::create_dir(&certificates).expect("made");
        std::fs::write(certificates.join("ours.pem"), "").expect("written");
        std::fs::write(folder.path().join("goodput.db"), "").expect("written");
        let home = HOME.parse().expect("a URL");
        let kept = Secrets::of(folder.path()).set("VLLM", &home, "sk-VALUE");
        kept.expect("kept");
        folder
    }

    fn endpoint(url: &str, connection: &str, secret: bool) -> Endpoint {
        Endpoint {
            connection: serde_json::from_str(connection).expect("a connection"),
            api_key_secret: secret.then(|| "VLLM".to_owned()),
            ..Endpoint::new(url, Api::OpenAiChat, "m")
        }
    }

    #[test]
    fn what_is_named_is_found() {
        let folder = data_dir();
        let asked = endpoint(
            HOME,
            r#"{"ca_file": "ours.pem", "http2": true, "proxy": "http://proxy:3128"}"#,
            true,
        );
        let wire = wire(&asked, folder.path()).expect("reachable");
        let ours = folder.path().join(CERTIFICATES).join("ours.pem");
        assert_eq!(wire.trust, Trust::CaFile(ours));
        assert!(wire.http2 && wire.proxy.is_some());
        assert_eq!(wire.key, Some(Key::new("sk-VALUE")));
        assert!(!format!("{wire:?}").contains("VALUE"));
    }

    #[track_caller]
    fn refused(endpoint: &Endpoint, field: &str, mend: &str) {
        let folder = data_dir();
        let error = wire(endpoint, folder.path())
            .map(drop)
            .expect_err("refused");
        let text = format!("{error} {error:?}");
        assert_eq!(error.field(), field, "{text}");
        assert!(text.contains(mend) && !text.contains("VALUE"), "{text}");
    }

    #[test]
    fn only_files_of_the_folder_are_read() {
        for file in ["other.pem", "../goodput.db", "/etc/hostname", "..", "."] {
            let connection = format!(r#"{{"ca_file": "{file}"}}"#);
            let asked = endpoint(HOME, &connection, false);
            refused(&asked, "connection.ca_file", CERTIFICATES);
        }
    }

    #[test]
    fn a_secret_goes_where_nobody_between_reads_it() {
        let plain = "http://engine.example/v1";
        for (url, connection, mend) in [
            (HOME, r#"{"insecure": true}"#, "CA file instead"),
            (plain, r#"{"proxy": "http://proxy:3128"}"#, "https://"),
            (plain, "{}", "kept for https://engine.example"),
        ] {
            refused(&endpoint(url, connection, true), "api_key_secret", mend);
        }
    }
}
