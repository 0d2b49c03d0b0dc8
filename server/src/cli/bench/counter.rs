//! How far a run is, for people.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::Instant;

use load::{Begun, Observer};

/// One line of progress, for people only.
pub(super) struct Counter {
    /// Whoever looks beside the run.
    pub begun: Option<Arc<Begun>>,
}

impl Observer for Counter {
    fn began(&self, zero: Instant) {
        if let Some(begun) = &self.begun {
            begun.at(zero);
        }
    }

    fn progress(&self, now: load::Progress) {
        let mut out = std::io::stderr();
        if out.is_terminal() {
            let load::Progress {
                elapsed_ms,
                scheduled,
                completed,
                failed,
                in_flight,
                ..
            } = now;
            let seconds = elapsed_ms as f64 / 1000.0;
            let _ = write!(
                out,
                "\r{seconds:7.1} s  {completed}/{scheduled} done, {failed} failed, {in_flight} in flight \x1b[K"
            );
            if completed + failed == scheduled {
                let _ = writeln!(out);
            }
        }
    }
}
