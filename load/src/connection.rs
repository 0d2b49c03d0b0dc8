//! HTTP as the measurement needs it: nothing retried, redirected, proxied or compressed, and new connections noticed.

use std::cell::Cell;
use std::error::Error;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::Notify;
use tower::{Layer, Service};

use crate::dialect::End;

tokio::task_local! {
    static WAITING: Waiting;
}

/// A request that waits for a connection.
struct Waiting {
    /// Set when one was opened for it.
    opened: Cell<bool>,
    /// Holds new connections back until all are open.
    gate: Option<Arc<Gate>>,
}

/// Lets connections through once all those that are to be opened have been.
///
/// Without it the first of them would answer and be used again before the last is opened, and a thousand requests at
/// once would find a third of the connections they need.
pub(crate) struct Gate {
    missing: AtomicUsize,
    open: Notify,
    patience: Duration,
}

impl Gate {
    pub(crate) fn new(count: usize, patience: Duration) -> Arc<Self> {
        let (missing, open) = (AtomicUsize::new(count), Notify::new());
        Arc::new(Self {
            missing,
            open,
            patience,
        })
    }

    /// Counts one in; whether all are there.
    fn arrive(&self) -> bool {
        let last = self.missing.fetch_sub(1, Relaxed) == 1;
        if last {
            self.open.notify_waiters();
        }
        last
    }

    async fn pass(&self) {
        let opened = self.open.notified();
        if !self.arrive() {
            // One that never comes must not hold the others for ever.
            let _ = tokio::time::timeout(self.patience, opened).await;
        }
    }
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
    waiting(client, request, None).await
}

/// Sends a request whose connection, where a new one is needed, waits at the gate for all others.
pub(crate) async fn execute_gated(
    client: &reqwest::Client,
    request: reqwest::Request,
    gate: Arc<Gate>,
) -> reqwest::Result<reqwest::Response> {
    let (response, opened) = waiting(client, request, Some(Arc::clone(&gate))).await;
    if !opened {
        // It found an idle connection, or none at all: nobody needs to wait for it.
        gate.arrive();
    }
    response
}

async fn waiting(
    client: &reqwest::Client,
    request: reqwest::Request,
    gate: Option<Arc<Gate>>,
) -> (reqwest::Result<reqwest::Response>, bool) {
    let sending = async {
        let response = client.execute(request).await;
        (response, WAITING.with(|waiting| waiting.opened.get()))
    };
    let opened = Cell::new(false);
    WAITING.scope(Waiting { opened, gate }, sending).await
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

/// Notices new connections: see [`Waiting`].
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
            let connected = connecting.await?;
            // Where the request found an idle connection meanwhile, this runs in a task of its own and is nobody's.
            let gate = WAITING.try_with(|waiting| {
                waiting.opened.set(true);
                waiting.gate.clone()
            });
            if let Ok(Some(gate)) = gate {
                gate.pass().await;
            }
            Ok(connected)
        })
    }
}
