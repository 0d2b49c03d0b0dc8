//! `goodput guard`: stands between a studio and an engine that it started, so that no engine outlives the studio. Started by
//! the studio alone, so it stands in no help.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;
use load::launch::guard::{Order, become_engine, guard};

use super::{Ended, FAILED, Failure};

/// As shells have it: the command cannot be run.
const CANNOT_RUN: u8 = 127;

#[derive(Args)]
pub(super) struct GuardArgs {
    /// How long the engine may take to end before it is killed
    #[arg(long, default_value_t = 10_000)]
    grace_ms: u64,
    /// A word of the command that ends an engine which outlives its own (again for more)
    #[arg(long, allow_hyphen_values = true)]
    stop: Vec<OsString>,
    /// Become the engine, as long as this guard lives
    #[arg(long = "become", value_name = "GUARD")]
    become_for: Option<u32>,
    /// The engine's command
    #[arg(last = true, required = true)]
    argv: Vec<OsString>,
}

/// Runs the engine until it ends or the studio does. Not for a runtime: the system tells its end to the thread that
/// started it.
pub(super) fn stand(args: &GuardArgs) -> Ended {
    let GuardArgs {
        grace_ms,
        stop,
        become_for,
        argv,
    } = args;
    if let Some(guard) = become_for {
        return Err(Failure::new(CANNOT_RUN, become_engine(*guard, argv)));
    }
    let order = Order {
        argv: argv.clone(),
        stop: stop.clone(),
        grace: Duration::from_millis(*grace_ms),
    };
    guard(&order).map_err(|error| Failure::new(FAILED, error))
}
