//! Listening, starting, stopping.

use std::io;
use std::net::Ipv4Addr;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::{driver, wire};

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
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let url = format!("http://{}", listener.local_addr()?);
    let model = config.model.clone();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    let thread = std::thread::Builder::new()
        .name("sim-http".into())
        .spawn(move || {
            let served = runtime
                .block_on(async { serve(TcpListener::from_std(listener)?, config, stopped).await });
            if let Err(cause) = served {
                tracing::error!(%cause, "the simulated engine stopped serving");
            }
        })?;
    Ok(Running {
        url,
        model,
        stop,
        thread: Some(thread),
    })
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
