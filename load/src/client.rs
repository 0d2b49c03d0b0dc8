//! HTTP for everything beside the load (probes, resets): nothing retried, redirected or proxied.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::{EngineError, Wire};
use crate::tls;

/// An HTTP client for one host, pinned to addresses that were checked before.
pub(crate) fn new(
    host: &str,
    addresses: &[SocketAddr],
    connect_timeout: Duration,
    wire: &Wire,
) -> Result<reqwest::Client, EngineError> {
    let tls = tls::config(&wire.trust, &[b"http/1.1"]).map_err(EngineError::Tls)?;
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(Arc::unwrap_or_clone(tls))
        .user_agent(concat!("goodput-studio/", env!("CARGO_PKG_VERSION")))
        .retry(reqwest::retry::never())
        .redirect(reqwest::redirect::Policy::none())
        .http1_only()
        .tcp_nodelay(true)
        .connect_timeout(connect_timeout)
        .resolve_to_addrs(host, addresses);
    let client = match &wire.proxy {
        None => client.no_proxy(),
        Some(proxy) => {
            client.proxy(reqwest::Proxy::all(proxy.as_str()).map_err(EngineError::Client)?)
        }
    };
    client.build().map_err(EngineError::Client)
}

/// The causes of an error in words, without the URL (its host is nobody's business in a shared study).
pub(crate) fn chain(error: &reqwest::Error) -> String {
    let causes: Vec<String> = causes(error).map(ToString::to_string).collect();
    if causes.is_empty() {
        "no response".into()
    } else {
        causes.join(": ")
    }
}

fn causes<'a>(error: &'a reqwest::Error) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(error.source(), |cause: &&'a (dyn Error + 'static)| {
        (**cause).source()
    })
}
