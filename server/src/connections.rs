//! Connections of browsers and programs. Each is bounded: in the time until it has asked something, in the time that what it sends may
//! stand still, and in what of a request's head is held; and there are only so many at once. What is being answered takes its time:
//! live events and downloads are cut by nobody.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::{ConnectInfo, Request};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_stream::StreamExt;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use tracing::{debug, warn};

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A request's head must be whole after so long; a connection that asks nothing is closed after it.
    pub head: Duration,
    /// So long may a body stand still before it is given up.
    pub body: Duration,
    /// About so many bytes of a head, and of what is on its way out, are held for one connection.
    pub held: usize,
    /// Connections at once; further ones wait until one of them ends.
    pub most: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(30),
            body: Duration::from_secs(60),
            held: 64 * 1024,
            most: 1024,
        }
    }
}

/// After a listener failed for want of files, the next try waits.
const NO_FILES: Duration = Duration::from_secs(1);

/// Serves until `stop`; then what is under way is answered, and nothing else. Dropped, it cuts all connections.
pub async fn serve(listener: TcpListener, app: Router, limits: Limits, stop: CancellationToken) {
    let mut open = JoinSet::new();
    loop {
        while open.try_join_next().is_some() {}
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            Some(_) = open.join_next(), if limits.most <= open.len() => continue,
            accepted = listener.accept(), if open.len() < limits.most => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                open.spawn(answer(stream, peer, app.clone(), limits, stop.clone()));
            }
            Err(cause) => rest(&cause).await,
        }
    }
    while open.join_next().await.is_some() {}
}

/// Whoever hung up before they were let in is nobody's fault; files may be there again after a while.
async fn rest(cause: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if !matches!(
        cause.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    ) {
        warn!(%cause, "no connection can be accepted; raise the limit of open files (ulimit -n) if it is that");
        tokio::time::sleep(NO_FILES).await;
    }
}

/// Answers what comes over one connection.
async fn answer(
    stream: TcpStream,
    peer: SocketAddr,
    app: Router,
    limits: Limits,
    stop: CancellationToken,
) {
    // Live events are small and must not wait for each other.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let request = request.map(|body| bounded(body, limits.body));
        one(app.clone(), peer, request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_buf_size(limits.held)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let mut asked = pin!(stop.cancelled());
    let mut is_ending = false;
    let ended = poll_fn(|cx| {
        if !is_ending && asked.as_mut().poll(cx).is_ready() {
            is_ending = true;
            connection.as_mut().graceful_shutdown();
        }
        match connection.as_mut().poll(cx) {
            Poll::Ready(ended) => Poll::Ready(ended),
            Poll::Pending => Poll::Pending,
        }
    });
    if let Err(cause) = ended.await {
        debug!(%cause, "a connection broke off");
    }
}

async fn one(app: Router, peer: SocketAddr, mut request: Request) -> Result<Response, Infallible> {
    request.extensions_mut().insert(ConnectInfo(peer));
    app.oneshot(request).await
}

/// A body that is given up once it stands still.
fn bounded(body: Incoming, most: Duration) -> Body {
    if body.is_end_stream() {
        return Body::empty();
    }
    let chunks = Body::new(body).into_data_stream().timeout(most);
    Body::from_stream(chunks.map(|chunk| match chunk {
        Ok(chunk) => chunk.map_err(io::Error::other),
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::response::sse::{Event, Sse};
    use axum::routing::{get, post};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::Notify;

    use super::*;

    const SHORT: Duration = Duration::from_millis(400);

    /// A server with short limits, where it listens, and what ends it.
    async fn server(app: Router, most: usize) -> (SocketAddr, CancellationToken) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let (address, stop) = (
            listener.local_addr().expect("its own"),
            CancellationToken::new(),
        );
        let limits = Limits {
            head: SHORT,
            body: SHORT,
            most,
            ..Limits::default()
        };
        tokio::spawn(serve(listener, app, limits, stop.clone()));
        (address, stop)
    }

    fn app() -> Router {
        let ticks = || async {
            let ticks = tokio_stream::iter(0..8).throttle(SHORT / 4);
            Sse::new(ticks.map(|it| Ok::<_, Infallible>(Event::default().data(it.to_string()))))
        };
        Router::new()
            .route("/", get(|| async { "here" }))
            .route("/events", get(ticks))
            .route(
                "/body",
                post(|body: String| async move { body.len().to_string() }),
            )
    }

    /// Sends pieces with pauses between them, and gives what came back before the other side closed.
    async fn says(address: SocketAddr, pieces: &[&str], pause: Duration) -> String {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        for piece in pieces {
            // The other side may have closed already, which what comes back shows.
            let _ = stream.write_all(piece.as_bytes()).await;
            tokio::time::sleep(pause).await;
        }
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all).await;
        String::from_utf8_lossy(&all).into_owned()
    }

    #[tokio::test]
    async fn whoever_asks_nothing_is_not_held() {
        let (address, _stop) = server(app(), 1).await;
        let none = Duration::ZERO;
        // Each ends by the server's own doing, though the client never closes; else this waits for ever.
        assert_eq!(says(address, &[], none).await, "");
        assert_eq!(
            says(address, &["GET / HTTP/1.1\r\nHost: a\r\n"], none).await,
            ""
        );
        // Byte after byte, each sooner than the limit: the head as a whole is late.
        let dribble: Vec<&str> = std::iter::once("GET / HTTP/1.1\r\n")
            .chain(["a: b\r\n"; 8])
            .collect();
        assert_eq!(says(address, &dribble, SHORT / 3).await, "");
        // A connection that is kept is no longer kept once nothing comes.
        let kept = says(address, &["GET / HTTP/1.1\r\nHost: a\r\n\r\n"], none).await;
        assert!(kept.ends_with("here"), "{kept}");
    }

    #[tokio::test]
    async fn a_large_head_is_refused() {
        let (address, _stop) = server(app(), 8).await;
        let large = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(200_000));
        let said = says(address, &[&large], Duration::ZERO).await;
        assert!(
            said.starts_with("HTTP/1.1 431") || said.is_empty(),
            "{said}"
        );
    }

    #[tokio::test]
    async fn events_go_on_for_longer_than_a_head_may_take() {
        let (address, _stop) = server(app(), 8).await;
        let ask = "GET /events HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let said = says(address, &[ask], Duration::ZERO).await;
        assert!(
            said.contains("data: 0") && said.contains("data: 7"),
            "{said}"
        );
    }

    #[tokio::test]
    async fn a_slow_upload_goes_on_and_one_that_stands_still_is_given_up() {
        let (address, _stop) = server(app(), 8).await;
        let head =
            "POST /body HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 8\r\n\r\n";
        let slow: Vec<&str> = std::iter::once(head).chain(["x"; 8]).collect();
        let said = says(address, &slow, SHORT / 4).await;
        assert!(
            said.starts_with("HTTP/1.1 200") && said.ends_with('8'),
            "{said}"
        );
        let still = says(address, &[head, "xxxx"], Duration::ZERO).await;
        assert!(still.starts_with("HTTP/1.1 4"), "{still}");
    }

    #[tokio::test]
    async fn more_connections_than_there_may_be_wait_for_one_to_end() {
        let go = Arc::new(Notify::new());
        let gate = go.clone();
        let held = move || async move { gate.notified().await };
        let (address, _stop) = server(app().route("/held", get(held)), 1).await;
        let mut first = TcpStream::connect(address).await.expect("a connection");
        let ask = b"GET /held HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        first.write_all(ask).await.expect("sent");
        let ask = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let second = tokio::spawn(async move { says(address, &[ask], Duration::ZERO).await });
        tokio::time::sleep(SHORT).await;
        assert!(!second.is_finished());
        go.notify_one();
        let said = second.await.expect("an answer");
        assert!(said.ends_with("here"), "{said}");
    }

    #[tokio::test]
    async fn what_is_under_way_is_answered_at_the_end() {
        let (address, stop) = server(app(), 8).await;
        let ask = "GET /events HTTP/1.1\r\nHost: a\r\n\r\n";
        let asked = tokio::spawn(async move { says(address, &[ask], Duration::ZERO).await });
        tokio::time::sleep(SHORT / 2).await;
        stop.cancel();
        let said = asked.await.expect("an answer");
        assert!(said.contains("data: 7"), "{said}");
    }
}
