//! Connections of the load: opened before the clock starts, each driven by the request that uses it.
//!
//! A request polls its own connection, so that no other task stands between the socket and the event that is timed.

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

use crate::clock::Clock;
use crate::dialect::{End, Moment};
use crate::socket::{Socket, Stamps};
use measure::units::Nanos;

/// Idle connections are dropped after this: a little before the five seconds after which uvicorn closes them, so that
/// no request is handed to a connection that is about to die.
const IDLE: Duration = Duration::from_secs(4);

/// Where connections lead, checked and resolved once.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub addresses: Vec<SocketAddr>,
    pub connect_timeout: Duration,
    pub kernel_time: bool,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("{0}")]
    Tcp(#[from] io::Error),
    #[error("no connection within {} ms", .0.as_millis())]
    TimedOut(Duration),
    #[error("{}", chain(.0))]
    Http(#[from] hyper::Error),
}

type Driver = http1::Connection<TokioIo<Socket>, Full<Bytes>>;

/// A connection that carries one request at a time.
pub(crate) struct Link {
    sender: http1::SendRequest<Full<Bytes>>,
    driver: Pin<Box<Driver>>,
    /// The driver has ended: it must not be polled again.
    over: bool,
    stamps: Rc<Stamps>,
    idle_since: Instant,
}

impl Link {
    async fn open(target: &Target) -> Result<Self, ConnectError> {
        let limit = target.connect_timeout;
        let opening = Self::open_unbounded(target);
        let opened = tokio::time::timeout(limit, opening).await;
        opened.map_err(|_| ConnectError::TimedOut(limit))?
    }

    async fn open_unbounded(target: &Target) -> Result<Self, ConnectError> {
        let tcp = tokio::net::TcpStream::connect(target.addresses.as_slice()).await?;
        tcp.set_nodelay(true)?;
        let socket = Socket::new(tcp.into_std()?, target.kernel_time)?;
        let stamps = socket.stamps();
        let (sender, driver) = http1::handshake(TokioIo::new(socket)).await?;
        Ok(Self {
            sender,
            driver: Box::pin(driver),
            over: false,
            stamps,
            idle_since: Instant::now(),
        })
    }

    /// Whether it can carry another request.
    async fn is_alive(&mut self) -> bool {
        // One look at the socket: the other side may have closed it.
        self.idle_since.elapsed() < IDLE && self.is_reusable().await
    }

    /// Whether it can carry another request, now that the body before has been read to its end.
    pub(crate) async fn is_reusable(&mut self) -> bool {
        self.drive_once().await.is_pending() && self.sender.is_ready()
    }

    async fn drive_once(&mut self) -> Poll<()> {
        std::future::poll_fn(|cx| Poll::Ready(self.drive(cx))).await
    }

    fn drive(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.over {
            return Poll::Ready(());
        }
        // What goes wrong is told to the request and its body, where it has a place.
        let over = self.driver.as_mut().poll(cx).map(drop);
        self.over = over.is_ready();
        over
    }

    /// Times what arrives from here on by this clock.
    pub(crate) fn follow(&self, clock: Clock) {
        self.stamps.follow(clock);
    }

    /// When the bytes read last arrived.
    pub(crate) fn latest(&self, sent: Nanos) -> Moment {
        self.stamps.latest(sent)
    }

    /// Sends a request and reads the head of its response.
    pub(crate) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, hyper::Error> {
        let mut answer = std::pin::pin!(self.sender.send_request(request));
        std::future::poll_fn(|cx| {
            let early = answer.as_mut().poll(cx);
            if early.is_ready() {
                return early;
            }
            let _ = self.drive(cx);
            // The driver may have handed the answer over just now.
            answer.as_mut().poll(cx)
        })
        .await
    }

    /// Reads the next bytes of a body; `None` at its end.
    pub(crate) async fn chunk(
        &mut self,
        body: &mut Incoming,
    ) -> Option<Result<Bytes, hyper::Error>> {
        std::future::poll_fn(|cx| self.poll_chunk(body, cx)).await
    }

    fn poll_chunk(
        &mut self,
        body: &mut Incoming,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, hyper::Error>>> {
        let mut driven = false;
        loop {
            match Pin::new(&mut *body).poll_frame(cx) {
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) if !data.is_empty() => return Poll::Ready(Some(Ok(data))),
                    // Nothing, or trailers.
                    _ => {}
                },
                Poll::Pending if driven => return Poll::Pending,
                Poll::Pending => {
                    let _ = self.drive(cx);
                    driven = true;
                }
            }
        }
    }
}

/// Idle connections of one thread.
pub(crate) struct Pool {
    target: Target,
    idle: RefCell<Vec<Link>>,
}

impl Pool {
    pub(crate) fn new(target: Target) -> Self {
        Self {
            target,
            idle: RefCell::default(),
        }
    }

    /// An idle connection, the one used last.
    pub(crate) async fn take(&self) -> Option<Link> {
        loop {
            let mut link = self.idle.borrow_mut().pop()?;
            if link.is_alive().await {
                return Some(link);
            }
        }
    }

    /// A new connection.
    pub(crate) async fn open(&self) -> Result<Link, ConnectError> {
        Link::open(&self.target).await
    }

    /// Takes a connection back for the next request.
    pub(crate) fn give_back(&self, mut link: Link) {
        link.idle_since = Instant::now();
        self.idle.borrow_mut().push(link);
    }

    /// Closes what has been idle for too long; how many are left.
    pub(crate) fn fresh(&self) -> usize {
        let mut idle = self.idle.borrow_mut();
        idle.retain(|link| link.idle_since.elapsed() < IDLE && !link.sender.is_closed());
        idle.len()
    }
}

/// What it means that no response came, or that a body broke off.
pub(crate) fn broken(error: &hyper::Error, in_body: bool) -> End {
    let text = chain(error);
    let cause = causes(error).filter_map(|cause| cause.downcast_ref::<io::Error>());
    let cut = cause
        .last()
        .is_some_and(|cause| cause.kind() == io::ErrorKind::UnexpectedEof);
    if in_body && (cut || error.is_incomplete_message()) {
        End::Truncated(text)
    } else {
        End::Reset(text)
    }
}

fn chain(error: &hyper::Error) -> String {
    let texts: Vec<String> = std::iter::once(error.to_string())
        .chain(causes(error).map(ToString::to_string))
        .collect();
    texts.join(": ")
}

fn causes(error: &hyper::Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    let first = std::error::Error::source(error);
    std::iter::successors(first, |cause| (**cause).source())
}
