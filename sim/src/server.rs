//! Listening, starting, stopping.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::serve::ListenerExt;
use tokio::net::{TcpListener, TcpSocket};
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::{driver, wire};

/// Connections not yet accepted: a load that starts all at once must not be turned away.
const BACKLOG: u32 = 4096;
/// Open connections get so long to end after a stop.
const GRACE: Duration = Duration::from_secs(1);

/// Serves the simulated engine on `listener` until `stop`; streams under way are cut then.
pub async fn serve(
    listener: TcpListener,
    config: Config,
    stop: CancellationToken,
) -> io::Result<()> {
    let engine = driver::spawn(&config)?;
    let router = wire::router(config, engine.clone());
    // Small events must leave at once.
    let listener = listener.tap_io(|stream| {
        if let Err(cause) = stream.set_nodelay(true) {
            tracing::debug!(%cause, "could not turn off Nagle's algorithm on a connection");
        }
    });
    let stopped = stop.clone();
    let server =
        axum::serve(listener, router).with_graceful_shutdown(stop.clone().cancelled_owned());
    let ended = async {
        stopped.cancelled().await;
        engine.stop().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        served = async { server.await } => served,
        () = ended => Ok(()),
    }
}

/// A simulated engine on a thread of its own. It stops when dropped.
pub struct Running {
    /// Where it listens: `http://127.0.0.1:PORT`.
    pub url: String,
    /// The model's name, as clients must ask for it.
    pub model: String,
    stop: CancellationToken,
    /// Ends soon after `stop`; taken when dropped.
    thread: Option<JoinHandle<()>>,
}

/// Starts a simulated engine on a free loopback port, with its own thread and runtime.
pub fn start(config: Config) -> io::Result<Running> {
    let model = config.model.clone();
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    let (tell, told) = mpsc::sync_channel(1);
    // The runtime is made and dropped on its own thread, so that callers may be on a runtime themselves.
    let thread = std::thread::Builder::new()
        .name("sim-http".into())
        .spawn(move || run(config, stopped, &tell))?;
    let address = told
        .recv()
        .unwrap_or_else(|_| Err(io::Error::other("the simulated engine's thread went away")))?;
    Ok(Running {
        url: format!("http://{address}"),
        model,
        stop,
        thread: Some(thread),
    })
}

/// Serves until `stop`; tells the address first, or why there is none.
fn run(config: Config, stop: CancellationToken, tell: &mpsc::SyncSender<io::Result<SocketAddr>>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let served = runtime.and_then(|runtime| {
        runtime.block_on(async {
            let listener = listen()?;
            // Whoever started this waits for it.
            let _ = tell.send(listener.local_addr());
            serve(listener, config, stop).await
        })
    });
    if let Err(cause) = served {
        tracing::error!(%cause, "the simulated engine does not serve");
        let _ = tell.try_send(Err(cause));
    }
}

fn listen() -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
    socket.listen(BACKLOG)
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            // A panic there was reported by its own thread.
            let _ = thread.join();
        }
    }
}
