//! A TCP socket that notes when bytes arrive: by our own clock at the moment of the read, and by the kernel's where it
//! stamps received segments.
//!
//! The kernel's stamp is taken in the network stack, so that a busy client reads late without measuring late. A read
//! that takes several segments carries the stamp of the last of them.

use std::cell::{Cell, RefCell};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use measure::units::Nanos;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::clock::Clock;
use crate::dialect::Moment;
use crate::limits::Place;
use crate::ready::watched;

/// Bytes of one read at most: more than an engine sends between two of them, unless it sends without pauses.
pub(crate) const READ: usize = 64 << 10;

thread_local! {
    /// Where the kernel writes its stamp. One for each thread, since it is read at once.
    static CONTROL: RefCell<Vec<u8>> = RefCell::new(nix::cmsg_space!(nix::sys::time::TimeSpec));
}

/// When the latest bytes of a connection arrived. Shared by the socket, which writes it, and the request that reads.
#[derive(Default)]
pub(crate) struct Stamps {
    clock: Cell<Option<Clock>>,
    at: Cell<Nanos>,
    kernel: Cell<Option<Nanos>>,
}

impl Stamps {
    /// From now on moments are those of this clock.
    pub(crate) fn follow(&self, clock: Clock) {
        self.clock.set(Some(clock));
    }

    /// When the latest bytes arrived. A stamp from before `floor` (the request had not been sent) is none.
    pub(crate) fn latest(&self, floor: Nanos) -> Moment {
        let at = self.at.get();
        let kernel = self.kernel.get().filter(|kernel| floor <= *kernel);
        Moment {
            at,
            kernel: kernel.map(|kernel| kernel.min(at)),
        }
    }

    fn note(&self, wall: Option<u64>) {
        if let Some(clock) = self.clock.get() {
            self.at.set(clock.now());
            self.kernel.set(wall.and_then(|wall| clock.placed(wall)));
        }
    }
}

/// A connected socket.
pub(crate) struct Socket {
    tcp: AsyncFd<TcpStream>,
    stamps: Rc<Stamps>,
    /// Whether the kernel stamps what it receives.
    stamped: bool,
    /// Given back when it closes.
    _place: Option<Place>,
}

impl Socket {
    /// Takes over a connected, non-blocking socket.
    pub(crate) fn new(tcp: TcpStream, kernel_time: bool) -> io::Result<Self> {
        let stamped = kernel_time && setsockopt(&tcp, sockopt::ReceiveTimestampns, &true).is_ok();
        Ok(Self {
            tcp: watched(tcp)?,
            stamps: Rc::default(),
            stamped,
            _place: None,
        })
    }

    /// The same, with its place among the connections that there may be.
    pub(crate) fn holding(self, place: Option<Place>) -> Self {
        Self {
            _place: place,
            ..self
        }
    }

    pub(crate) fn stamps(&self) -> Rc<Stamps> {
        Rc::clone(&self.stamps)
    }

    /// Reads: how many bytes, and the kernel's stamp.
    fn receive(&self, bytes: &mut [u8]) -> io::Result<(usize, Option<u64>)> {
        if !self.stamped {
            return Ok((self.tcp.get_ref().read(bytes)?, None));
        }
        let mut into = [IoSliceMut::new(bytes)];
        let fd = self.tcp.as_raw_fd();
        CONTROL.with_borrow_mut(|control| {
            let control = Some(control.as_mut_slice());
            let message = recvmsg::<()>(fd, &mut into, control, MsgFlags::empty())?;
            let stamp = message.cmsgs().ok().and_then(|mut all| {
                all.find_map(|control| match control {
                    ControlMessageOwned::ScmTimestampns(at) => Some(nanos(at)),
                    _ => None,
                })
            });
            Ok((message.bytes, stamp))
        })
    }
}

fn nanos(at: nix::sys::time::TimeSpec) -> u64 {
    at.tv_sec().unsigned_abs() * 1_000_000_000 + at.tv_nsec().unsigned_abs()
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let most = buf.remaining();
        loop {
            let mut ready = ready!(self.tcp.poll_read_ready(cx))?;
            match self.receive(buf.initialize_unfilled()) {
                Ok((count, stamp)) => {
                    self.stamps.note(stamp);
                    buf.advance(count);
                    if 0 < count && count < most {
                        // The socket is drained: asking again would only tell so.
                        ready.clear_ready();
                    }
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready.clear_ready(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl Socket {
    fn poll_out(
        &self,
        cx: &mut Context<'_>,
        mut write: impl FnMut(&mut &TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            let mut ready = ready!(self.tcp.poll_write_ready(cx))?;
            if let Ok(written) = ready.try_io(|tcp| write(&mut tcp.get_ref())) {
                return Poll::Ready(written);
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_out(cx, |tcp| tcp.write(bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_out(cx, |tcp| tcp.write_vectored(bytes))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.tcp.get_ref().shutdown(std::net::Shutdown::Write))
    }
}
