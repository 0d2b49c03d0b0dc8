//! A server that knows the truth: it keeps its own record of when each token left it, so that any load generator can be
//! judged. What a client reports, less what this log says, is the client's error.
//!
//! It runs no model. Each request is answered with as many tokens as it asked for, on a schedule of absolute deadlines:
//! the first a TTFT after the request was read, each later one a gap after the *deadline* before it, so that lateness never
//! adds up. One thread serves from one epoll loop. On request it misbehaves, by a seed, and says so in its log.
//!
//! What it cannot see: how long an accepted byte waits in the client's receive buffer. That wait is the error measured.

mod answer; // tokens to bytes
mod clock; // the monotonic clock, and how the wall differs
mod config; // how fast, how uneven, how faulty
mod connection; // one socket and the answer under way on it
mod http; // just enough HTTP/1.1
mod log; // what is known of a request once it is over
mod requests; // what is asked
mod serve; // the loop
mod socket; // bytes with the kernel's time of their arrival

pub use config::{Config, Fault, Faults};
pub use log::Record;

use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use log::Log;

/// The model's name, as clients must ask for it.
pub const MODEL: &str = "truth";

/// A truth server on a thread of its own. It stops when dropped; requests under way are cut.
pub struct Running {
    /// Where it listens: `http://127.0.0.1:PORT`.
    pub url: String,
    records: Arc<log::Kept>,
    /// Written to once, to stop.
    stop: Arc<OwnedFd>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

/// Starts a truth server on `listen` (port 0 takes a free one). With `log_file`, requests are written there as JSON lines;
/// else they are kept in memory.
pub fn start(config: Config, listen: SocketAddr, log_file: Option<PathBuf>) -> io::Result<Running> {
    socket::raise_file_limit();
    let listener = socket::listen(listen)?;
    let url = format!("http://{}", listener.local_addr()?);
    let records = Arc::new(log::Kept::default());
    let log = match log_file {
        Some(path) => Log::to_file(File::create(path)?)?,
        None => Log::in_memory(Arc::clone(&records)),
    };
    let stop = Arc::new(rustix::event::eventfd(
        0,
        rustix::event::EventfdFlags::NONBLOCK | rustix::event::EventfdFlags::CLOEXEC,
    )?);
    let mut server = serve::Server::new(config, listener, Arc::clone(&stop), log)?;
    let thread = std::thread::Builder::new()
        .name("goodput-truth".into())
        .spawn(move || server.run())?;
    Ok(Running {
        url,
        records,
        stop,
        thread: Some(thread),
    })
}

impl Running {
    /// The requests that have ended since the last call, in the order of their ends. Empty when they go to a file.
    pub fn take_log(&self) -> Vec<Record> {
        self.records.take()
    }

    /// Stops and returns what was left in memory.
    pub fn end(mut self) -> Vec<Record> {
        self.halt();
        self.records.take()
    }

    fn halt(&mut self) {
        let _ = rustix::io::write(&*self.stop, &1u64.to_ne_bytes());
        if let Some(thread) = self.thread.take()
            && let Ok(Err(cause)) = thread.join()
        {
            tracing::error!(%cause, "the truth server stopped by itself");
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.halt();
    }
}

#[cfg(test)]
mod tests;
