//! An engine that already runs, as the form shows it: where it is, how it is spoken to and how it is reached.

use measure::study::{Connection, Endpoint};

/// An endpoint to be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndpointDraft {
    /// Base URL.
    pub url: String,
    /// The dialect's name.
    pub api: String,
    /// The model.
    pub model: String,
    /// Environment variable that holds the key; empty for none.
    pub api_key_env: String,
    /// Stored secret that holds it; empty for none.
    pub api_key_secret: String,
    /// Extra headers, one `Name: value` a line.
    pub headers: String,
    /// The certificate authority's file; empty for the system's authorities.
    pub ca_file: String,
    /// `on` where every certificate is believed.
    pub insecure: String,
    /// `on` for HTTP/2.
    pub http2: String,
    /// The proxy; empty for none.
    pub proxy: String,
    /// What it runs on, as a person knows it; empty where nobody says.
    pub hardware: String,
}

/// What stands where an engine that the studio starts has no URL yet.
const MANAGED: &str = "managed:";

impl EndpointDraft {
    /// An engine that the studio starts, by its name.
    pub fn managed(name: &str) -> Self {
        Self {
            url: format!("{MANAGED}{name}"),
            ..Self::default()
        }
    }

    /// The name of an engine that the studio starts.
    pub fn managed_name(&self) -> Option<&str> {
        self.url.strip_prefix(MANAGED)
    }

    /// How it is reached.
    pub fn connection(&self) -> Connection {
        Connection {
            ca_file: named(&self.ca_file),
            insecure: self.insecure == "on",
            http2: self.http2 == "on",
            proxy: named(&self.proxy),
        }
    }
}

/// What a field says; nothing where it is empty.
pub fn named(text: &str) -> Option<String> {
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

impl From<&Endpoint> for EndpointDraft {
    fn from(endpoint: &Endpoint) -> Self {
        let Endpoint {
            url,
            api,
            model,
            api_key_env,
            api_key_secret,
            headers,
            connection,
        } = endpoint;
        let Connection {
            ca_file,
            insecure,
            http2,
            proxy,
        } = connection;
        let switch = |on: bool| if on { "on" } else { "" }.to_owned();
        Self {
            url: url.clone(),
            api: api.name().into(),
            model: model.clone(),
            api_key_env: api_key_env.clone().unwrap_or_default(),
            api_key_secret: api_key_secret.clone().unwrap_or_default(),
            ca_file: ca_file.clone().unwrap_or_default(),
            insecure: switch(*insecure),
            http2: switch(*http2),
            proxy: proxy.clone().unwrap_or_default(),
            hardware: String::new(),
            headers: headers
                .iter()
                .map(|(name, value)| format!("{name}: {value}"))
                .collect::<Vec<_>>()
                .join("\n"),
        }
    }
}
