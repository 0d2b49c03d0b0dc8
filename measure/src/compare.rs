//! Two curves: same workload, one variable? The difference, its interval, the verdict.

use serde::{Deserialize, Serialize};

use crate::curve::Ceiling;
use crate::score::Score;
use crate::slo::{Metric, Slo};
use crate::units::{Level, three_digits};

mod attainment; // shares of good requests
mod latency; // percentiles
mod pairs; // the same sessions on both sides

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
/// Better means lower latency.
pub fn compare_points(
    baseline: &[Score],
    candidate: &[Score],
    level: Level,
    metric: Metric,
    percentile: f64,
    seed: u64,
) -> Comparison {
    let (difference, verdict) =
        match latency::difference(baseline, candidate, metric, percentile, seed) {
            Ok(difference) => (Some(difference), verdict(difference, Wanted::Less)),
            Err(why) => (None, Verdict::NotYetJudged { why }),
        };
    let remark = difference.and_then(|difference| remark(difference.relative));
    Comparison {
        level,
        metric,
        percentile,
        difference,
        verdict,
        remark,
    }
}

/// The difference in attainment (percentage points / 100, in `relative`) at one level, paired by session.
pub fn compare_attainment(
    baseline: &[Score],
    candidate: &[Score],
    slo: &Slo,
    seed: u64,
) -> (Option<Difference>, Verdict) {
    match attainment::difference(baseline, candidate, slo, seed) {
        Ok(difference) => (Some(difference), verdict(difference, Wanted::More)),
        Err(why) => (None, Verdict::NotYetJudged { why }),
    }
}

/// Two ceilings against each other. They differ for sure when one surely keeps the SLO where the other surely breaks it.
pub fn compare_ceilings(baseline: Ceiling, candidate: Ceiling) -> CeilingComparison {
    let (from, to) = (ends(baseline), ends(candidate));
    let difference = bracketed(baseline, candidate);
    let verdict = match (from, to) {
        ((_, Some(baseline_hi)), (Some(candidate_lo), _)) if baseline_hi <= candidate_lo => {
            Verdict::Better
        }
        ((Some(baseline_lo), _), (_, Some(candidate_hi))) if candidate_hi <= baseline_lo => {
            Verdict::Worse
        }
        _ if baseline == Ceiling::Ramped || candidate == Ceiling::Ramped => Verdict::NotYetJudged {
            why: "points of a ramp have no ceiling; measure at steady rates".into(),
        },
        _ => Verdict::NotYetJudged {
            why: overlap(from, to),
        },
    };
    CeilingComparison {
        difference,
        verdict,
        remark: difference.and_then(|difference| remark(difference.relative)),
    }
}

/// Rates that a ceiling surely lies above and below.
fn ends(ceiling: Ceiling) -> (Option<f64>, Option<f64>) {
    match ceiling {
        Ceiling::Bracket { lo, hi, .. } => (Some(lo), Some(hi)),
        Ceiling::AtLeast { lo } => (Some(lo), None),
        Ceiling::NoneKept { hi } => (None, Some(hi)),
        // Ends that contradict each other are no ends.
        Ceiling::Unresolved {
            lo: Some(lo),
            hi: Some(hi),
        } if hi <= lo => (None, None),
        Ceiling::Unresolved { lo, hi } => (lo, hi),
        Ceiling::Ramped => (None, None),
    }
}

fn bracketed(baseline: Ceiling, candidate: Ceiling) -> Option<Difference> {
    let (
        Ceiling::Bracket {
            value: from,
            lo: from_lo,
            hi: from_hi,
        },
        Ceiling::Bracket {
            value: to,
            lo: to_lo,
            hi: to_hi,
        },
    ) = (baseline, candidate)
    else {
        return None;
    };
    Some(Difference {
        relative: to / from - 1.0,
        lo: to_lo / from_hi - 1.0,
        hi: to_hi / from_lo - 1.0,
        pairs: 0,
    })
}

fn overlap(from: (Option<f64>, Option<f64>), to: (Option<f64>, Option<f64>)) -> String {
    let least = [from.0, to.0].into_iter().flatten().min_by(f64::total_cmp);
    let most = [from.1, to.1].into_iter().flatten().max_by(f64::total_cmp);
    match (least, most) {
        (Some(least), Some(most)) if least < most => format!(
            "The brackets overlap; rates between {} and {} would narrow them",
            three_digits(least),
            three_digits(most)
        ),
        (Some(least), None) => {
            format!(
                "No ceiling was found above {}; higher rates would find it.",
                three_digits(least)
            )
        }
        (None, Some(most)) => format!(
            "No rate surely kept the SLO; rates below {} would.",
            three_digits(most)
        ),
        _ => "No rate surely kept or broke the SLO; more requests at each rate would tell."
            .to_owned(),
    }
}

/// Which way is better.
#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    More,
    Less,
}

fn verdict(difference: Difference, wanted: Wanted) -> Verdict {
    let Difference {
        relative, lo, hi, ..
    } = difference;
    match wanted {
        Wanted::More if 0.0 < lo => Verdict::Better,
        Wanted::Less if 0.0 < lo => Verdict::Worse,
        Wanted::More if hi < 0.0 => Verdict::Worse,
        Wanted::Less if hi < 0.0 => Verdict::Better,
        _ => Verdict::NoDifference {
            smallest_seen: (hi - relative).max(relative - lo),
        },
    }
}

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
mod tests;
