//! Sockets, and bytes with the kernel's own time of their arrival (SO_TIMESTAMPNS).

use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::Duration;

use nix::sys::socket::sockopt::ReceiveTimestampns;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt};
use rustix::net::sockopt::{set_socket_linger, set_socket_reuseaddr};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen as listen_on, socket_with};

use super::clock;

/// Connections not yet accepted: a load that opens all of them at once must not be turned away.
const BACKLOG: i32 = 16_384;

/// Listens without blocking; whoever connects has its bytes stamped, where the kernel can.
pub(super) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    set_socket_reuseaddr(&socket, true)?;
    // Accepted sockets inherit it. Without it the time of reading stands in.
    let _ = setsockopt(&socket, ReceiveTimestampns, &true);
    bind(&socket, &address)?;
    listen_on(&socket, BACKLOG)?;
    Ok(TcpListener::from(socket))
}

/// Lifts the soft limit of open files to the hard one, where that is allowed: each stream needs a file.
pub(super) fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    let current = maximum;
    let _ = setrlimit(Resource::Nofile, Rlimit { current, maximum });
}

/// Reads once; also when the kernel received it (monotonic), or now.
pub(super) fn receive(
    socket: &TcpStream,
    into: &mut [u8],
    control: &mut [u8],
) -> io::Result<(usize, u64)> {
    let mut parts = [IoSliceMut::new(into)];
    let got = recvmsg::<()>(
        socket.as_raw_fd(),
        &mut parts,
        Some(control),
        MsgFlags::empty(),
    )?;
    let stamps = got.cmsgs().into_iter().flatten();
    let stamp = stamps
        .filter_map(|message| match message {
            ControlMessageOwned::ScmTimestampns(at) => {
                Some(at.tv_sec() as u64 * 1_000_000_000 + at.tv_nsec() as u64)
            }
            _ => None,
        })
        .next();
    let now = clock::now();
    let at = stamp.map_or(now, |wall| {
        wall.saturating_sub(clock::wall_offset()).min(now)
    });
    Ok((got.bytes, at))
}

/// Room for one stamp.
pub(super) fn control_room() -> Vec<u8> {
    nix::cmsg_space!(nix::sys::time::TimeSpec)
}

/// Closes with a reset instead of an orderly end.
pub(super) fn reset(socket: TcpStream) {
    let _ = set_socket_linger(&socket, Some(Duration::ZERO));
    drop(socket);
}
