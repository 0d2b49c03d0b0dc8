//! A client for one endpoint.

use std::time::Duration;

use bytes::Bytes;
use measure::study::{Api, Endpoint, is_variable_name};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Request};
use tokio::runtime::{Builder, Runtime};
use url::Url;

use crate::address::{self, AddressError};
use crate::{connection, dialect};

/// How patient a client is, and what it keeps.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// A stream silent for so long has failed.
    pub idle_timeout: Duration,
    /// A connection not open after this has failed.
    pub connect_timeout: Duration,
    /// Keep answers and thinking in the records.
    pub keep_text: bool,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            idle_timeout: Duration::from_secs(120),
            connect_timeout: Duration::from_secs(10),
            keep_text: false,
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
    /// A header, or the API key as a header.
    #[error("the header {name:?} cannot be sent; use visible ASCII")]
    Header {
        /// The header.
        name: String,
    },
    /// The HTTP client.
    #[error("the HTTP client could not be made")]
    Client(#[source] reqwest::Error),
    /// The threads that make the load.
    #[error("the load threads could not be started")]
    Runtime(#[source] std::io::Error),
}

/// A variable in words. A text that is hardly one may be the key itself, which nothing repeats.
pub(crate) fn variable(name: &str) -> String {
    if is_variable_name(name) {
        format!("the environment variable {name}")
    } else {
        "the environment variable".to_owned()
    }
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
    pub(crate) http: reqwest::Client,
    pub(crate) api: Api,
    pub(crate) options: EngineOptions,
    requests: Requests,
    /// Load has a runtime of its own, so that nothing else delays its reads. `Some` until it is dropped.
    runtime: Option<Runtime>,
}

impl Engine {
    /// A client for an endpoint. Looks the host up once (refusing link-local and metadata addresses), reads the API key
    /// from the environment variable that the endpoint names, opens no connection yet.
    pub fn connect(endpoint: &Endpoint, options: EngineOptions) -> Result<Self, EngineError> {
        raise_file_limit();
        let route = dialect::route(endpoint.api, &endpoint.model);
        let route = address::under(&endpoint.url, &route).map_err(EngineError::Address)?;
        let light = dialect::light_route(endpoint.api);
        let light = address::under(&endpoint.url, light).map_err(EngineError::Address)?;
        let addresses = address::resolve(&route).map_err(EngineError::Address)?;
        let host = route.host_str().unwrap_or_default();
        let http = connection::client(host, &addresses, options.connect_timeout)
            .map_err(EngineError::Client)?;
        let headers = headers(endpoint)?;
        let runtime = Some(runtime().map_err(EngineError::Runtime)?);
        let requests = Requests {
            route,
            light,
            headers,
        };
        Ok(Self {
            http,
            api: endpoint.api,
            options,
            requests,
            runtime,
        })
    }

    pub(crate) fn handle(&self) -> Option<&tokio::runtime::Handle> {
        self.runtime.as_ref().map(Runtime::handle)
    }

    pub(crate) fn requests(&self) -> Requests {
        self.requests.clone()
    }
}

/// Makes requests for one endpoint.
#[derive(Clone)]
pub(crate) struct Requests {
    /// Where load goes.
    route: Url,
    /// Where connections are opened before the clock starts.
    light: Url,
    headers: HeaderMap,
}

impl Requests {
    /// The request for a body, made before its moment comes.
    pub(crate) fn request(&self, request_id: &str, body: Bytes) -> Request {
        let mut request = Request::new(Method::POST, self.route.clone());
        *request.headers_mut() = self.headers.clone();
        request
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Ok(id) = HeaderValue::from_str(request_id) {
            request.headers_mut().insert("x-request-id", id);
        }
        *request.body_mut() = Some(body.into());
        request
    }

    /// A request that costs an engine nothing.
    pub(crate) fn light(&self) -> Request {
        let mut request = Request::new(Method::GET, self.light.clone());
        *request.headers_mut() = self.headers.clone();
        request
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Waiting is not allowed where an engine may be dropped: inside another runtime.
            runtime.shutdown_background();
        }
    }
}

fn runtime() -> std::io::Result<Runtime> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Builder::new_multi_thread()
        .worker_threads(cores.min(8))
        .thread_name("goodput-load")
        .enable_all()
        .build()
}

/// The endpoint's own headers and its API key.
pub(crate) fn headers(endpoint: &Endpoint) -> Result<HeaderMap, EngineError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &endpoint.headers {
        let refuse = || EngineError::Header { name: name.clone() };
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refuse())?;
        headers.insert(key, HeaderValue::from_str(value).map_err(|_| refuse())?);
    }
    if let Some(name) = &endpoint.api_key_env {
        let key = std::env::var(name).ok().filter(|key| !key.is_empty());
        let key = key.ok_or_else(|| EngineError::NoKey { name: name.clone() })?;
        let bearer = HeaderValue::from_str(&format!("Bearer {}", key.trim()));
        let mut bearer = bearer.map_err(|_| EngineError::Header {
            name: "authorization".into(),
        })?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
    }
    Ok(headers)
}

/// Lifts the soft limit of open files to the hard one: each stream in flight needs a file.
fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        // Where even that is not allowed the old limit stands; points check it against their streams.
        let _ = setrlimit(
            Resource::Nofile,
            Rlimit {
                current: maximum,
                maximum,
            },
        );
    }
}

/// How many files may be open at once.
pub(crate) fn file_limit() -> u64 {
    rustix::process::getrlimit(rustix::process::Resource::Nofile)
        .current
        .unwrap_or(u64::MAX)
}
