//! Two curves: same workload, one variable? The difference, its interval, the verdict.

use serde::{Deserialize, Serialize};

use crate::curve::Ceiling;
use crate::score::Score;
use crate::slo::{Metric, Slo};
use crate::units::Level;

/// What can be said of a difference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    /// The candidate is better; the interval excludes no difference.
    Better,
    /// The candidate is worse; the interval excludes no difference.
    Worse,
    /// The interval includes no difference.
    NoDifference {
        /// The smallest relative difference that could have been seen.
        smallest_seen: f64,
    },
    /// The data do not suffice; why, for people.
    NotYetJudged {
        /// The reason.
        why: String,
    },
}

/// A relative difference, candidate / baseline - 1, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The difference.
    pub relative: f64,
    /// Lower end.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
    /// Pairs of sessions behind it.
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
    /// Better where the brackets do not touch, else not yet judged.
    pub verdict: Verdict,
    /// As in [`Comparison`].
    pub remark: Option<String>,
}

/// Baseline against candidate at one level: paired by session, moving-block bootstrap over sessions in order of arrival.
pub fn compare_points(baseline: &[Score], candidate: &[Score], level: Level, metric: Metric, percentile: f64, seed: u64) -> Comparison {
    let _ = (baseline, candidate, level, metric, percentile, seed);
    todo!("measure helper")
}

/// The difference in attainment (percentage points / 100, in `relative`) at one level, paired by session.
pub fn compare_attainment(baseline: &[Score], candidate: &[Score], slo: &Slo, seed: u64) -> (Option<Difference>, Verdict) {
    let _ = (baseline, candidate, slo, seed);
    todo!("measure helper")
}

/// Two ceilings against each other.
pub fn compare_ceilings(baseline: Ceiling, candidate: Ceiling) -> CeilingComparison {
    let _ = (baseline, candidate);
    todo!("measure helper")
}
