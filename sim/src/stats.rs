//! What the engine counts, under the names that vLLM gives it.

use measure::units::Nanos;

use crate::scheduler::Counts;

/// Upper ends of vLLM's buckets for times to the first token, in seconds.
const TTFT_BOUNDS: &[f64] = &[
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
    20.0, 40.0, 80.0, 160.0, 640.0, 2560.0,
];
/// The same for gaps between tokens.
const ITL_BOUNDS: &[f64] = &[
    0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0,
    40.0, 80.0,
];
/// The same for whole requests and their time in the queue.
const REQUEST_BOUNDS: &[f64] = &[
    0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 120.0, 240.0,
    480.0, 960.0, 1920.0, 7680.0,
];

/// Counts of values up to each bound, the sum and the number of all.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Upper ends of the buckets, rising.
    pub bounds: &'static [f64],
    /// Values in each bucket, not cumulated; one more than bounds, for those above all.
    pub counts: Vec<u64>,
    /// Sum of all values.
    pub sum: f64,
}

impl Histogram {
    fn new(bounds: &'static [f64]) -> Self {
        Self {
            bounds,
            counts: vec![0; bounds.len() + 1],
            sum: 0.0,
        }
    }

    /// Adds a span.
    pub fn observe(&mut self, span: Nanos) {
        let seconds = span.as_secs_f64();
        self.counts[self.bounds.partition_point(|bound| *bound < seconds)] += 1;
        self.sum += seconds;
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// Everything `/metrics` shows of the engine.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// Sequences in the current step's running set.
    pub running: u64,
    /// Sequences in the queue.
    pub waiting: u64,
    /// Share of KV blocks in use.
    pub kv_usage: f64,
    /// What the scheduler counts.
    pub counts: Counts,
    /// Prompt tokens of sequences that got their first token.
    pub prompt_tokens: u64,
    /// Of those, found in the prefix cache.
    pub prompt_tokens_cached: u64,
    /// Tokens of answers.
    pub generation_tokens: u64,
    /// Sequences that ended at their length.
    pub finished: u64,
    /// Sequences whose client left.
    pub aborted: u64,
    /// Steps done.
    pub steps: u64,
    /// Arrival to first token.
    pub ttft: Histogram,
    /// Gap between tokens of a sequence.
    pub itl: Histogram,
    /// Arrival to last token.
    pub e2e: Histogram,
    /// Lateness of the simulator itself: how long after its time each step's tokens were handed out, summed.
    pub late: Nanos,
    /// The worst of it.
    pub late_max: Nanos,
}

impl Default for Stats {
    fn default() -> Self {
        Self {
            running: 0,
            waiting: 0,
            kv_usage: 0.0,
            counts: Counts::default(),
            prompt_tokens: 0,
            prompt_tokens_cached: 0,
            generation_tokens: 0,
            finished: 0,
            aborted: 0,
            steps: 0,
            ttft: Histogram::new(TTFT_BOUNDS),
            itl: Histogram::new(ITL_BOUNDS),
            e2e: Histogram::new(REQUEST_BOUNDS),
            late: Nanos::ZERO,
            late_max: Nanos::ZERO,
        }
    }
}
