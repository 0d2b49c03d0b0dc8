//! How much higher one percentile is than another.
//!
//! The question is turned round, as for a percentile's own interval: multiply the baseline's latencies by a factor and ask
//! whether as many of them as of the candidate's lie above the percentile of both. The factors that pass are the interval.

use crate::quantile::{Sample, needed_for, percentile_linear};
use crate::score::Score;
use crate::slo::{Metric, value};

use super::sessions::{Session, Sides};
use super::shares::{self, ShareDifference, Tallies, Tally};
use super::student::from_normal;
use super::{Learned, Measured};

/// Logarithm of the largest factor looked at: 16.
const FARTHEST: f64 = 2.77;

/// No difference lies so much nearer by its own test than by the interval's end: there are heaps. What is less is the curve of the
/// test between the two.
const HEAPS: f64 = 1.25;

/// ln(candidate / baseline) with its standard errors; why not, where the data do not suffice. Where requests hang together so
/// long that they cannot tell how sure they are, repeats may.
pub(super) fn measured(
    sides: &Sides<'_>,
    metric: Metric,
    p: f64,
    sure: f64,
) -> Result<Measured, String> {
    let from = Column::new(&sides.baseline, metric);
    let to = Column::new(&sides.candidate, metric);
    let old = from.percentile("baseline", (metric, p), sure)?;
    let new = to.percentile("candidate", (metric, p), sure)?;
    let log = (new / old).ln();
    let spread = difference(&from, &to, log, p, sides.paired).spread;
    let (found, in_heaps) = by_requests(sides, (&from, &to), (p, log), sure, spread.freedom);
    // What pairs share is no memory of their differences, whose own worth is looked at.
    let worth = if sides.paired {
        Ok(())
    } else {
        let baseline = from.worth("baseline", p, sure);
        baseline.and_then(|()| to.worth("candidate", p, sure))
    };
    let runs = from.runs.len().max(to.runs.len());
    match worth.and_then(|()| spread.judgeable()) {
        Ok(()) if found.is_bounded(sure) && !in_heaps => Ok(found),
        Ok(()) => Ok(found.clone().by_repeats(runs).unwrap_or(found)),
        Err(why) => found.by_repeats(runs).ok_or(why),
    }
}

impl Measured {
    /// Whether requests tell both ends of the interval.
    fn is_bounded(&self, sure: f64) -> bool {
        let wide = from_normal(sure, self.freedom) * self.below.max(self.above);
        wide < 0.999 * FARTHEST
    }
}

/// The errors are read off at `sure` of them, where the ends of the interval lie: the gaps between neighbouring latencies at
/// the centre say less. And whether latencies lie in heaps, so that the end towards no difference is that of its own test.
fn by_requests(
    sides: &Sides<'_>,
    (from, to): (&Column, &Column),
    (p, value): (f64, f64),
    sure: f64,
    freedom: f64,
) -> (Measured, bool) {
    let reach = |down: f64| {
        let away = |by: f64| down * difference(from, to, value - down * by, p, sides.paired).z();
        reach(sure, away) / from_normal(sure, freedom)
    };
    let (mut below, mut above) = (reach(1.0), reach(-1.0));
    let none = value.abs() / none_at_all(sides, (from, to), (p, value), freedom);
    let toward = if 0.0 < value { &mut below } else { &mut above };
    let in_heaps = HEAPS * *toward < none;
    if in_heaps {
        *toward = none;
    }
    let found = Measured {
        value,
        below,
        above,
        bias: 0.0,
        freedom,
        pairs: sides.pairs(),
        repeats: repeats(from, to, p),
        learned: Learned::Nothing,
    };
    (found, in_heaps)
}

/// How many standard errors no difference lies away, by its own test. Where no latencies lie between two heaps of them, the
/// factors that pass are no interval around the factor seen: a percentile falls into one heap or the other by chance, and one
/// heap made as slow as the other fits neither.
fn none_at_all(
    sides: &Sides<'_>,
    (from, to): (&Column, &Column),
    (p, value): (f64, f64),
    freedom: f64,
) -> f64 {
    const LEAST: f64 = 0.1;
    let z = difference(from, to, 0.0, p, sides.paired).z() * value.signum();
    from_normal(z.max(LEAST), freedom)
}

/// ln(percentile) of one side against another of the same configuration: for drift.
pub(super) fn of_halves(
    first: Vec<Vec<Session<'_>>>,
    second: Vec<Vec<Session<'_>>>,
    metric: Metric,
    sure: f64,
) -> Result<Measured, String> {
    let sides = Sides {
        baseline: first,
        candidate: second,
        paired: false,
    };
    measured(&sides, metric, 50.0, sure)
}

/// How many more of the candidate's requests than of the baseline's, made `exp(log)` times as slow, lie above the percentile
/// of both.
fn difference(from: &Column, to: &Column, log: f64, p: f64, paired: bool) -> ShareDifference {
    let factor = log.exp();
    let line = line(&from.sorted, factor, &to.sorted, p);
    let (from, to) = (from.above(line / factor), to.above(line));
    if paired {
        shares::paired(&from, &to)
    } else {
        shares::unpaired(&from, &to)
    }
}

/// How far out `z`, which grows with the distance, comes to `sure`.
fn reach(sure: f64, z: impl Fn(f64) -> f64) -> f64 {
    let (mut near, mut far) = (0.0, 0.01);
    while z(far) < sure && far < FARTHEST {
        near = far;
        far = (2.0 * far).min(FARTHEST);
    }
    for _ in 0..10 {
        let middle = (near + far) / 2.0;
        if z(middle) < sure {
            near = middle;
        } else {
            far = middle;
        }
    }
    far
}

/// The order statistic at or below percentile `p` of both together, the first times `factor`.
fn line(first: &[f64], factor: f64, second: &[f64], p: f64) -> f64 {
    let rank = (p * (first.len() + second.len() - 1) as f64 / 100.0) as usize;
    // How many of the first are among the `rank` smallest: the least for which the next of the second is not smaller.
    let (mut lo, mut hi) = (rank.saturating_sub(second.len()), rank.min(first.len()));
    while lo < hi {
        let middle = (lo + hi) / 2;
        let other = rank - middle;
        if 0 < other && first[middle] * factor < second[other - 1] {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    let next = |side: &[f64], at: usize, by: f64| side.get(at).map_or(f64::INFINITY, |x| x * by);
    next(first, lo, factor).min(next(second, rank - lo, 1.0))
}

/// One side's values.
struct Column {
    /// Session after session, run after run.
    values: Vec<f64>,
    /// Where each session's values end.
    ends: Vec<usize>,
    /// Sessions of each run.
    runs: Vec<usize>,
    sorted: Vec<f64>,
    in_order: Vec<f64>,
}

impl Column {
    fn new(runs: &[Vec<Session<'_>>], metric: Metric) -> Self {
        let (mut values, mut ends, mut by_arrival) = (Vec::new(), Vec::new(), Vec::new());
        for (run, sessions) in runs.iter().enumerate() {
            for session in sessions {
                for score in session {
                    if let Some(latency) = latency(score, metric) {
                        values.push(latency);
                        by_arrival.push((run, score.scheduled, latency));
                    }
                }
                ends.push(values.len());
            }
        }
        by_arrival.sort_by_key(|(run, at, _)| (*run, *at));
        let mut sorted = values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        Self {
            values,
            ends,
            runs: runs.iter().map(Vec::len).collect(),
            sorted,
            in_order: by_arrival
                .into_iter()
                .map(|(.., latency)| latency)
                .collect(),
        }
    }

    /// The percentile over everything, where so many requests could tell it were they independent.
    fn percentile(&self, side: &str, (metric, p): (Metric, f64), sure: f64) -> Result<f64, String> {
        let value = percentile_linear(&self.sorted, p)
            .ok_or_else(|| format!("The {side} has no {metric} at all."))?;
        if value.is_infinite() {
            return Err(format!(
                "Failed requests reach into the {side}'s {metric} p{p}; compare attainment instead."
            ));
        }
        if value == 0.0 {
            return Err(format!(
                "The {side}'s {metric} p{p} is zero: it has no relative difference."
            ));
        }
        self.enough(side, p, sure, self.values.len() as f64)?;
        Ok(value)
    }

    /// Why not, where its requests are worth too few: what each run is worth, taken together, since what runs differ by is not
    /// what requests of a run hang together by.
    fn worth(&self, side: &str, p: f64, sure: f64) -> Result<(), String> {
        let of = |run: &[f64]| {
            Sample::new(run.to_vec())
                .estimate(p)
                .map(|(_, worth)| worth)
        };
        let worth = self.by_arrival().filter_map(of).sum();
        self.enough(side, p, sure, worth)
    }

    fn enough(&self, side: &str, p: f64, sure: f64, worth: f64) -> Result<(), String> {
        let needed = needed_for(p).max(needed_beyond(p, sure));
        if f64::from(needed) <= worth {
            return Ok(());
        }
        Err(format!(
            "A p{p} needs {needed} independent requests here; the {side}'s {} are worth {}.",
            self.in_order.len(),
            worth as u32
        ))
    }

    /// Each run's values in order of arrival.
    fn by_arrival(&self) -> impl Iterator<Item = &[f64]> {
        let mut from = 0;
        self.ends_of_runs().map(move |end| {
            let run = &self.in_order[from..end];
            from = end;
            run
        })
    }

    /// Where each run's values end.
    fn ends_of_runs(&self) -> impl Iterator<Item = usize> {
        let mut sessions = 0;
        self.runs.iter().map(move |count| {
            sessions += count;
            sessions.checked_sub(1).map_or(0, |last| self.ends[last])
        })
    }

    /// How many of each session's values lie above a line.
    fn above(&self, line: f64) -> Tallies<'_> {
        let mut from = 0;
        let tally = |end: &usize| {
            let values = &self.values[from..*end];
            from = *end;
            Tally {
                hits: values.iter().map(|value| u32::from(line < *value)).sum(),
                all: values.len() as u32,
            }
        };
        Tallies {
            sessions: self.ends.iter().map(tally).collect(),
            runs: &self.runs,
        }
    }

    /// The percentile of each run by itself.
    fn by_run(&self, p: f64) -> Vec<Option<f64>> {
        let of = |run: &[f64]| {
            let mut values = run.to_vec();
            values.sort_unstable_by(f64::total_cmp);
            percentile_linear(&values, p).filter(|value| 0.0 < *value && value.is_finite())
        };
        self.by_arrival().map(of).collect()
    }
}

/// How many requests each side needs so that a difference can be `sure` at all: were everything beyond the percentile of
/// both on one side, k requests, it would be sure to k / sqrt(k + 2).
fn needed_beyond(p: f64, sure: f64) -> u32 {
    let beyond = 2.0 * (1.0 - p / 100.0).min(p / 100.0);
    ((sure * sure + 2.0) / beyond).ceil() as u32
}

/// The difference of each repeat by itself.
fn repeats(from: &Column, to: &Column, p: f64) -> Vec<f64> {
    if from.runs.len().min(to.runs.len()) < 2 {
        return Vec::new();
    }
    let pairs = from.by_run(p).into_iter().zip(to.by_run(p));
    pairs
        .filter_map(|(old, new)| Some((new? / old?).ln()))
        .collect()
}

/// A request's value; a failed one is infinite.
fn latency(score: &Score, metric: Metric) -> Option<f64> {
    if score.is_ok() {
        value(score, metric).map(|nanos| nanos.0 as f64)
    } else {
        Some(f64::INFINITY)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_line_is_the_order_statistic_of_both(
            mut first in prop::collection::vec(1u32..60, 1..40),
            mut second in prop::collection::vec(1u32..60, 1..40),
            p in 0.5f64..99.5,
        ) {
            first.sort_unstable();
            second.sort_unstable();
            let floats = |side: &[u32]| side.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>();
            let (first, second) = (floats(&first), floats(&second));
            let mut all: Vec<f64> = first.iter().map(|x| x * 1.5).chain(second.iter().copied()).collect();
            all.sort_by(f64::total_cmp);
            let rank = (p * (all.len() - 1) as f64 / 100.0) as usize;
            prop_assert_eq!(line(&first, 1.5, &second, p), all[rank]);
        }
    }
}
