//! What a watcher sees of a point while it runs: atomics on the hot path, a bounded picture a few times a second.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::time::Instant;

use measure::adaptive::Doom;
use measure::units::Nanos;

/// A picture of the point under load.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Milliseconds since the point's start.
    pub elapsed_ms: u64,
    /// Requests in the schedule.
    pub scheduled: u32,
    /// Requests sent.
    pub sent: u32,
    /// Requests in flight.
    pub in_flight: u32,
    /// Requests that succeeded.
    pub completed: u32,
    /// Requests that failed.
    pub failed: u32,
    /// Of the [`Doom::FIRST`] requests that were sent first, how many have ended.
    pub first_ended: u32,
    /// Token-bearing events per second over the last second.
    pub events_per_s: f64,
    /// TTFT p50 of the latest few thousand requests, in nanoseconds.
    pub ttft_p50_ns: Option<u64>,
    /// TTFT p95 of the same.
    pub ttft_p95_ns: Option<u64>,
    /// How many requests are behind them.
    pub ttft_count: u32,
}

/// Sees a point while it runs. Must not block; may drop what it is shown.
pub trait Observer: Send + Sync {
    /// A new picture, about four times a second and once at the end.
    fn progress(&self, now: Progress);

    /// The warm-up is over, and the point's clock starts at this moment.
    fn began(&self, _zero: Instant) {}
}

/// Nobody watches.
impl Observer for () {
    fn progress(&self, _: Progress) {}
}

/// TTFTs kept for the live picture.
const RECENT: usize = 2048;

/// Counters that requests bump.
pub(crate) struct Gauges {
    scheduled: u32,
    sent: AtomicU32,
    completed: AtomicU32,
    failed: AtomicU32,
    first_ended: AtomicU32,
    events: AtomicU64,
    ttfts: Vec<AtomicU64>,
    ttft_count: AtomicU32,
    /// When the latest request is due: the drain counts from there.
    last_due: AtomicU64,
    /// Whether the last session has begun: before that nothing is given up.
    all_begun: AtomicBool,
    /// Whether sessions have been told to give up: a look at this costs a request less than a look at what it was told.
    given_up: AtomicBool,
}

impl Gauges {
    pub(crate) fn new(scheduled: usize) -> Self {
        Self {
            scheduled: u32::try_from(scheduled).unwrap_or(u32::MAX),
            sent: AtomicU32::new(0),
            completed: AtomicU32::new(0),
            failed: AtomicU32::new(0),
            first_ended: AtomicU32::new(0),
            events: AtomicU64::new(0),
            ttfts: (0..RECENT).map(|_| AtomicU64::new(0)).collect(),
            ttft_count: AtomicU32::new(0),
            last_due: AtomicU64::new(0),
            all_begun: AtomicBool::new(false),
            given_up: AtomicBool::new(false),
        }
    }

    pub(crate) fn due(&self, at: Nanos) {
        self.last_due.fetch_max(at.0, Relaxed);
    }

    pub(crate) fn all_begun(&self) {
        self.all_begun.store(true, Relaxed);
    }

    /// To be said before any session is told.
    pub(crate) fn give_up(&self) {
        self.given_up.store(true, Release);
    }

    pub(crate) fn given_up(&self) -> bool {
        self.given_up.load(Acquire)
    }

    /// From when on the drain counts; `None` while sessions still begin.
    pub(crate) fn drain_from(&self) -> Option<Nanos> {
        self.all_begun
            .load(Relaxed)
            .then(|| Nanos(self.last_due.load(Relaxed)))
    }

    /// One more is sent; how many were before it.
    pub(crate) fn sent(&self) -> u32 {
        self.sent.fetch_add(1, Relaxed)
    }

    pub(crate) fn events(&self, count: usize) {
        self.events.fetch_add(count as u64, Relaxed);
    }

    pub(crate) fn first_token(&self, ttft: Nanos) {
        let place = self.ttft_count.fetch_add(1, Relaxed) as usize;
        self.ttfts[place % RECENT].store(ttft.0, Relaxed);
    }

    /// The request that was sent after so many others has ended.
    pub(crate) fn ended(&self, sent_after: u32, ok: bool) {
        if ok { &self.completed } else { &self.failed }.fetch_add(1, Relaxed);
        if sent_after < Doom::FIRST {
            self.first_ended.fetch_add(1, Relaxed);
        }
    }
}

/// Makes pictures of gauges.
pub(crate) struct Camera {
    /// Events at the latest moments, oldest first: what a rate over the last second needs.
    before: Vec<(Nanos, u64)>,
}

impl Camera {
    pub(crate) fn new() -> Self {
        Self {
            before: vec![(Nanos::ZERO, 0)],
        }
    }

    pub(crate) fn picture(&mut self, gauges: &Gauges, now: Nanos) -> Progress {
        let (sent, completed, failed) = (
            gauges.sent.load(Relaxed),
            gauges.completed.load(Relaxed),
            gauges.failed.load(Relaxed),
        );
        let count = gauges.ttft_count.load(Relaxed).min(RECENT as u32);
        let mut ttfts: Vec<u64> = gauges.ttfts[..count as usize]
            .iter()
            .map(|ttft| ttft.load(Relaxed))
            .collect();
        ttfts.sort_unstable();
        Progress {
            elapsed_ms: now.0 / 1_000_000,
            scheduled: gauges.scheduled,
            sent,
            in_flight: sent.saturating_sub(completed).saturating_sub(failed),
            completed,
            failed,
            first_ended: gauges.first_ended.load(Relaxed),
            events_per_s: self.events_per_s(gauges.events.load(Relaxed), now),
            ttft_p50_ns: ranked(&ttfts, 50),
            ttft_p95_ns: ranked(&ttfts, 95),
            ttft_count: count,
        }
    }

    fn events_per_s(&mut self, events: u64, now: Nanos) -> f64 {
        let second = Nanos::from_millis(1000);
        while self.before.len() > 1 && self.before[1].0 + second <= now {
            self.before.remove(0);
        }
        let (since, had) = self.before[0];
        self.before.push((now, events));
        let span = now.since(since).as_secs_f64();
        if span > 0.0 {
            events.saturating_sub(had) as f64 / span
        } else {
            0.0
        }
    }
}

/// The value at a percentile's place; a picture needs no interpolation.
fn ranked(sorted: &[u64], percentile: usize) -> Option<u64> {
    sorted
        .get((sorted.len() * percentile / 100).min(sorted.len().saturating_sub(1)))
        .copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_counts_what_is_in_flight() {
        let gauges = Gauges::new(9);
        (0..40).for_each(|_| {
            gauges.sent();
        });
        gauges.ended(0, true);
        gauges.ended(Doom::FIRST, false);
        let picture = Camera::new().picture(&gauges, Nanos::from_millis(1500));
        assert_eq!(
            (picture.scheduled, picture.sent, picture.in_flight),
            (9, 40, 38)
        );
        assert_eq!(
            (picture.completed, picture.failed, picture.elapsed_ms),
            (1, 1, 1500)
        );
        assert_eq!(picture.first_ended, 1, "the other was not among the first");
        assert_eq!((picture.ttft_p50_ns, picture.ttft_count), (None, 0));
    }

    #[test]
    fn the_event_rate_is_that_of_the_last_second() {
        let gauges = Gauges::new(1);
        let mut camera = Camera::new();
        for tick in 1..=8 {
            gauges.events(if tick <= 4 { 100 } else { 10 });
            camera.picture(&gauges, Nanos::from_millis(tick * 250));
        }
        gauges.events(10);
        assert_eq!(
            camera
                .picture(&gauges, Nanos::from_millis(2250))
                .events_per_s,
            40.0
        );
    }

    #[test]
    fn only_the_latest_ttfts_count() {
        let gauges = Gauges::new(1);
        (0..RECENT).for_each(|_| gauges.first_token(Nanos(7)));
        (0..RECENT).for_each(|_| gauges.first_token(Nanos(9)));
        let picture = Camera::new().picture(&gauges, Nanos::ZERO);
        assert_eq!(
            (picture.ttft_p50_ns, picture.ttft_p95_ns, picture.ttft_count),
            (Some(9), Some(9), RECENT as u32)
        );
    }
}
