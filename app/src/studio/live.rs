//! What is heard of a study while it runs.

use super::*;

/// Failures of one kind within the point under load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failing {
    /// The kind: `rate_limited`.
    pub kind: String,
    /// How many there were.
    pub count: u32,
    /// What the first of them said; empty where it said nothing.
    pub first: String,
    /// When the latest ended, in milliseconds since the point's start.
    pub latest_ms: u64,
}

/// A bounded picture of the point under load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Output tokens (events) per second over the last second.
    pub events_per_s: f64,
    /// TTFT p50 and p95 of the latest few thousand requests, in nanoseconds, with their count.
    pub ttft_p50_ns: Option<u64>,
    /// See `ttft_p50_ns`.
    pub ttft_p95_ns: Option<u64>,
    /// How many requests are behind them.
    pub ttft_count: u32,
    /// Requests sent per second over the last ten seconds; `None` in the first half second.
    #[serde(default)]
    pub sent_per_s: Option<f64>,
    /// Requests that succeeded per second; as above.
    #[serde(default)]
    pub completed_per_s: Option<f64>,
    /// Failures by kind, the kind that failed last first.
    #[serde(default)]
    pub failures: Vec<Failing>,
}

/// What the engine under measurement said.
#[cfg(feature = "ssr")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineLog {
    /// The last of it.
    Said(String),
    /// There is no log, and why.
    None(&'static str),
}

/// What browsers hear while a study runs. Numbered; a reconnecting browser gets what it missed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum LiveEvent {
    /// The study's state changed.
    State {
        /// The new state.
        state: StudyState,
        /// Why, where it needs saying.
        problem: Option<String>,
        /// Estimated milliseconds left.
        remaining_ms: Option<u64>,
        /// Whether a person holds it.
        #[serde(default, skip_serializing_if = "Hold::is_none")]
        hold: Hold,
    },
    /// A point began or ended.
    Point {
        /// The point as it is now.
        point: Box<PointView>,
        /// The ceilings of its configuration as they are now: by attainment, by percentile.
        ceilings: Box<(Option<Ceiling>, Option<Ceiling>)>,
        /// Estimated milliseconds left.
        remaining_ms: Option<u64>,
    },
    /// A configuration's facts were recorded.
    Facts {
        /// Index of the configuration.
        configuration: u32,
        /// What is known.
        facts: Facts,
        /// See [`ConfigurationView::cache_cold`].
        cache_cold: Option<bool>,
    },
    /// The point under load, a few times a second. Not numbered, not kept.
    Progress {
        /// The point.
        point: Uuid,
        /// Its picture.
        progress: Progress,
        /// Estimated milliseconds left.
        remaining_ms: Option<u64>,
    },
}
