//! What earlier runs of the same say of a new one: a baseline per key, the noise between runs, and when it changed.
//!
//! One key is one engine, model, hardware, workload and operating point. How much two runs of it differ by themselves is
//! learned from them, not assumed; a change that lasts begins a new baseline.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::compare::Noise;
use crate::knobs::{Facts, SEEN, Source};
use crate::slo::Metric;
use crate::units::Level;

mod band; // the noise between runs
mod changes; // when it changed

pub use band::{Band, band};
pub use changes::changes;

/// Runs since the last change that a verdict needs.
pub const FEWEST: usize = 5;
/// The latest runs that are looked at.
pub const MOST: usize = 200;
/// The fact that history watches: runs of several versions are one history.
const WATCHED: &str = "version";

/// What is measured at an operating point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// A percentile of a latency; less is better.
    Latency(Metric, f64),
    /// The ceiling by attainment; more is better.
    Ceiling,
}

/// What makes two runs runs of the same. Two keys are the same history when they are equal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// Facts by name, the engine's version left out; what nobody tells is `unknown` and taken to be the same.
    pub facts: BTreeMap<String, String>,
    /// The operating point and what is measured there, e.g. `8 tpot p50` or `ceiling`.
    pub point: String,
}

impl Key {
    /// The key of a figure at a level (`None` for what belongs to the whole curve). `facts` hold what was asked (workload,
    /// arrival, lengths) beside what is known of the engine.
    pub fn of(facts: &Facts, level: Option<Level>, figure: Figure) -> Self {
        let told = |(name, fact): (&String, &crate::knobs::Fact)| {
            let value = match fact.source {
                Source::Unknown => "unknown",
                Source::Engine | Source::Declared => fact.value.trim(),
            };
            (name.clone(), value.to_owned())
        };
        let kept = |name: &str| name != WATCHED && !name.starts_with(SEEN);
        let level = level.map(|level| format!("{level} ")).unwrap_or_default();
        let figure = match figure {
            Figure::Latency(metric, percentile) => format!("{metric} p{percentile}"),
            Figure::Ceiling => "ceiling".to_owned(),
        };
        Self {
            facts: facts
                .iter()
                .filter(|(name, _)| kept(name))
                .map(told)
                .collect(),
            point: format!("{level}{figure}"),
        }
    }
}

/// One run of a key.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When it ran, in milliseconds since 1970.
    pub at_ms: i64,
    /// The figure, above zero.
    pub value: f64,
    /// Its own standard error over its value, as its requests tell; 0 where nobody knows.
    pub error: f64,
}

/// What a new run is held to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// The share by which it may be worse; without it, no worse than runs of the same are.
    pub allowed: Option<f64>,
    /// Without `allowed`: the largest change for the worse, as a share, that may stay unseen in a run that passes.
    pub blind: f64,
}

impl Bar {
    /// The blind spot that nobody stated: the field's "over 30 % it smells of a mistake", which no passing run may hide.
    pub const BLIND: f64 = 0.3;
}

impl Default for Bar {
    fn default() -> Self {
        None.into()
    }
}

impl From<Option<f64>> for Bar {
    fn from(allowed: Option<f64>) -> Self {
        Self {
            allowed,
            blind: Self::BLIND,
        }
    }
}

/// What a new run is against its history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// No worse than runs of the same are, or than was allowed.
    Pass,
    /// Worse.
    Fail,
    /// Cannot tell; why, for people.
    Indeterminate {
        /// The reason, and what would tell.
        why: String,
    },
}

/// A new run judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regression {
    /// The outcome.
    pub outcome: Outcome,
    /// New over baseline - 1, with the interval in which runs of the same lie 99 times in 100; `None` without a baseline.
    pub change: Option<Change>,
    /// Runs since the last change, on which the baseline rests.
    pub runs: u32,
    /// Surely better than the baseline.
    pub improved: bool,
}

/// A change against a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// New over baseline - 1.
    pub relative: f64,
    /// Its lower end.
    pub lo: f64,
    /// Its upper end.
    pub hi: f64,
    /// The smallest change that would be seen four times in five.
    pub smallest_seen: f64,
}

/// The runs since the last change, of the latest [`MOST`], in order of time.
pub fn current(entries: &[Entry]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = entries
        .iter()
        .copied()
        .filter(|entry| 0.0 < entry.value && entry.value.is_finite())
        .collect();
    entries.sort_by_key(|entry| entry.at_ms);
    let entries = entries.split_off(entries.len().saturating_sub(MOST));
    let last = changes(&entries).last().copied().unwrap_or(0);
    entries[last..].to_vec()
}

/// What history knows of the noise between runs, for comparisons; `None` from fewer than [`FEWEST`] runs.
pub fn noise(entries: &[Entry]) -> Option<Noise> {
    let band = band(&current(entries))?;
    Some(Noise {
        deviation: band.deviation,
        freedom: band.freedom,
    })
}

/// Judges a new run by the runs before it. Without `allowed` it fails where it lies outside what runs of the same differ by
/// (1 in 100 does by chance, half of them on the worse side), and passes only where a change beyond the blind spot would have been seen
/// or surely is not there. With `allowed`, the share by which it may be worse, it passes only
/// where it surely is no worse than that, and fails where it surely is worse and by more than that.
pub fn judge(before: &[Entry], new: Entry, figure: Figure, bar: impl Into<Bar>) -> Regression {
    judge_among(before, new, figure, bar.into(), 1)
}

/// The same for one of so many figures that are judged `together`: each asks for one in a hundred over their number (Bonferroni).
/// docs/comparing.md says how often any of them fails without a change.
pub fn judge_among(
    before: &[Entry],
    new: Entry,
    figure: Figure,
    bar: Bar,
    together: usize,
) -> Regression {
    let current = current(before);
    let runs = current.len() as u32;
    let changed = before
        .iter()
        .any(|it| current.first().is_some_and(|first| it.at_ms < first.at_ms));
    let Some(band) = band(&current).filter(|_| 0.0 < new.value) else {
        return Regression {
            outcome: Outcome::Indeterminate {
                why: too_few(runs, changed),
            },
            change: None,
            runs,
            improved: false,
        };
    };
    let change = band.change(new, together);
    // How much worse, with its ends in that order.
    let (worse, least, most) = match figure {
        Figure::Latency(..) => (change.relative, change.lo, change.hi),
        Figure::Ceiling => (-change.relative, -change.hi, -change.lo),
    };
    let outcome = match outcome((worse, least, most), change, bar.allowed) {
        Outcome::Pass if bar.allowed.is_none() && bar.blind < most.min(unseen(change, figure)) => {
            Outcome::Indeterminate {
                why: blind(unseen(change, figure), bar.blind),
            }
        }
        other => other,
    };
    Regression {
        outcome,
        change: Some(change),
        runs,
        improved: most < 0.0,
    }
}

/// The largest change for the worse that may have stayed unseen, as a share of the baseline.
pub fn unseen(change: Change, figure: Figure) -> f64 {
    match figure {
        Figure::Latency(..) => change.smallest_seen,
        Figure::Ceiling => change.smallest_seen / (1.0 + change.smallest_seen),
    }
}

fn blind(unseen: f64, most: f64) -> String {
    format!(
        "a change of up to {:.0} % for the worse could have stayed unseen, beyond a blind spot of {:.0} %; more runs of the same, or longer \
         points, make it smaller",
        unseen * 100.0,
        most * 100.0
    )
}

fn too_few(runs: u32, changed: bool) -> String {
    match (FEWEST as u32).checked_sub(runs) {
        None | Some(0) => "the new run has no value".to_owned(),
        Some(more) if runs == 0 => format!(
            "there is no earlier run of the same yet: from {more} on it can be told what two runs differ by"
        ),
        Some(more) => {
            let plural = if runs == 1 { "" } else { "s" };
            let which = if changed {
                format!("{runs} run{plural} of the same since the last change")
            } else {
                format!("{runs} earlier run{plural} of the same")
            };
            format!(
                "{which}, void ones not counted; {more} more would tell what two runs differ by"
            )
        }
    }
}

fn outcome((worse, least, most): (f64, f64, f64), change: Change, allowed: Option<f64>) -> Outcome {
    match allowed {
        None if 0.0 < least => Outcome::Fail,
        None => Outcome::Pass,
        Some(allowed) if 0.0 < least && allowed < worse => Outcome::Fail,
        Some(allowed) if most <= allowed => Outcome::Pass,
        Some(allowed) => Outcome::Indeterminate {
            why: format!(
                "{:.1} % could hide in what runs of the same differ by; from {:.1} % on it would be seen, with more repeats from less",
                allowed * 100.0,
                change.smallest_seen * 100.0
            ),
        },
    }
}

#[cfg(test)]
mod bars; // what regressions promise
#[cfg(test)]
mod tests;
