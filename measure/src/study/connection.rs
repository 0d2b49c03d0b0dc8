//! How an engine is reached, where that is not as usual: whose certificates are believed, HTTP/2, a proxy.
//!
//! A study is stored and shown, so that it names a file and never holds one, and a proxy's name and password stay out.

use std::ops::Not;

use serde::{Deserialize, Serialize};

use super::FieldError;

/// Longest name of a file or of a proxy.
const MAX_NAME: usize = 200;

/// How an engine is reached. As usual: the system's authorities are believed, HTTP/1.1 is spoken, nothing stands between.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Connection {
    /// A PEM file, in the server's folder of certificates, of an authority to believe beside the system's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<String>,
    /// Every certificate is believed. What was measured so says so.
    #[serde(skip_serializing_if = "Not::not")]
    pub insecure: bool,
    /// HTTP/2, and nothing else.
    #[serde(skip_serializing_if = "Not::not")]
    pub http2: bool,
    /// An HTTP proxy: `http://proxy.example:3128`, without name and password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
}

impl Connection {
    /// How [`Connection::words`] say that every certificate was believed.
    pub const UNCHECKED: &str = "no certificate checked";

    /// Nothing of it is out of the ordinary.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// What of it is out of the ordinary, in words that lead nowhere; empty where nothing is.
    pub fn words(&self) -> String {
        let Self {
            ca_file,
            insecure,
            http2,
            proxy,
        } = self;
        let words = [
            insecure.then_some(Self::UNCHECKED),
            ca_file.as_ref().map(|_| "own authority"),
            http2.then_some("HTTP/2"),
            proxy.as_ref().map(|_| "through a proxy"),
        ];
        words.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Its mistakes at an engine of this URL, one for each field. No text is repeated: it may hold a credential.
    pub(super) fn check(&self, url: &str) -> Vec<FieldError> {
        let plain = url.trim().starts_with("http://");
        let found = [
            ("ca_file", self.ca_file_problem(plain)),
            (
                "insecure",
                (plain && self.insecure).then_some(NO_CERTIFICATE),
            ),
            ("proxy", self.proxy.as_deref().and_then(proxy_problem)),
        ];
        let errors = found.into_iter().filter_map(|(field, problem)| {
            Some(FieldError {
                field: format!("connection.{field}"),
                message: problem?.to_owned(),
            })
        });
        errors.collect()
    }

    fn ca_file_problem(&self, plain: bool) -> Option<&'static str> {
        let file = self.ca_file.as_deref()?;
        let is_name = !file.is_empty()
            && file.len() <= MAX_NAME
            && !file.starts_with('.')
            && file.chars().all(|c| is_plain(c) || c == ' ');
        if !is_name {
            return Some(
                "name a PEM file in the folder certificates of the studio's data directory, without a path",
            );
        }
        if self.insecure {
            return Some("where every certificate is believed no authority counts: leave one out");
        }
        plain.then_some(NO_CERTIFICATE)
    }
}

const NO_CERTIFICATE: &str =
    "an engine at http:// has no certificate; write https://, or leave this out";

/// What is wrong with a proxy's URL.
fn proxy_problem(text: &str) -> Option<&'static str> {
    let Some(rest) = text.strip_prefix("http://") else {
        return Some("must be an http:// URL, such as http://proxy.example:3128");
    };
    if rest.contains('@') {
        return Some("must not carry a name or password: studies are stored and shown");
    }
    let host = rest.strip_suffix('/').unwrap_or(rest);
    let is_host = !host.is_empty()
        && host.len() <= MAX_NAME
        && host
            .chars()
            .all(|c| is_plain(c) || matches!(c, ':' | '[' | ']'));
    (!is_host).then_some(
        "must name a host and a port and nothing else, such as http://proxy.example:3128",
    )
}

/// What names of files and hosts are made of.
fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '-' | '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> Connection {
        serde_json::from_str(json).expect("a connection")
    }

    #[track_caller]
    fn refused(json: &str, url: &str, field: &str, mend: &str) {
        let found = of(json).check(url);
        assert_eq!(found.len(), 1, "{json}: {found:?}");
        assert_eq!(found[0].field, format!("connection.{field}"), "{json}");
        let message = &found[0].message;
        assert!(
            message.contains(mend) && !message.contains("SECRET"),
            "{message}"
        );
    }

    #[test]
    fn each_mistake_is_one_error_at_its_field() {
        let url = "https://engine.example";
        for file in [
            "",
            "/etc/passwd",
            "../ca.pem",
            "a/b.pem",
            ".pem",
            "a\\nb",
            "a\\\\b",
        ] {
            let json = format!(r#"{{"ca_file": "{file}"}}"#);
            refused(&json, url, "ca_file", "without a path");
        }
        refused(
            r#"{"ca_file": "a.pem", "insecure": true}"#,
            url,
            "ca_file",
            "leave one out",
        );
        let plain = "http://engine.example";
        refused(r#"{"ca_file": "a.pem"}"#, plain, "ca_file", "https://");
        refused(r#"{"insecure": true}"#, plain, "insecure", "https://");
        for (proxy, mend) in [
            ("proxy:3128", "http:// URL"),
            ("https://proxy:3128", "http:// URL"),
            ("socks5://proxy:3128", "http:// URL"),
            ("http://me:SECRET@proxy:3128", "name or password"),
            ("http://", "host and a port"),
            ("http://proxy:3128/SECRET", "host and a port"),
            ("http://proxy:3128?x", "host and a port"),
            ("http://pro xy", "host and a port"),
        ] {
            refused(&format!(r#"{{"proxy": "{proxy}"}}"#), url, "proxy", mend);
        }
    }

    #[test]
    fn what_can_be_used_is_taken() {
        for (json, url) in [
            ("{}", "http://x"),
            (r#"{"ca_file": "our ca-2.pem", "http2": true}"#, "https://x"),
            (
                r#"{"insecure": true, "proxy": "http://[::1]:3128/"}"#,
                "https://x",
            ),
            (
                r#"{"http2": true, "proxy": "http://proxy:3128"}"#,
                "http://x",
            ),
        ] {
            assert_eq!(of(json).check(url), [], "{json}");
        }
    }

    #[test]
    fn only_what_is_out_of_the_ordinary_is_stored() {
        for json in [
            "{}",
            r#"{"insecure":true}"#,
            r#"{"ca_file":"a","http2":true,"proxy":"http://p"}"#,
        ] {
            assert_eq!(serde_json::to_string(&of(json)).expect("json"), json);
        }
        assert!(serde_json::from_str::<Connection>(r#"{"speed": 1}"#).is_err());
    }
}
