//! The command line: `goodput serve | sim | bench | calibrate | check | demo | export | import | secret | token`.
//!
//! [`run`] reads arguments, calls one command and turns its end into an exit status. Commands print results on standard
//! output, and what people should know besides on standard error.

mod bench; // one point, without a studio
mod calibrate; // how much load this host can make
mod check; // a study against earlier runs of the same
mod demo; // a studio with a study in it
mod export; // a study as one file
mod guard; // between a studio and an engine
mod import; // such a file, opened
mod out; // files that commands write
mod say; // what commands print
mod secret; // API keys that the studio keeps
mod serve; // a studio
mod sim; // an engine that is not there
mod token; // access tokens
mod truth; // a server that knows the truth

use std::error::Error;
use std::ffi::OsString;
use std::io::IsTerminal;

use clap::{Parser, Subcommand};
use say::warnln;
use tracing_subscriber::EnvFilter;

/// Done.
pub const DONE: u8 = 0;
/// Exit status: stopped by a signal before its end, as shells have it for Ctrl-C.
pub const STOPPED: u8 = 130;
/// It failed; for `bench`: no request succeeded.
pub const FAILED: u8 = 1;
/// It was done, but what it prints could not be written.
pub const UNPRINTED: u8 = 6;
/// The arguments mean nothing.
pub const BAD_ARGUMENTS: u8 = 2;

#[derive(Parser)]
#[command(
    name = "goodput",
    version,
    about = "A benchmark studio for LLM serving engines"
)]
struct Line {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start the studio
    Serve(crate::config::ServeArgs),
    /// Measure one point of an engine and print it
    Bench(Box<bench::BenchArgs>),
    /// Measure how much load this host can make before its client becomes part of what is measured
    Calibrate(calibrate::CalibrateArgs),
    /// Hold a study against earlier runs of the same; the exit status says what came of it
    Check(check::CheckArgs),
    /// Start a studio, run the goodput exercise in it on a simulated engine, and print what came out
    Demo(demo::DemoArgs),
    /// Start a simulated engine
    Sim(sim::SimArgs),
    /// Write a study that has ended into one file, which another studio opens without any engine
    Export(export::ExportArgs),
    /// Open such a file, or a study that comes with the studio
    Import(import::ImportArgs),
    /// API keys that the studio keeps, each for one engine
    Secret(secret::SecretArgs),
    /// The access token of a studio that is not on loopback
    Token(token::TokenArgs),
    /// Guard an engine that a studio started
    #[command(hide = true)]
    Guard(guard::GuardArgs),
    /// Start a server that knows when each of its tokens left
    #[command(hide = true)]
    Truth(truth::TruthArgs),
}

/// Why a command failed, with the status that says so.
pub(crate) struct Failure {
    status: u8,
    error: Box<dyn Error + Send + Sync>,
}

impl Failure {
    /// An error with its exit status.
    pub(crate) fn new(status: u8, error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            status,
            error: error.into(),
        }
    }
}

/// What commands return: an exit status.
pub(crate) type Ended = Result<u8, Failure>;

/// Runs one command to its end. The first argument is the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let line = match Line::try_parse_from(args) {
        Ok(line) => line,
        Err(error) => {
            // Help and version are not errors; where they cannot be printed nothing can be said either.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(BAD_ARGUMENTS);
        }
    };
    log_to_stderr();
    // Whoever installed one before is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let status = match start(line.command) {
        Ok(status) => status,
        Err(Failure { status, error }) => {
            warnln!("goodput: {}", printable(&whole(error.as_ref())));
            status
        }
    };
    match say::unprinted() {
        Some(why) => {
            warnln!("goodput: {why}");
            UNPRINTED
        }
        None => status,
    }
}

/// Without what would steer a terminal: an engine's words are part of many errors.
pub(crate) fn printable(text: &str) -> String {
    let shown = |c: char| {
        if c.is_control() && c != '\n' {
            '\u{fffd}'
        } else {
            c
        }
    };
    text.chars().map(shown).collect()
}

fn start(command: Command) -> Ended {
    if let Command::Guard(args) = &command {
        return guard::stand(args);
    }
    // Load and what a simulator answers take a file for each connection, whoever asks for them.
    load::limits::raise_file_limit();
    let runtime = tokio::runtime::Runtime::new().map_err(|error| Failure::new(FAILED, error))?;
    runtime.block_on(async {
        outlive_full_files();
        match command {
            Command::Serve(args) => serve::serve(args).await,
            Command::Bench(args) => bench::bench(*args).await,
            Command::Calibrate(args) => calibrate::calibrate(args).await,
            Command::Check(args) => check::check(args).await,
            Command::Demo(args) => demo::demo(args).await,
            Command::Export(args) => export::export_study(args).await,
            Command::Guard(args) => guard::stand(&args),
            Command::Import(args) => import::import_study(args).await,
            Command::Sim(args) => sim::simulate(args).await,
            Command::Secret(args) => secret::secret(args),
            Command::Token(args) => token::token(args).await,
            Command::Truth(args) => truth::tell(args).await,
        }
    })
}

/// A file that may not grow any more (`ulimit -f`) is a write that fails, as on a full disk, and no end of the program. What it starts has
/// the signal as it was.
#[cfg(unix)]
fn outlive_full_files() {
    use tokio::signal::unix::{SignalKind, signal};
    let kind = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
    // Once caught it stays caught. Where it cannot be, all is as before.
    let _ = signal(kind);
}

#[cfg(not(unix))]
fn outlive_full_files() {}

/// An error with its causes, once each.
fn whole(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error: &&(dyn Error + 'static)| {
        (*error).source()
    });
    let mut said: Vec<String> = Vec::new();
    for text in causes.map(ToString::to_string) {
        if !said.last().is_some_and(|last| last.contains(&text)) {
            said.push(text);
        }
    }
    said.join(": ")
}

fn log_to_stderr() {
    let filter = EnvFilter::try_from_env("GOODPUT_LOG")
        .unwrap_or_else(|_| EnvFilter::new("warn,server=info"));
    let to_person = std::io::stderr().is_terminal();
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(to_person);
    // In tests another one may be there already.
    let _ = log.try_init();
}

/// Something else listens where a command with `--port` wants to.
pub(crate) fn port_in_use(address: std::net::SocketAddr) -> String {
    format!(
        "port {} of {} is in use; stop what listens there, or choose another with --port",
        address.port(),
        address.ip()
    )
}

/// Resolves when a person presses Ctrl-C or the system asks to end.
pub(crate) async fn asked_to_end() {
    let interrupted = async {
        let _ = tokio::signal::ctrl_c().await;
    };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut terminated) = signal(SignalKind::terminate()) else {
            return interrupted.await;
        };
        tokio::select! {
            () = interrupted => {}
            _ = terminated.recv() => {}
        }
    }
    #[cfg(not(unix))]
    interrupted.await;
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Line::command().debug_assert();
    }

    #[test]
    fn a_cause_is_said_once() {
        let inner = std::io::Error::other("disk full");
        let error = crate::store::OpenError::DataDir {
            path: "/d".into(),
            cause: inner,
        };
        let text = whole(&error);
        assert!(text.ends_with("--data-dir: disk full"), "{text}");
    }
}
