//! Two curves: same workload, one variable? The difference, its interval, the verdict.

use serde::{Deserialize, Serialize};

use crate::knobs::Comparability;
use crate::score::Score;
use crate::slo::Metric;
use crate::units::Level;

mod alone; // one difference by itself
mod along; // levels of a curve taken together
mod attainment; // shares of good requests
mod ceilings; // brackets of rates
mod dependence; // requests that queue behind each other
mod drift; // a machine that changes meanwhile
mod latency; // percentiles
mod noise; // what differs between runs
mod sessions; // the same sessions on both sides
mod shares; // two shares against each other
pub(crate) mod student; // few degrees of freedom
mod together; // all verdicts at once
mod whole; // everything of a comparison

pub use alone::paired_difference;
pub use ceilings::{compare_ceilings, compare_ceilings_apart};
pub use drift::{Drift, Watched};
pub use noise::Noise;
pub use whole::compare_all;

/// What can be said of a difference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    rename_all = "snake_case",
    tag = "verdict",
    try_from = "crate::wire::VerdictText"
)]
pub enum Verdict {
    /// The candidate is better; the interval excludes no difference.
    Better,
    /// The candidate is worse; the interval excludes no difference.
    Worse,
    /// The interval includes no difference.
    NoDifference {
        /// The smallest relative difference that could have been seen: of this size four in five are found. For ceilings,
        /// beyond this none could hide.
        smallest_seen: f64,
    },
    /// The interval includes no difference, and so much else that even a doubling (of a latency or a ceiling), or a change of half of all
    /// requests (of attainment), would most likely not have been seen.
    CannotTell {
        /// As in `NoDifference`.
        smallest_seen: f64,
    },
    /// The data do not suffice; why, for people.
    NotYetJudged {
        /// The reason.
        why: String,
    },
}

/// A relative difference, candidate / baseline - 1 (of attainment, the difference of shares), with the interval that its
/// verdict goes by: so wide that all verdicts of a comparison together are wrong in at most 5 % of comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The difference.
    pub relative: f64,
    /// Lower end.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
    /// Pairs of sessions behind it; 0 for two samples, and for ceilings.
    pub pairs: u32,
}

/// One metric at one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The level.
    pub level: Level,
    /// The metric compared.
    pub metric: Metric,
    /// Its percentile.
    pub percentile: f64,
    /// The difference; `None` when there is none to give.
    pub difference: Option<Difference>,
    /// What can be said.
    pub verdict: Verdict,
    /// The field's rules as sentences: under 5 % noise, over 30 % look for a configuration mistake first.
    pub remark: Option<String>,
}

/// Two ceilings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CeilingComparison {
    /// Candidate over baseline - 1, with the bounds that the brackets give.
    pub difference: Option<Difference>,
    /// Better or worse where the brackets do not overlap, no difference where they do, not yet judged where one is open.
    pub verdict: Verdict,
    /// As in [`Comparison`].
    pub remark: Option<String>,
}

/// One metric over all levels that both have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Along {
    /// The metric; `None` for attainment.
    pub metric: Option<Metric>,
    /// Its percentile; `None` for attainment.
    pub percentile: Option<f64>,
    /// Levels that have it.
    pub levels: u32,
    /// The mean difference over the levels, each counting as much as it is sure.
    pub difference: Difference,
    /// What can be said of it.
    pub verdict: Verdict,
    /// The levels differ from that mean beyond chance.
    pub uneven: bool,
}

/// One run of a level: a repeat.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Which repeat; the same on both sides had the same arrivals and prompts.
    pub repeat: u32,
    /// When it started, in milliseconds on a clock that both sides share.
    pub started_ms: i64,
    /// Its requests.
    pub scores: &'a [Score],
}

/// One level of both sides.
#[derive(Clone, Debug)]
pub struct LevelRuns<'a> {
    /// The level.
    pub level: Level,
    /// The baseline's runs.
    pub baseline: Vec<Run<'a>>,
    /// The candidate's runs.
    pub candidate: Vec<Run<'a>>,
    /// Why its latencies mean nothing, where they do not (above capacity).
    pub no_latencies: Option<String>,
    /// Why it tells nothing at all, where it does not (void).
    pub nothing: Option<String>,
}

/// One candidate against the baseline.
#[derive(Clone, Debug)]
pub struct Against<'a> {
    /// What differs. Where more does than one thing, there is no verdict.
    pub comparability: &'a Comparability,
    /// Whether both sides were asked the same: prompts and schedule from one seed, and no answers of the engine's own in them.
    pub alike: bool,
    /// The levels that both have.
    pub levels: Vec<LevelRuns<'a>>,
    /// What history knows of the noise between runs, a level, a metric and a percentile each.
    pub noise: Vec<((Level, Metric, f64), Noise)>,
}

/// Everything that can be said of one candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Pooled {
    /// TTFT and TPOT p50, p95, p99 at each level.
    pub latencies: Vec<Comparison>,
    /// Attainment at each level, as a difference of shares.
    pub attainment: Vec<(Level, Option<Difference>, Verdict)>,
    /// The same along the curve.
    pub along: Vec<Along>,
    /// Whether the baseline itself changed.
    pub drift: Drift,
    /// How many differences were judged together, over all candidates.
    pub counted: u32,
}

/// What was measured of one difference, before all are judged together.
#[derive(Clone, Debug, PartialEq)]
struct Measured {
    /// ln(candidate / baseline), or a difference of shares.
    value: f64,
    /// Its standard error downwards.
    below: f64,
    /// Its standard error upwards.
    above: f64,
    /// What a drift could have added, either way.
    bias: f64,
    /// Degrees of freedom behind the errors.
    freedom: f64,
    /// Pairs of sessions; 0 for two samples.
    pairs: u32,
    /// The difference of each repeat by itself, where there are several.
    repeats: Vec<f64>,
    /// What its errors know of the noise between runs.
    learned: Learned,
}

/// Where the noise between runs that errors hold was learned.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Learned {
    /// They hold none.
    Nothing,
    /// From all levels together.
    Together,
    /// From the repeats of this very difference, which alone judge.
    Alone,
}

impl Verdict {
    /// Of an interval that includes no difference: none that can be seen, or, where nothing up to `blind` would have been, cannot tell.
    fn none(smallest_seen: f64, blind: f64) -> Self {
        if blind < smallest_seen {
            Self::CannotTell { smallest_seen }
        } else {
            Self::NoDifference { smallest_seen }
        }
    }
}

/// A doubling: who could not have seen one has not looked.
const BLIND: f64 = 1.0;
/// The same of shares: half of all requests.
const BLIND_SHARE: f64 = 0.5;
/// Differences below this are noise until shown otherwise.
const NOISE: f64 = 0.05;
/// Above this, a configuration mistake is likelier than a discovery.
const SUSPICIOUS: f64 = 0.3;

fn remark(relative: f64) -> Option<String> {
    match relative.abs() {
        size if size < NOISE => Some("Under 5 %: noise until repeats show otherwise.".to_owned()),
        size if SUSPICIOUS < size => {
            Some("Over 30 %: look for a configuration mistake first.".to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod bars; // what the verdicts promise
#[cfg(test)]
mod tests;
