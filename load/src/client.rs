//! HTTP for everything beside the load (probes, resets): nothing retried, redirected or proxied.

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

/// An HTTP client for one host, pinned to addresses that were checked before.
pub(crate) fn new(
    host: &str,
    addresses: &[SocketAddr],
    connect_timeout: Duration,
) -> reqwest::Result<reqwest::Client> {
    // Fails when a provider is installed already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .user_agent(concat!("goodput-studio/", env!("CARGO_PKG_VERSION")))
        .retry(reqwest::retry::never())
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .http1_only()
        .tcp_nodelay(true)
        .connect_timeout(connect_timeout)
        .resolve_to_addrs(host, addresses)
        .build()
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
