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

    /// How long it is until then; `None` when the moment has come. Unlike [`Clock::now`] it knows times before the start.
    pub(crate) fn until(self, due: Nanos) -> Option<Duration> {
        let left = (self.0 + Duration::from_nanos(due.0)).saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// Now; zero before the start.
    pub(crate) fn now(self) -> Nanos {
        Nanos(Instant::now().saturating_duration_since(self.0).as_nanos() as u64)
    }
}
