//! Connections of one thread of the load, opened before the clock starts.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http2;

use crate::connect::{ConnectError, Target};
use crate::link::Link;

/// Idle connections are dropped after this: a little before the five seconds after which uvicorn closes them, so that
/// no request is handed to a connection that is about to die.
const IDLE: Duration = Duration::from_secs(4);
/// A kept connection that ends before this was never kept.
const KEPT: Duration = Duration::from_secs(1);
/// Streams on one HTTP/2 connection: what servers commonly allow.
pub(crate) const STREAMS: usize = 100;

/// The connections of one thread.
pub(crate) struct Pool {
    target: Target,
    idle: RefCell<Vec<(Link, Instant)>>,
    shared: RefCell<Vec<Shared>>,
}

/// An HTTP/2 connection. As many hold its token as have a stream on it.
struct Shared {
    sender: http2::SendRequest<Full<Bytes>>,
    token: Rc<()>,
}

impl Shared {
    fn has_room(&self) -> bool {
        Rc::strong_count(&self.token) <= STREAMS && !self.sender.is_closed()
    }

    fn link(&self) -> Link {
        Link::shared(self.sender.clone(), Rc::clone(&self.token))
    }
}

impl Pool {
    pub(crate) fn new(target: Target) -> Self {
        Self {
            target,
            idle: RefCell::default(),
            shared: RefCell::default(),
        }
    }

    /// What can carry a request now: an idle connection, the one used last, or a place on a shared one.
    pub(crate) async fn take(&self) -> Option<Link> {
        if self.target.http2 {
            let shared = self.shared.borrow();
            return shared
                .iter()
                .find(|shared| shared.has_room())
                .map(Shared::link);
        }
        loop {
            let (mut link, since) = self.idle.borrow_mut().pop()?;
            if IDLE < since.elapsed() {
                continue;
            }
            if link.is_reusable().await {
                return Some(link);
            }
            if since.elapsed() < KEPT {
                self.breaks_off();
            }
        }
    }

    /// The other side closed a connection that it had said it keeps. From now on each request has one of its own: the next
    /// could be lost on its way to a connection that is being closed.
    pub(crate) fn breaks_off(&self) {
        self.target.breaks_off.store(true, Relaxed);
    }

    /// A new connection.
    pub(crate) async fn open(&self) -> Result<Link, ConnectError> {
        let (stream, stamps) = self.target.open().await?;
        if !self.target.http2 {
            return Ok(Link::http1(stream, stamps));
        }
        let sender = Link::http2(stream).await?;
        let token = Rc::default();
        let opened = Shared { sender, token };
        let link = opened.link();
        let mut shared = self.shared.borrow_mut();
        shared.retain(|shared| !shared.sender.is_closed());
        shared.push(opened);
        Ok(link)
    }

    /// Takes a connection back behind a request, for the next.
    pub(crate) fn take_back(&self, link: Link) {
        if !self.target.breaks_off.load(Relaxed) {
            self.keep(link);
        }
    }

    /// Keeps a connection for a request.
    pub(crate) fn keep(&self, link: Link) {
        if !self.target.http2 {
            self.idle.borrow_mut().push((link, Instant::now()));
        }
    }

    /// Closes what has been idle for too long; how many connections are missing for so many requests at once.
    pub(crate) fn missing(&self, requests: usize) -> usize {
        if self.target.http2 {
            return requests.div_ceil(STREAMS).saturating_sub(self.count());
        }
        let mut idle = self.idle.borrow_mut();
        idle.retain(|(_, since)| since.elapsed() < IDLE);
        requests.saturating_sub(idle.len())
    }

    /// How many connections there are.
    pub(crate) fn count(&self) -> usize {
        self.idle.borrow().len() + self.shared.borrow().len()
    }
}
