//! Readiness of file descriptors that the runtime has no type for.

use std::io;
use std::net::TcpStream;
use std::os::fd::{AsRawFd, OwnedFd};

use tokio::io::unix::AsyncFd;

/// A descriptor that owns itself and stays the same as long as it lives.
pub(crate) trait Steady: AsRawFd {}

impl Steady for OwnedFd {}
impl Steady for TcpStream {}

/// Lets the runtime of this thread watch a descriptor.
#[expect(
    unsafe_code,
    reason = "registering asks for a promise that the type cannot make"
)]
pub(crate) fn watched<T: Steady>(fd: T) -> io::Result<AsyncFd<T>> {
    // SAFETY: a `Steady` descriptor is owned by `fd` and is neither closed nor replaced before `fd` is dropped.
    Ok(unsafe { AsyncFd::register(fd) }?)
}
