//! From the start of an engine to its first token: what says that it is well is believed once it has given one.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use url::Url;

use rustix::process::Pid;

use super::holder::{Holder, holder};
use super::process::{Launch, Managed, Said};
use super::{LaunchError, NotStarted, why};
use crate::address;
use crate::probe::Asker;

/// An engine that starts is asked so often whether it is well.
const LOOK: Duration = Duration::from_millis(100);
/// One such question may take so long, and never much longer than the start has left.
const ANSWER: Duration = Duration::from_secs(10);
/// Whether something listens is known after so long.
const KNOCK: Duration = Duration::from_secs(2);
/// Whose port it is is looked at so often before it is called another's.
const LOOKS: u32 = 3;
/// Lines of the log that are read for a reason.
const READ: usize = 400;

/// Who gave an engine's first token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnsweredBy {
    /// One of the processes that were started.
    Engine,
    /// That cannot be told, and why not.
    Untold(&'static str),
}

/// Starts an engine and waits until it gives a token. What does not get so far is ended, with all that it started.
pub async fn start(launch: &Launch, give_up: &CancellationToken) -> Result<Managed, NotStarted> {
    start_heard(launch, give_up, |_| {}).await
}

/// [`start`], for whoever wants to see what the engine says from its first line on: `hear` is called once.
pub async fn start_heard(
    launch: &Launch,
    give_up: &CancellationToken,
    hear: impl FnOnce(Said),
) -> Result<Managed, NotStarted> {
    refuse_taken_port(launch).await?;
    let mut engine = Managed::spawn(launch)?;
    hear(engine.said());
    let began = Instant::now();
    let outcome = tokio::select! {
        outcome = first_answer(launch, began, engine.guard()) => outcome,
        exit = engine.ended() => Err(LaunchError::Exited {
            exit,
            why: why(exit, &engine.last_lines(READ)),
            after: engine.age(),
        }),
        () = give_up.cancelled() => Err(LaunchError::GivenUp),
    };
    match outcome {
        Ok((startup, answered_by)) => {
            engine.startup = startup;
            engine.answered_by = answered_by;
            Ok(engine)
        }
        Err(cause) => {
            let log = engine.stop().await.log;
            Err(NotStarted { cause, log })
        }
    }
}

/// Whoever answers there already would be measured in the engine's place.
async fn refuse_taken_port(launch: &Launch) -> Result<(), LaunchError> {
    let base = launch.endpoint.url.clone();
    let found = tokio::task::spawn_blocking(move || {
        let url = Url::parse(&base).ok()?;
        let addresses = address::resolve(&url).ok()?;
        let taken = |to: &SocketAddr| TcpStream::connect_timeout(to, KNOCK).is_ok();
        addresses.iter().find(|to| taken(to)).map(SocketAddr::port)
    });
    match found.await {
        Ok(Some(port)) => Err(LaunchError::PortInUse { port }),
        _ => Ok(()),
    }
}

/// How long the first token took, and whether it was the engine's.
async fn first_answer(
    launch: &Launch,
    began: Instant,
    guard: Pid,
) -> Result<(Duration, AnsweredBy), LaunchError> {
    until_ready(launch).await?;
    let startup = began.elapsed();
    let mut looks = 0;
    loop {
        let wanted = launch.clone();
        let found = tokio::task::spawn_blocking(move || holder(&wanted, guard)).await;
        looks += 1;
        match found {
            Ok(Holder::Known(answered_by)) => return Ok((startup, answered_by)),
            // It may have changed its processes at this very moment.
            Ok(Holder::Other(_)) if looks < LOOKS => tokio::time::sleep(LOOK).await,
            Ok(Holder::Other(port)) => return Err(LaunchError::PortInUse { port }),
            Err(_) => return Ok((startup, AnsweredBy::Untold("nobody looked"))),
        }
    }
}

async fn until_ready(launch: &Launch) -> Result<(), LaunchError> {
    let until = Instant::now() + launch.limit;
    let asker = Asker::made(&launch.endpoint, launch.wire.clone(), ANSWER).await;
    let asker = asker.map_err(LaunchError::Endpoint)?;
    while !asker.is_well(&launch.health, left(until).min(ANSWER)).await {
        if until < Instant::now() {
            return Err(LaunchError::Silent {
                path: launch.health.clone(),
                waited: launch.limit,
            });
        }
        tokio::time::sleep(LOOK).await;
    }
    first_token(launch, until).await
}

/// Asks for a few tokens until some come.
async fn first_token(launch: &Launch, until: Instant) -> Result<(), LaunchError> {
    loop {
        let left = left(until);
        let asked = crate::probe::gives_token(&launch.endpoint, launch.wire.clone(), left);
        // It asks more than once where fields are refused: all of that within what is left.
        let given = tokio::time::timeout(left, asked).await;
        match given.unwrap_or(Ok(false)) {
            Ok(true) => return Ok(()),
            Ok(false) if Instant::now() < until => tokio::time::sleep(LOOK).await,
            Ok(false) => {
                return Err(LaunchError::NoToken {
                    waited: launch.limit,
                });
            }
            Err(crate::probe::TrialError::Endpoint(cause)) => {
                return Err(LaunchError::Endpoint(cause));
            }
            Err(cause) => return Err(LaunchError::Refused(cause)),
        }
    }
}

/// What is left of a start, a moment at least.
fn left(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now()).max(LOOK)
}

/// A port of this machine that nothing listens on now.
pub fn free_port() -> Result<u16, LaunchError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(LaunchError::NoPort)?;
    let address = listener.local_addr().map_err(LaunchError::NoPort)?;
    Ok(address.port())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use measure::study::{Api, Endpoint};

    use super::super::Program;
    use super::*;
    use crate::engine::Wire;

    /// An engine that says it is well where `is_well`, and never answers anything else.
    fn silent(is_well: bool) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("bound");
        std::thread::spawn(move || {
            let mut held = Vec::new();
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut asked = [0; 4];
                let _ = stream.read(&mut asked);
                if is_well && asked.starts_with(b"GET") {
                    let well = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                    let _ = stream.write_all(well);
                    let _ = stream.shutdown(std::net::Shutdown::Write);
                }
                held.push(stream);
            }
        });
        format!("http://{address}")
    }

    /// How a start of one second ends there, asked for at most half of what one question may take.
    async fn ended(url: String) -> LaunchError {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let launch = Launch {
            program: Program::default(),
            pass_env: Vec::new(),
            cwd: None,
            endpoint: Endpoint::new(url, Api::OpenAiChat, "m"),
            wire: Wire::default(),
            health: "/health".into(),
            limit: Duration::from_secs(1),
            grace: Duration::from_secs(1),
            secrets: Vec::new(),
            guard: None,
        };
        let ready = tokio::time::timeout(ANSWER / 2, until_ready(&launch)).await;
        let ended = ready.expect("within its limit, not that of a question");
        ended.expect_err("no token")
    }

    #[tokio::test]
    async fn a_start_is_waited_for_as_long_as_it_may_take_and_no_longer() {
        let no_token = ended(silent(true)).await;
        assert!(
            matches!(no_token, LaunchError::NoToken { .. }),
            "{no_token:?}"
        );
        let hangs = ended(silent(false)).await;
        assert!(matches!(hangs, LaunchError::Silent { .. }), "{hangs:?}");
    }
}
