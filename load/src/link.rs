//! What carries a request: a connection of its own in HTTP/1.1, a stream on a shared one in HTTP/2.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, DATE, HeaderName, LOCATION, RETRY_AFTER};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::{Body, Incoming};
use hyper::client::conn::http2;
use hyper_util::rt::TokioIo;
use measure::units::Nanos;

use crate::clock::Clock;
use crate::connect::Stream;
use crate::dialect::{End, Moment};
use crate::engine::Call;
use crate::fault::broken;
use crate::http1::Http1;
use crate::socket::Stamps;

/// The head of a response, as far as it matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub status: u16,
    pub content_type: Option<String>,
    pub retry_after: Option<String>,
    pub date: Option<String>,
    pub location: Option<String>,
}

/// A stream on a shared connection. Its moments are those of its own reading: the kernel stamps connections.
pub(crate) struct Http2 {
    sender: http2::SendRequest<Full<Bytes>>,
    body: Option<Incoming>,
    clock: Cell<Option<Clock>>,
    /// Held as long as the stream takes a place.
    _token: Rc<()>,
}

/// What carries a request.
pub(crate) enum Link {
    Own(Http1),
    Shared(Http2),
}

impl Link {
    pub(crate) fn http1(stream: Stream, stamps: Rc<Stamps>) -> Self {
        Self::Own(Http1::new(stream, stamps))
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
        Self::Shared(Http2 {
            sender,
            body: None,
            clock: Cell::new(None),
            _token: token,
        })
    }

    /// Whether it can carry another request, now that the body before has been read to its end.
    pub(crate) async fn is_reusable(&mut self) -> bool {
        match self {
            Self::Own(own) => own.is_reusable().await,
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

    /// Times what arrives from here on by this clock.
    pub(crate) fn follow(&self, clock: Clock) {
        match self {
            Self::Own(own) => own.stamps.follow(clock),
            Self::Shared(shared) => shared.clock.set(Some(clock)),
        }
    }

    /// When the bytes read last arrived; none before `floor`, when the request was sent.
    pub(crate) fn latest(&self, floor: Nanos) -> Moment {
        match self {
            Self::Own(own) => own.stamps.latest(floor),
            Self::Shared(shared) => shared.clock.get().map_or(floor, Clock::now).into(),
        }
    }

    /// Sends a request and reads the head of its response.
    pub(crate) async fn send(&mut self, call: Call) -> Result<Answer, End> {
        match (self, call) {
            (Self::Own(own), Call::Bytes(request)) => own.send(&request).await,
            (Self::Shared(shared), Call::Http(request)) => shared.send(*request).await,
            _ => Err(End::Reset("a request for another version of HTTP".into())),
        }
    }

    /// Reads once and hands the content on with its moment; `None` once the body has ended.
    pub(crate) fn poll_content(
        &mut self,
        cx: &mut Context<'_>,
        floor: Nanos,
        on: &mut dyn FnMut(Moment, &[u8]),
    ) -> Poll<Option<Result<(), End>>> {
        match self {
            Self::Own(own) => {
                let mut stamped = |stamps: &Stamps, bytes: &[u8]| on(stamps.latest(floor), bytes);
                own.poll_content(cx, &mut stamped)
            }
            Self::Shared(shared) => {
                let read = ready!(shared.poll_read(cx));
                let at = shared.clock.get().map_or(floor, Clock::now);
                Poll::Ready(read.map(|read| read.map(|bytes| on(at.into(), &bytes))))
            }
        }
    }

    /// Reads what is left of the body and has no use.
    pub(crate) async fn discard(&mut self) {
        while let Some(Ok(())) =
            poll_fn(|cx| self.poll_content(cx, Nanos::ZERO, &mut |_, _| ())).await
        {}
    }
}

impl Http2 {
    async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Answer, End> {
        let response = self.sender.send_request(request).await;
        let response = response.map_err(|error| broken(&error, false))?;
        let answer = answer(&response);
        self.body = Some(response.into_body());
        Ok(answer)
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, End>>> {
        loop {
            let frame = match &mut self.body {
                Some(body) => ready!(Pin::new(body).poll_frame(cx)),
                None => None,
            };
            match frame.map(|frame| frame.map(hyper::body::Frame::into_data)) {
                None => return Poll::Ready(None),
                Some(Ok(Ok(bytes))) => return Poll::Ready(Some(Ok(bytes))),
                // Trailers.
                Some(Ok(Err(_))) => {}
                Some(Err(error)) => return Poll::Ready(Some(Err(broken(&error, true)))),
            }
        }
    }
}

fn answer(response: &Response<Incoming>) -> Answer {
    let header = |name: HeaderName| {
        let value = response.headers().get(name);
        value
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned)
    };
    Answer {
        status: response.status().as_u16(),
        content_type: header(CONTENT_TYPE),
        retry_after: header(RETRY_AFTER),
        date: header(DATE),
        location: header(LOCATION),
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
