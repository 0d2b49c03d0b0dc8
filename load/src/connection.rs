//! HTTP as the measurement needs it: nothing retried, redirected, proxied or compressed, and new connections noticed.

use std::cell::Cell;
use std::error::Error;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tower::{Layer, Service};

use crate::dialect::End;

tokio::task_local! {
    /// Set when a connection was opened while the request waited for one.
    static OPENED: Cell<bool>;
}

/// Idle connections are dropped after this: a little before the five seconds after which uvicorn closes them, so that
/// no request is handed to a connection that is about to die.
const IDLE_CONNECTION: Duration = Duration::from_secs(4);

/// An HTTP client for one host, pinned to addresses that were checked before.
pub(crate) fn client(
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
        .pool_max_idle_per_host(usize::MAX)
        .pool_idle_timeout(IDLE_CONNECTION)
        .connect_timeout(connect_timeout)
        .resolve_to_addrs(host, addresses)
        .connector_layer(NoticeLayer)
        .build()
}

/// Sends a request; also says whether a connection was opened for it.
pub(crate) async fn execute(
    client: &reqwest::Client,
    request: reqwest::Request,
) -> (reqwest::Result<reqwest::Response>, bool) {
    let sending = async {
        let response = client.execute(request).await;
        (response, OPENED.with(Cell::get))
    };
    OPENED.scope(Cell::new(false), sending).await
}

/// What it means that no response came.
pub(crate) fn no_response(error: &reqwest::Error) -> End {
    let text = chain(error);
    if error.is_connect() {
        End::ConnectFailed(text)
    } else {
        End::Reset(text)
    }
}

/// What it means that a body broke off.
pub(crate) fn broken_body(error: &reqwest::Error) -> End {
    let text = chain(error);
    match io_kind(error) {
        Some(io::ErrorKind::UnexpectedEof) => End::Truncated(text),
        _ => End::Reset(text),
    }
}

fn io_kind(error: &reqwest::Error) -> Option<io::ErrorKind> {
    causes(error)
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .last()
        .map(io::Error::kind)
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

/// Notices new connections: see [`OPENED`].
#[derive(Clone)]
struct NoticeLayer;

#[derive(Clone)]
struct Notice<S>(S);

impl<S> Layer<S> for NoticeLayer {
    type Service = Notice<S>;

    fn layer(&self, inner: S) -> Notice<S> {
        Notice(inner)
    }
}

impl<S, R> Service<R> for Notice<S>
where
    S: Service<R>,
    S::Future: Send + 'static,
    S::Response: Send,
    S::Error: Send,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, to: R) -> Self::Future {
        let connecting = self.0.call(to);
        Box::pin(async move {
            let connected = connecting.await;
            // Where the request found an idle connection meanwhile, this runs in a task of its own without the flag.
            let _ = OPENED.try_with(|opened| opened.set(connected.is_ok()));
            connected
        })
    }
}
