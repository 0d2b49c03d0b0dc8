//! A client for one endpoint.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use measure::study::{Endpoint, is_variable_name};
use std::sync::Arc;

use http::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use http::{Method, Request};
use http_body_util::Full;
use rustls::pki_types::ServerName;
use url::Url;

use crate::address::{self, AddressError};
use crate::connect::Target;
use crate::dialect;
use crate::exchange::Habits;
use crate::limits::{self, Room};
use crate::shard::{self, Shard};
use crate::tls::{self, TlsError, Trust};

/// An API key. Nothing prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key, as it is sent.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

/// How an engine is reached: everything but where it is.
#[derive(Clone, Debug, Default)]
pub struct Wire {
    /// Whose certificates are believed.
    pub trust: Trust,
    /// HTTP/2, and nothing else; moments are then those of our own reading alone.
    pub http2: bool,
    /// An HTTP proxy: a tunnel to an encrypted engine, a forwarder to another.
    pub proxy: Option<Url>,
    /// The API key, where the endpoint names a stored secret: whoever keeps secrets decides who gets one.
    pub key: Option<Key>,
}

/// How patient a client is, and what it keeps.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// A stream silent for so long has failed.
    pub idle_timeout: Duration,
    /// A connection not open after this has failed.
    pub connect_timeout: Duration,
    /// Keep answers and thinking in the records.
    pub keep_text: bool,
    /// How the engine is reached.
    pub wire: Wire,
    /// Take the time of arrival from the kernel, where it offers it.
    pub kernel_time: bool,
    /// The engine runs in this very process, so that a connection takes two of its files.
    pub in_process: bool,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            idle_timeout: Duration::from_secs(120),
            connect_timeout: Duration::from_secs(10),
            keep_text: false,
            wire: Wire::default(),
            kernel_time: true,
            in_process: false,
        }
    }
}

/// Why there is no client for an endpoint.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Its URL.
    #[error(transparent)]
    Address(AddressError),
    /// Its API key.
    #[error("{} that should hold the engine's API key is not set; {mend}", variable(name), mend = no_key_mend(name))]
    NoKey {
        /// The variable, as it was given.
        name: String,
    },
    /// Its API key, which the endpoint wants from a store.
    #[error("the stored secret that should hold the engine's API key was not given")]
    NoSecret,
    /// The proxy's URL or address.
    #[error("the proxy cannot be used: {0}")]
    Proxy(AddressError),
    /// A header, or the API key as a header.
    #[error("the header {name:?} cannot be sent; use visible ASCII")]
    Header {
        /// The header.
        name: String,
    },
    /// The settings of encrypted connections.
    #[error(transparent)]
    Tls(TlsError),
    /// The HTTP client of the probe.
    #[error("the HTTP client could not be made")]
    Client(#[source] reqwest::Error),
    /// The threads that make the load.
    #[error("the load threads could not be started")]
    Runtime(#[source] std::io::Error),
}

/// A variable in words. A text that is hardly one may be the key itself, which nothing repeats.
fn variable(name: &str) -> String {
    if is_variable_name(name) {
        format!("the environment variable {name}")
    } else {
        "the environment variable".to_owned()
    }
}

/// Where an endpoint's API key comes from, in words; `None` without one.
pub(crate) fn key_source(endpoint: &Endpoint) -> Option<String> {
    let secret = endpoint.api_key_secret.as_deref();
    let secret = secret.map(|name| {
        if is_variable_name(name) {
            format!("the stored secret {name}")
        } else {
            "the stored secret".to_owned()
        }
    });
    secret.or_else(|| endpoint.api_key_env.as_deref().map(variable))
}

fn no_key_mend(name: &str) -> &'static str {
    if is_variable_name(name) {
        "set it and start goodput again"
    } else {
        "name it as it is set, such as VLLM_API_KEY; never write the key itself"
    }
}

/// A client for one endpoint, with threads of its own. Connections live as long as it does.
pub struct Engine {
    pub(crate) habits: Habits,
    pub(crate) shards: Arc<[Shard]>,
    pub(crate) calls: Calls,
    /// Where connections lead.
    pub(crate) addresses: Arc<[SocketAddr]>,
    /// Files that a connection takes.
    pub(crate) files_each: u64,
}

impl Engine {
    /// A client for an endpoint. Looks the host up once (refusing link-local and metadata addresses), reads the API key
    /// from the environment variable that the endpoint names, opens no connection yet.
    pub fn connect(endpoint: &Endpoint, options: EngineOptions) -> Result<Self, EngineError> {
        limits::raise_file_limit();
        let route = dialect::route(endpoint.api, &endpoint.model);
        let route = address::under(&endpoint.url, &route).map_err(EngineError::Address)?;
        let target = target(&route, &options)?;
        let headers = headers(endpoint, &options.wire)?;
        let calls = Calls::new(&route, &options.wire, headers);
        let shards = shard::start_all(&target).map_err(EngineError::Runtime)?;
        let habits = Habits {
            api: endpoint.api,
            keep_text: options.keep_text,
            idle_timeout: options.idle_timeout,
        };
        Ok(Self {
            habits,
            shards,
            calls,
            addresses: target.addresses.into(),
            files_each: limits::files_each(options.in_process),
        })
    }
}

/// Where connections lead. The engine's own addresses are checked even where a proxy stands before them.
fn target(route: &Url, options: &EngineOptions) -> Result<Target, EngineError> {
    let wire = &options.wire;
    let mut addresses = address::resolve(route).map_err(EngineError::Address)?;
    if let Some(proxy) = &wire.proxy {
        addresses = address::resolve(proxy).map_err(EngineError::Proxy)?;
    }
    let encrypted = route.scheme() == "https";
    let tls = if encrypted {
        Some(encryption(route, wire)?)
    } else {
        None
    };
    let port = route.port_or_known_default().unwrap_or(443);
    let tunnel = wire.proxy.as_ref().filter(|_| encrypted);
    Ok(Target {
        addresses,
        tls,
        tunnel: tunnel.map(|_| format!("{}:{port}", route.host_str().unwrap_or_default())),
        http2: wire.http2,
        connect_timeout: options.connect_timeout,
        kernel_time: options.kernel_time,
        breaks_off: Arc::default(),
        room: options.in_process.then(|| Arc::new(Room::new())),
    })
}

fn encryption(
    route: &Url,
    wire: &Wire,
) -> Result<(Arc<rustls::ClientConfig>, ServerName<'static>), EngineError> {
    let protocol: &[u8] = if wire.http2 { b"h2" } else { b"http/1.1" };
    let config = tls::config(&wire.trust, &[protocol]).map_err(EngineError::Tls)?;
    let host = route.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let server = ServerName::try_from(host.to_owned());
    let server = server.map_err(|_| EngineError::Header {
        name: "host".into(),
    })?;
    Ok((config, server))
}

/// Makes requests for one endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Calls {
    /// Where load goes: path and query, or all of it for a proxy and in HTTP/2.
    uri: String,
    headers: HeaderMap,
    pub(crate) http2: bool,
}

/// A request, ready to be sent.
pub(crate) enum Call {
    /// As HTTP/1.1 has it on the wire.
    Bytes(Vec<u8>),
    /// For HTTP/2.
    Http(Box<Request<Full<Bytes>>>),
}

impl Calls {
    fn new(route: &Url, wire: &Wire, mut headers: HeaderMap) -> Self {
        // A forwarding proxy and HTTP/2 are told the whole URL.
        let forwarded = wire.proxy.is_some() && route.scheme() == "http";
        let from = if forwarded || wire.http2 {
            url::Position::BeforeScheme
        } else {
            url::Position::BeforePath
        };
        let host = &route[url::Position::BeforeHost..url::Position::AfterPort];
        let fixed = [
            (HOST, if wire.http2 { "" } else { host }),
            (ACCEPT, "*/*"),
            (CONTENT_TYPE, "application/json"),
            (
                USER_AGENT,
                concat!("goodput-studio/", env!("CARGO_PKG_VERSION")),
            ),
        ];
        for (name, value) in fixed {
            if let (false, Ok(value)) = (value.is_empty(), HeaderValue::from_str(value)) {
                headers.entry(name).or_insert(value);
            }
        }
        Self {
            uri: route[from..url::Position::AfterQuery].to_owned(),
            headers,
            http2: wire.http2,
        }
    }

    /// The request for a body, made before its moment comes.
    pub(crate) fn call(&self, request_id: &str, body: Bytes) -> Call {
        let mut headers = self.headers.clone();
        if let Ok(id) = HeaderValue::from_str(request_id) {
            headers.insert("x-request-id", id);
        }
        if !self.http2 {
            return Call::Bytes(self.bytes(&headers, &body));
        }
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri.parse().unwrap_or_default();
        *request.headers_mut() = headers;
        Call::Http(Box::new(request))
    }

    /// Head and body in one piece: they leave in one write, so that no engine sees the one without the other.
    fn bytes(&self, headers: &HeaderMap, body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(512 + body.len());
        bytes.extend_from_slice(format!("POST {} HTTP/1.1\r\n", self.uri).as_bytes());
        for (name, value) in headers {
            for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
                bytes.extend_from_slice(part);
            }
        }
        bytes.extend_from_slice(format!("content-length: {}\r\n\r\n", body.len()).as_bytes());
        bytes.extend_from_slice(body);
        bytes
    }
}

/// The endpoint's own headers and its API key.
pub(crate) fn headers(endpoint: &Endpoint, wire: &Wire) -> Result<HeaderMap, EngineError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &endpoint.headers {
        let refuse = || EngineError::Header { name: name.clone() };
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refuse())?;
        headers.insert(key, HeaderValue::from_str(value).map_err(|_| refuse())?);
    }
    if let Some(Key(key)) = key(endpoint, wire)? {
        let (header, value) = dialect::key_header(&endpoint.url, key.trim());
        let mut value = HeaderValue::from_str(&value).map_err(|_| EngineError::Header {
            name: "authorization".into(),
        })?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}

/// The API key: the one given where the endpoint names a stored secret, else the one in its variable.
fn key(endpoint: &Endpoint, wire: &Wire) -> Result<Option<Key>, EngineError> {
    if endpoint.api_key_secret.is_some() {
        return wire.key.clone().map(Some).ok_or(EngineError::NoSecret);
    }
    let Some(name) = &endpoint.api_key_env else {
        return Ok(None);
    };
    let key = std::env::var(name).ok().filter(|key| !key.is_empty());
    key.map(|key| Some(Key(key)))
        .ok_or_else(|| EngineError::NoKey { name: name.clone() })
}
