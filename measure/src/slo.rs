//! What was promised, and was it kept: bounds on latencies with a percentile each, and an attainment target.
//!
//! Two verdicts, always both and always by name: *attainment* (how many requests kept every threshold) and
//! *percentile* (is every bound's percentile within its threshold). They answer different questions.

use serde::{Deserialize, Serialize};

use crate::quantile::{Estimate, Proportion};
use crate::units::Nanos;

mod goodput; // how much was good, and how sure that is
mod judge; // was it kept
mod parse; // text to SLO
mod plane; // which requests keep each pair of bounds
mod ready; // a point's requests as columns
mod text; // SLO to text

pub use goodput::{Goodput, goodput};
pub(crate) use judge::at_least;
pub use judge::{Judge, judge, value};
pub use parse::DEFAULT_ATTAINMENT;
pub use plane::{Plane, with_pair};
pub use ready::Ready;

/// A latency that can be bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Time to first token.
    Ttft,
    /// Time to first answer token.
    Ttfa,
    /// First token - scheduled.
    ScheduledTtft,
    /// First answer token - scheduled.
    ScheduledTtfa,
    /// End - scheduled.
    ScheduledE2e,
    /// Time per output token after the first.
    Tpot,
    /// Inter-token latency (the gap between token-bearing events).
    Itl,
    /// Longest gap within a request.
    Stall,
    /// End to end.
    E2e,
}

/// `ttft:p95<500ms`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// What is bound.
    pub metric: Metric,
    /// The percentile of the percentile verdict, 0 < p < 100; the attainment target's when none is named.
    pub percentile: Option<f64>,
    /// At most this.
    pub at_most: Nanos,
}

/// A service level objective. In JSON, URLs and forms it is its text, e.g. `ttft:p95<500ms tpot:p95<50ms attain>=95%`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Slo {
    /// One bound a metric at most, in the order written.
    pub bounds: Vec<Bound>,
    /// Highest share of failed requests; belongs to the percentile verdict only.
    pub error_rate: Option<f64>,
    /// Share of requests that must be good, 0 to 1.
    pub attainment: f64,
}

/// Why a text is no SLO. `at` is the byte offset of the offending word.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message} (at {word:?})")]
pub struct SloError {
    /// Byte offset in the text.
    pub at: usize,
    /// The offending word.
    pub word: String,
    /// What is wrong, and the mend.
    pub message: String,
}

/// Whether a promise is kept, as far as the sample can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keeps {
    /// The whole interval keeps it.
    Surely,
    /// The whole interval breaks it.
    SurelyNot,
    /// The value keeps it, its interval does not exclude that it does not.
    Probably,
    /// The value breaks it, its interval does not exclude that it keeps it.
    ProbablyNot,
    /// No value.
    CannotTell,
}

/// One request against an SLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Good {
    /// Succeeded and kept every threshold.
    Yes,
    /// Failed, or broke a threshold.
    No,
    /// A bound needs a value that the request lacks; counted as not good.
    Undetermined,
}

/// One bound of the percentile verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundVerdict {
    /// The bound, as text.
    pub bound: String,
    /// What was observed at its percentile.
    pub observed: Option<Estimate>,
    /// Whether it holds.
    pub keeps: Keeps,
}

/// A point under an SLO.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// Requests scheduled.
    pub scheduled: u32,
    /// Requests that were good.
    pub good: u32,
    /// Requests that could not be determined; they count as not good.
    pub undetermined: u32,
    /// good / scheduled with its Wilson interval; `None` when nothing was scheduled.
    pub attainment: Option<Proportion>,
    /// The share of requests that the SLO asks to be good.
    pub target: f64,
    /// Attainment against its target.
    pub by_attainment: Keeps,
    /// All bounds' percentiles (and the error rate) against their thresholds.
    pub by_percentile: Keeps,
    /// Each bound of the percentile verdict.
    pub bounds: Vec<BoundVerdict>,
    /// Good requests / D.
    pub good_requests_per_s: Option<f64>,
    /// Tokens of good requests / D.
    pub good_tokens_per_s: Option<f64>,
}

impl TryFrom<String> for Slo {
    type Error = SloError;
    fn try_from(text: String) -> Result<Self, SloError> {
        text.parse()
    }
}

impl From<Slo> for String {
    fn from(slo: Slo) -> Self {
        slo.to_string()
    }
}

#[cfg(test)]
mod tests;
