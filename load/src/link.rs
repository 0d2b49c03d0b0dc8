//! One connection, or one of the streams on it.
//!
//! In HTTP/1.1 a request polls its own connection, so that no other task stands between the socket and the event that is
//! timed. In HTTP/2 many requests share a connection; their moments are those of their own reading.

use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::{Body, Incoming};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::TokioIo;
use measure::units::Nanos;

use crate::clock::Clock;
use crate::connect::Stream;
use crate::dialect::Moment;
use crate::socket::Stamps;

type Driver = http1::Connection<TokioIo<Stream>, Full<Bytes>>;

/// A connection that carries one request at a time.
pub(crate) struct Own {
    sender: http1::SendRequest<Full<Bytes>>,
    driver: Pin<Box<Driver>>,
    /// The driver has ended: it must not be polled again.
    over: bool,
    stamps: Rc<Stamps>,
}

/// A place on a connection that carries many.
pub(crate) struct Shared {
    sender: http2::SendRequest<Full<Bytes>>,
    clock: Cell<Option<Clock>>,
    /// Held as long as the stream takes a place.
    _token: Rc<()>,
}

/// What carries a request.
pub(crate) enum Link {
    Own(Own),
    Shared(Shared),
}

impl Link {
    pub(crate) async fn http1(stream: Stream, stamps: Rc<Stamps>) -> Result<Self, hyper::Error> {
        let (sender, driver) = http1::handshake(TokioIo::new(stream)).await?;
        Ok(Self::Own(Own {
            sender,
            driver: Box::pin(driver),
            over: false,
            stamps,
        }))
    }

    /// Speaks HTTP/2 over a connection that a task of its own drives.
    pub(crate) async fn http2(
        stream: Stream,
    ) -> Result<http2::SendRequest<Full<Bytes>>, hyper::Error> {
        let (sender, driver) = http2::handshake(OnThisThread, TokioIo::new(stream)).await?;
        tokio::task::spawn_local(driver);
        Ok(sender)
    }

    pub(crate) fn shared(sender: http2::SendRequest<Full<Bytes>>, token: Rc<()>) -> Self {
        Self::Shared(Shared {
            sender,
            clock: Cell::new(None),
            _token: token,
        })
    }

    /// Whether it can carry another request, now that the body before has been read to its end.
    pub(crate) async fn is_reusable(&mut self) -> bool {
        match self {
            // One look at the socket: the other side may have closed it.
            Self::Own(own) => own.drive_once().await.is_pending() && own.sender.is_ready(),
            Self::Shared(shared) => !shared.sender.is_closed(),
        }
    }

    /// Waits until the other side allows another stream; it does at once in HTTP/1.1.
    pub(crate) async fn ready(&mut self) -> Result<(), hyper::Error> {
        match self {
            Self::Own(_) => Ok(()),
            Self::Shared(shared) => shared.sender.ready().await,
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        match self {
            Self::Own(own) => own.sender.is_closed(),
            Self::Shared(shared) => shared.sender.is_closed(),
        }
    }

    /// Times what arrives from here on by this clock.
    pub(crate) fn follow(&self, clock: Clock) {
        match self {
            Self::Own(own) => own.stamps.follow(clock),
            Self::Shared(shared) => shared.clock.set(Some(clock)),
        }
    }

    /// When the bytes read last arrived.
    pub(crate) fn latest(&self, sent: Nanos) -> Moment {
        match self {
            Self::Own(own) => own.stamps.latest(sent),
            Self::Shared(shared) => shared.clock.get().map_or(sent, Clock::now).into(),
        }
    }

    /// Sends a request and reads the head of its response.
    pub(crate) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, hyper::Error> {
        match self {
            Self::Own(own) => own.send(request).await,
            Self::Shared(shared) => shared.sender.send_request(request).await,
        }
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
        let mut driven = matches!(self, Self::Shared(_));
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
                    if let Self::Own(own) = self {
                        let _ = own.drive(cx);
                    }
                    driven = true;
                }
            }
        }
    }
}

impl Own {
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

    async fn send(
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
}

/// Runs what HTTP/2 needs beside its connection where the connection is.
#[derive(Clone)]
struct OnThisThread;

impl<F: Future + 'static> hyper::rt::Executor<F> for OnThisThread
where
    F::Output: 'static,
{
    fn execute(&self, task: F) {
        tokio::task::spawn_local(task);
    }
}
