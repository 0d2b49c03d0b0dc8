//! Where a metrics page is, and what comes from there: within two seconds, of bounded size, on a connection of its own.

use std::time::{Duration, Instant};

use http::HeaderValue;
use http::header::{ACCEPT, HeaderMap};
use measure::study::Endpoint;
use reqwest::{Client, Method, Request};
use url::Url;

use crate::address::{self, AddressError};
use crate::client;
use crate::engine::{self, EngineError, Wire};

/// A page that is not there by then is missed; the next look has its own time.
const LIMIT: Duration = Duration::from_secs(2);
/// Most bytes of a page.
const MOST_BYTES: usize = 4 << 20;
/// What is asked for: the text that every exporter writes.
const TEXT: HeaderValue = HeaderValue::from_static("text/plain;version=0.0.4;q=1,*/*;q=0.1");

/// A metrics page.
#[derive(Clone, Debug)]
pub(super) struct Address {
    http: Client,
    url: Url,
    headers: HeaderMap,
}

/// A page as it came.
pub(super) struct Got {
    pub text: String,
    /// Half-way between asking and getting it.
    pub at: Instant,
    pub took: Duration,
}

/// Why a page was not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unread {
    #[error("status {0}")]
    Status(u16),
    #[error("no answer within {} s", LIMIT.as_secs())]
    Slow,
    #[error("more than {} MiB", MOST_BYTES >> 20)]
    Large,
    #[error("{0}")]
    Broken(String),
}

impl Address {
    /// An engine's, with its own headers and key. Looks the host up on a thread that may block.
    pub async fn of_engine(endpoint: &Endpoint, wire: &Wire) -> Result<Self, EngineError> {
        let (endpoint, wire) = (endpoint.clone(), wire.clone());
        let made = tokio::task::spawn_blocking(move || {
            let headers = engine::headers(&endpoint, &wire)?;
            let url = address::under(&endpoint.url, "metrics").map_err(EngineError::Address)?;
            Self::new(url, headers, &wire)
        });
        let made = made.await;
        made.unwrap_or_else(|lost| Err(EngineError::Runtime(lost.into())))
    }

    /// An exporter's.
    pub async fn of_exporter(url: Url) -> Result<Self, EngineError> {
        let made =
            tokio::task::spawn_blocking(move || Self::new(url, HeaderMap::new(), &Wire::default()));
        let made = made.await;
        made.unwrap_or_else(|lost| Err(EngineError::Runtime(lost.into())))
    }

    fn new(url: Url, mut headers: HeaderMap, wire: &Wire) -> Result<Self, EngineError> {
        let addresses = address::resolve(&url).map_err(EngineError::Address)?;
        let host = url.host_str().unwrap_or_default();
        let http = client::new(host, &addresses, LIMIT, wire)?;
        headers.insert(ACCEPT, TEXT);
        Ok(Self { http, url, headers })
    }

    /// The same engine's page at another path.
    pub fn at(&self, base: &str, path: &str) -> Result<Self, AddressError> {
        Ok(Self {
            url: address::under(base, path)?,
            ..self.clone()
        })
    }

    /// Reads the page once.
    pub async fn get(&self) -> Result<Got, Unread> {
        let asked = Instant::now();
        let text = tokio::time::timeout(LIMIT, self.text()).await;
        let text = text.map_err(|_| Unread::Slow)??;
        let took = asked.elapsed();
        Ok(Got {
            text,
            at: asked + took / 2,
            took,
        })
    }

    async fn text(&self) -> Result<String, Unread> {
        let broken = |error: reqwest::Error| Unread::Broken(client::chain(&error));
        let mut request = Request::new(Method::GET, self.url.clone());
        request.headers_mut().clone_from(&self.headers);
        let mut response = self.http.execute(request).await.map_err(broken)?;
        if !response.status().is_success() {
            return Err(Unread::Status(response.status().as_u16()));
        }
        let mut body = Vec::new();
        while let Some(bytes) = response.chunk().await.map_err(broken)? {
            if MOST_BYTES < body.len() + bytes.len() {
                return Err(Unread::Large);
            }
            body.extend_from_slice(&bytes);
        }
        Ok(String::from_utf8_lossy(&body).into_owned())
    }
}
