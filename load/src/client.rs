//! HTTP for everything beside the load (probes, resets): nothing retried, redirected or proxied.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use crate::address;
use crate::engine::{EngineError, Wire};
use crate::tls;

/// An HTTP client for one host, pinned to addresses that were checked before.
pub(crate) fn new(
    host: &str,
    addresses: &[SocketAddr],
    connect_timeout: Duration,
    wire: &Wire,
) -> Result<reqwest::Client, EngineError> {
    let protocol: &[u8] = if wire.http2 { b"h2" } else { b"http/1.1" };
    let tls = tls::config(&wire.trust, &[protocol]).map_err(EngineError::Tls)?;
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(Arc::unwrap_or_clone(tls))
        .user_agent(concat!("goodput-studio/", env!("CARGO_PKG_VERSION")))
        .retry(reqwest::retry::never())
        .redirect(reqwest::redirect::Policy::none())
        .tcp_nodelay(true)
        .connect_timeout(connect_timeout)
        .resolve_to_addrs(host, addresses);
    let client = if wire.http2 {
        client.http2_prior_knowledge()
    } else {
        client.http1_only()
    };
    let client = match &wire.proxy {
        None => client.no_proxy(),
        Some(proxy) => through(client, proxy)?,
    };
    client.build().map_err(EngineError::Client)
}

/// Goes through a proxy, at the addresses that it has now and that load may go to.
fn through(
    client: reqwest::ClientBuilder,
    proxy: &Url,
) -> Result<reqwest::ClientBuilder, EngineError> {
    let addresses = address::resolve(proxy).map_err(EngineError::Proxy)?;
    let host = proxy.host_str().unwrap_or_default();
    let proxy = reqwest::Proxy::all(proxy.as_str()).map_err(EngineError::Client)?;
    Ok(client.proxy(proxy).resolve_to_addrs(host, &addresses))
}

/// Whether the other side's certificate was not believed.
pub(crate) fn is_untrusted(error: &reqwest::Error) -> bool {
    causes(error).any(is_bad_certificate)
}

/// I/O errors hide what they were made of, one within the other.
fn is_bad_certificate(cause: &(dyn Error + 'static)) -> bool {
    if let Some(broken) = cause.downcast_ref::<io::Error>() {
        return broken
            .get_ref()
            .is_some_and(|cause| is_bad_certificate(cause));
    }
    matches!(
        cause.downcast_ref(),
        Some(rustls::Error::InvalidCertificate(_))
    )
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
