//! What a watcher sees of a point while it runs: atomics on the hot path, a bounded picture a few times a second.

use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::time::Instant;

use measure::adaptive::Doom;
use measure::request::{ErrorKind, Outcome, RequestRecord};
use measure::units::Nanos;

/// Failures of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// The kind.
    pub kind: ErrorKind,
    /// How many there were.
    pub count: u32,
    /// What the first of them said; at most [`SAID`] characters.
    pub first: String,
    /// When the latest ended, in milliseconds since the point's start.
    pub latest_ms: u64,
}

/// Most characters of a failure's words.
const SAID: usize = 300;

/// A picture of the point under load.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// Requests sent per second over the last [`RATES`] seconds, or since the start where that is less; `None` in the first half second.
    pub sent_per_s: Option<f64>,
    /// Requests that succeeded per second; as above.
    pub completed_per_s: Option<f64>,
    /// Failures by kind, the kind that failed last first.
    pub failures: Vec<Failing>,
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
/// Seconds that rates of requests are of.
const RATES: u64 = 10;
/// No rate is told of less than this.
const LEAST_S: f64 = 0.5;

/// What failures of one kind leave behind while the point runs.
#[derive(Default)]
struct FailureGauge {
    count: AtomicU32,
    first: OnceLock<String>,
    latest_ms: AtomicU64,
}

impl FailureGauge {
    fn failed(&self, record: &RequestRecord) {
        // The first one's words are kept; all others pay an atomic more.
        self.first.get_or_init(|| {
            let said = record.error_detail.as_deref().unwrap_or_default();
            said.chars().take(SAID).collect()
        });
        let ended = record.end.unwrap_or(record.scheduled);
        self.latest_ms.fetch_max(ended.0 / 1_000_000, Relaxed);
        self.count.fetch_add(1, Relaxed);
    }

    fn told(&self, kind: ErrorKind) -> Option<Failing> {
        let count = self.count.load(Relaxed);
        (0 < count).then(|| Failing {
            kind,
            count,
            first: self.first.get().cloned().unwrap_or_default(),
            latest_ms: self.latest_ms.load(Relaxed),
        })
    }
}

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
    /// By place in [`ErrorKind::ALL`].
    failures: [FailureGauge; ErrorKind::ALL.len()],
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
            failures: Default::default(),
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
    pub(crate) fn ended(&self, sent_after: u32, record: &RequestRecord) {
        if let Outcome::Error(kind) = record.outcome {
            let place = ErrorKind::ALL.iter().position(|it| *it == kind);
            if let Some(gauge) = place.and_then(|it| self.failures.get(it)) {
                gauge.failed(record);
            }
            self.failed.fetch_add(1, Relaxed);
        } else {
            self.completed.fetch_add(1, Relaxed);
        }
        if sent_after < Doom::FIRST {
            self.first_ended.fetch_add(1, Relaxed);
        }
    }

    /// Failures so far, the kind that failed last first.
    fn failures(&self) -> Vec<Failing> {
        let kinds = ErrorKind::ALL.into_iter().zip(&self.failures);
        let mut told: Vec<Failing> = kinds.filter_map(|(kind, it)| it.told(kind)).collect();
        told.sort_by_key(|it| std::cmp::Reverse(it.latest_ms));
        told
    }
}

/// Makes pictures of gauges.
pub(crate) struct Camera {
    /// What was counted at the latest moments, oldest first: what rates need.
    before: Vec<Counted>,
}

/// What was counted at a moment.
#[derive(Clone, Copy, Default)]
struct Counted {
    at: Nanos,
    events: u64,
    sent: u32,
    completed: u32,
}

impl Camera {
    pub(crate) fn new() -> Self {
        Self {
            before: vec![Counted::default()],
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
        let counted = Counted {
            at: now,
            events: gauges.events.load(Relaxed),
            sent,
            completed,
        };
        let (sent_per_s, completed_per_s) = self.rates(counted);
        Progress {
            elapsed_ms: now.0 / 1_000_000,
            scheduled: gauges.scheduled,
            sent,
            in_flight: sent.saturating_sub(completed).saturating_sub(failed),
            completed,
            failed,
            first_ended: gauges.first_ended.load(Relaxed),
            events_per_s: self.events_per_s(counted),
            ttft_p50_ns: ranked(&ttfts, 50),
            ttft_p95_ns: ranked(&ttfts, 95),
            ttft_count: count,
            sent_per_s,
            completed_per_s,
            failures: gauges.failures(),
        }
    }

    /// Requests sent and completed per second since the oldest moment that is kept.
    fn rates(&mut self, now: Counted) -> (Option<f64>, Option<f64>) {
        let span = Nanos::from_millis(1000 * RATES);
        while self.before.len() > 1 && self.before[1].at + span <= now.at {
            self.before.remove(0);
        }
        let had = self.before[0];
        let seconds = now.at.since(had.at).as_secs_f64();
        let rate = |more: u32| (LEAST_S <= seconds).then(|| f64::from(more) / seconds);
        (
            rate(now.sent.saturating_sub(had.sent)),
            rate(now.completed.saturating_sub(had.completed)),
        )
    }

    /// Over the last second; keeps the moment for what comes after it.
    fn events_per_s(&mut self, now: Counted) -> f64 {
        let second = Nanos::from_millis(1000);
        let old = |it: &&Counted| it.at + second <= now.at;
        let had = self.before.iter().rev().find(old);
        let had = had.copied().unwrap_or(self.before[0]);
        self.before.push(now);
        let span = now.at.since(had.at).as_secs_f64();
        if span > 0.0 {
            now.events.saturating_sub(had.events) as f64 / span
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
    use measure::study::Api;

    use super::*;
    use crate::dialect::{Asked, End, Stream};

    fn record() -> RequestRecord {
        let mut stream = Stream::new(Api::OpenAiChat, false, 0);
        stream.end(Nanos::ZERO, End::Cancelled("x".into()));
        let asked = Asked {
            request_id: "x".into(),
            session: 0,
            turn: 0,
            scheduled: Nanos::ZERO,
            input_tokens: 0,
            output_tokens: 0,
        };
        RequestRecord {
            outcome: Outcome::Ok,
            ..stream.into_record(asked, None, None)
        }
    }

    #[test]
    fn a_picture_counts_what_is_in_flight() {
        let gauges = Gauges::new(9);
        (0..40).for_each(|_| {
            gauges.sent();
        });
        let failed = |at, said: &str| RequestRecord {
            outcome: Outcome::Error(ErrorKind::RateLimited),
            error_detail: Some(said.into()),
            end: Some(Nanos::from_millis(at)),
            ..record()
        };
        gauges.ended(0, &record());
        gauges.ended(Doom::FIRST, &failed(900, "status 429"));
        gauges.ended(Doom::FIRST, &failed(1200, "status 429 again"));
        let picture = Camera::new().picture(&gauges, Nanos::from_millis(1500));
        assert_eq!(
            (picture.scheduled, picture.sent, picture.in_flight),
            (9, 40, 37)
        );
        assert_eq!(
            (picture.completed, picture.failed, picture.elapsed_ms),
            (1, 2, 1500)
        );
        let failing = Failing {
            kind: ErrorKind::RateLimited,
            count: 2,
            first: "status 429".into(),
            latest_ms: 1200,
        };
        assert_eq!(picture.failures, [failing]);
        assert_eq!(picture.first_ended, 1, "the other was not among the first");
        assert_eq!((picture.ttft_p50_ns, picture.ttft_count), (None, 0));
    }

    #[test]
    fn rates_are_of_the_last_seconds_and_of_nothing_too_short() {
        let gauges = Gauges::new(1);
        let mut camera = Camera::new();
        let at = |camera: &mut Camera, ms| camera.picture(&gauges, Nanos::from_millis(ms));
        assert_eq!(at(&mut camera, 250).sent_per_s, None);
        for second in 1..=20 {
            for _ in 0..if second <= 10 { 8 } else { 4 } {
                gauges.sent();
                gauges.ended(0, &record());
            }
            at(&mut camera, second * 1000);
        }
        let now = at(&mut camera, 20_000);
        assert_eq!(
            (now.sent_per_s, now.completed_per_s),
            (Some(4.0), Some(4.0))
        );
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
