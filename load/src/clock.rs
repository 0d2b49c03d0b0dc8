//! The clock of a point: monotonic nanoseconds since its start.

use std::time::{Duration, Instant};

use measure::units::Nanos;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Instant);

impl Clock {
    pub(crate) fn starting_now() -> Self {
        Self(Instant::now())
    }

    /// A clock whose zero lies a little ahead, so that everything is in place by then.
    pub(crate) fn starting_in(lead: Duration) -> Self {
        Self(Instant::now() + lead)
    }

    /// Now; zero before the start.
    pub(crate) fn now(self) -> Nanos {
        Nanos(Instant::now().saturating_duration_since(self.0).as_nanos() as u64)
    }
}
