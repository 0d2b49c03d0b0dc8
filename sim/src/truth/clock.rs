//! CLOCK_MONOTONIC, the clock of Rust's `Instant` and Python's `perf_counter_ns`: a client on the same machine can be
//! compared stamp by stamp.

use rustix::time::{ClockId, Timespec, clock_gettime};

const SECOND: u64 = 1_000_000_000;

/// Monotonic nanoseconds.
pub(super) fn now() -> u64 {
    nanos(clock_gettime(ClockId::Monotonic))
}

/// Wall time minus monotonic time, now.
pub(super) fn wall_offset() -> u64 {
    let before = now();
    let wall = nanos(clock_gettime(ClockId::Realtime));
    wall.saturating_sub((before + now()) / 2)
}

/// A span as the system takes it.
pub(super) fn timespec(span: u64) -> Timespec {
    Timespec {
        tv_sec: (span / SECOND) as i64,
        tv_nsec: (span % SECOND) as i64,
    }
}

fn nanos(time: Timespec) -> u64 {
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}
