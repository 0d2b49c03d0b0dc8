//! The clock of a point: monotonic nanoseconds since its start, and where the kernel's wall-clock stamps lie on it.

use std::time::{Duration, Instant};

use measure::units::Nanos;
use rustix::time::{ClockId, clock_gettime};

/// Beyond this the wall clock was set while a point ran, and what the kernel stamped cannot be placed.
const STEP: u64 = 200_000;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    zero: Instant,
    /// Wall-clock nanoseconds at zero. Both clocks are disciplined alike, so that only setting the wall clock moves it.
    wall_zero: u64,
}

impl Clock {
    pub(crate) fn starting_now() -> Self {
        Self::starting_in(Duration::ZERO)
    }

    /// A clock whose zero lies a little ahead, so that everything is in place by then.
    pub(crate) fn starting_in(lead: Duration) -> Self {
        let zero = Instant::now() + lead;
        let wall_zero = wall_at(zero);
        Self { zero, wall_zero }
    }

    /// How long it is until then; `None` when the moment has come. Unlike [`Clock::now`] it knows times before the start.
    pub(crate) fn until(self, due: Nanos) -> Option<Duration> {
        let left = self.instant(due).saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// The moment as an instant.
    pub(crate) fn instant(self, at: Nanos) -> Instant {
        self.zero + Duration::from_nanos(at.0)
    }

    /// Now; zero before the start.
    pub(crate) fn now(self) -> Nanos {
        Nanos(
            Instant::now()
                .saturating_duration_since(self.zero)
                .as_nanos() as u64,
        )
    }

    /// Where a wall-clock stamp lies; `None` before the start.
    pub(crate) fn placed(self, wall: u64) -> Option<Nanos> {
        wall.checked_sub(self.wall_zero).map(Nanos)
    }

    /// Whether the wall clock was set since the start.
    pub(crate) fn wall_was_set(self) -> bool {
        wall_at(self.zero).abs_diff(self.wall_zero) > STEP
    }
}

/// The wall clock at an instant: of a few looks the one that took the shortest.
fn wall_at(instant: Instant) -> u64 {
    let look = |_| {
        let before = Instant::now();
        let wall = clock_gettime(ClockId::Realtime);
        let took = before.elapsed();
        let wall = wall.tv_sec.unsigned_abs() * 1_000_000_000 + wall.tv_nsec.unsigned_abs();
        (took, before + took / 2, wall)
    };
    let best = (0..5).map(look).min_by_key(|(took, ..)| *took);
    best.map_or(0, |(_, seen, wall)| {
        let ahead = instant.saturating_duration_since(seen).as_nanos() as u64;
        let ago = seen.saturating_duration_since(instant).as_nanos() as u64;
        (wall + ahead).saturating_sub(ago)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_clock_stamps_are_placed_within_microseconds() {
        let clock = Clock::starting_now();
        std::thread::sleep(Duration::from_millis(5));
        // The best of a few: the thread may lose its core between the two looks.
        let apart = (0..20).map(|_| {
            let now = clock.now();
            let wall = clock_gettime(ClockId::Realtime);
            let wall = wall.tv_sec.unsigned_abs() * 1_000_000_000 + wall.tv_nsec.unsigned_abs();
            clock
                .placed(wall)
                .expect("after the start")
                .0
                .abs_diff(now.0)
        });
        assert!(apart.min().expect("twenty") < 100_000);
        assert!(!clock.wall_was_set());
    }

    #[test]
    fn before_the_start_it_stands_at_zero_and_still_knows_how_long_it_is() {
        let clock = Clock::starting_in(Duration::from_secs(60));
        assert_eq!(clock.now(), Nanos::ZERO);
        assert!(
            clock
                .until(Nanos::ZERO)
                .is_some_and(|left| left > Duration::from_secs(30))
        );
        assert_eq!(clock.placed(0), None);
    }
}
