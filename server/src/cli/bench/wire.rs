//! The options that say how the engine is reached.

use std::path::PathBuf;

use clap::Args;
use load::{Trust, Wire};
use url::Url;

#[derive(Args, Debug)]
pub(super) struct WireArgs {
    /// PEM file of a certificate authority to believe beside the system's
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    ca_file: Option<PathBuf>,
    /// Believe every certificate: whoever stands between can read the API key
    #[arg(long)]
    insecure: bool,
    /// Speak HTTP/2, and nothing else; times of arrival are then not the kernel's
    #[arg(long)]
    http2: bool,
    /// HTTP proxy to go through; nothing in the environment is followed
    #[arg(long, value_name = "URL", value_parser = proxy)]
    proxy: Option<Url>,
}

impl WireArgs {
    pub(super) fn wire(&self) -> Wire {
        let trust = match (&self.ca_file, self.insecure) {
            (_, true) => Trust::Insecure,
            (Some(file), _) => Trust::CaFile(file.clone()),
            (None, _) => Trust::System,
        };
        Wire {
            trust,
            http2: self.http2,
            proxy: self.proxy.clone(),
            key: None,
        }
    }
}

fn proxy(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(|url| url.scheme() == "http");
    url.ok_or_else(|| "must be an http:// URL, as http://127.0.0.1:3128".into())
}

/// A header as it is given: `Name: value`.
pub(super) fn parse_header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("write it as 'Name: value'")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_an_http_url() {
        assert!(proxy("http://127.0.0.1:3128").is_ok());
        for wrong in ["127.0.0.1:3128", "socks5://127.0.0.1", "https://p", ""] {
            assert!(proxy(wrong).is_err(), "{wrong}");
        }
    }
}
