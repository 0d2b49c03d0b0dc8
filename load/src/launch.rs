//! Starts an engine, waits until it answers with a token, keeps its log, and ends it with everything that it started.
//!
//! An engine is never a child of the studio: a guard stands between them (see [`guard`]), in a process of its own, so that
//! no engine outlives the studio, however that ends. Which command may be run at all is not decided here.

mod command; // from a template to arguments
mod exit; // how a process ended
pub mod guard; // between the studio and the engine
mod holder; // who listens where the engine would
mod log; // the last of what an engine said
mod orphans; // what a killed guard leaves
mod process; // a running engine
mod ready; // from the start to a first token
mod secret; // where secrets stand in a text
mod why; // what its last words mean

use std::time::Duration;

use crate::engine::EngineError;
use crate::probe::TrialError;

pub use command::{Filling, Flag, Program, Template, TemplateError};
pub use exit::Exit;
pub use log::Log;
pub use process::{Launch, Managed, Said, Stopped};
pub use ready::{AnsweredBy, free_port, start, start_heard};
pub use why::why;

/// Why an engine is not there to be measured, in one sentence.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The guard could not be started.
    #[error("cannot start {program:?}")]
    Spawn {
        /// What was to be started.
        program: String,
        /// The system's word.
        #[source]
        cause: std::io::Error,
    },
    /// Something else answers where the engine would.
    #[error(
        "port {port} is in use; stop what listens there, or give the engine another port in its launch template"
    )]
    PortInUse {
        /// The port.
        port: u16,
    },
    /// No port is free.
    #[error("no port is free on this machine")]
    NoPort(#[source] std::io::Error),
    /// It ended instead of answering.
    #[error("{}", ended(exit, why.as_deref(), *after))]
    Exited {
        /// How it ended.
        exit: Exit,
        /// What its last words mean, where they are known.
        why: Option<String>,
        /// How long it lived.
        after: Duration,
    },
    /// It runs, and does not answer.
    #[error(
        "it did not answer at {path} within {} s; raise start_timeout_s if it needs longer, or see its log for what it waits for",
        waited.as_secs()
    )]
    Silent {
        /// Where it was asked.
        path: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// It says that it is well, and gives no token.
    #[error(
        "it says that it is ready, but gave no token within {} s; see its log",
        waited.as_secs()
    )]
    NoToken {
        /// How long it was waited for.
        waited: Duration,
    },
    /// It refuses what would be sent.
    #[error("it is ready, but every request would fail")]
    Refused(#[source] TrialError),
    /// Its address, key or certificate cannot be used.
    #[error("it cannot be reached as its template says")]
    Endpoint(#[source] EngineError),
    /// Someone wants no engine any more.
    #[error("the start was given up")]
    GivenUp,
}

/// A start that came to nothing.
#[derive(Debug)]
pub struct NotStarted {
    /// Why.
    pub cause: LaunchError,
    /// What the engine said meanwhile.
    pub log: String,
}

impl From<LaunchError> for NotStarted {
    fn from(cause: LaunchError) -> Self {
        let log = String::new();
        Self { cause, log }
    }
}

fn ended(exit: &Exit, why: Option<&str>, after: Duration) -> String {
    let seconds = after.as_secs_f64();
    match why {
        Some(why) => format!("it ended {seconds:.1} s after its start ({exit}): {why}"),
        None => format!("it ended {seconds:.1} s after its start ({exit}) without answering"),
    }
}
