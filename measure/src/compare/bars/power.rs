//! Differences that are there: how often they are found, and how often by one who knows the true standard error.

use crate::compare::together::first_threshold;
use crate::compare::{Difference, Pooled, Verdict};
use crate::slo::{Metric, Slo};

use super::draws::{Engine, Study};
use super::null::{compared, is_claim};
use super::{Bar, FULL, Row};

/// The least share of studies in which 10 % are found.
const LEAST: f64 = 0.8;
/// The most that an oracle may find more.
const BEHIND: f64 = 0.05;

/// A study, and what of it is looked at.
struct Case {
    name: &'static str,
    /// How far the difference swings from study to study (the standard deviation of its logarithm), over 1,000 of them.
    swing: f64,
    study: Study,
    of: fn(&Pooled) -> (Option<Difference>, &Verdict),
}

pub(super) fn rows(count: u32) -> Vec<Row> {
    cases()
        .enumerate()
        .flat_map(|(at, case)| {
            let found = found(&case, count);
            let least = if at < 2 {
                Bar::AtLeast(LEAST)
            } else {
                Bar::None
            };
            // Noise between runs that is not there has to be learned not to be: what that costs is shown.
            let behind = if case.study.repeats == 1 {
                Bar::AtMost(BEHIND)
            } else {
                Bar::None
            };
            let name = |what: &str| format!("verdicts: {what}, {}", case.name);
            [
                Row::new(name("found"), count, found.share, least),
                Row {
                    variance: found.apart,
                    ..Row::new(name("behind an oracle"), count, found.behind, behind)
                },
            ]
        })
        .collect()
}

fn cases() -> impl Iterator<Item = Case> {
    of_points().into_iter().chain(of_more())
}

/// Everywhere the same difference of 10 %, unless a case says otherwise.
const SLOWER: Study = Study {
    pace: 1.1,
    ..Study::PLAIN
};

/// At one rate.
fn of_points() -> [Case; 5] {
    let slower = SLOWER;
    let apart = Engine {
        common: 0.0,
        ..Engine::ALONE
    };
    let queue = Study {
        engine: Engine::QUEUE,
        rates: &[7.0],
        slow: 1.06,
        ..Study::PLAIN
    };
    [
        Case {
            name: "10 % of TPOT p50, 500 pairs that are half alike",
            swing: 0.0189,
            study: slower,
            of: |pooled| latency(pooled, Metric::Tpot, 50.0),
        },
        Case {
            name: "10 % of TPOT p50, 500 pairs that have nothing in common",
            swing: 0.0236,
            study: Study {
                engine: apart,
                ..slower
            },
            of: |pooled| latency(pooled, Metric::Tpot, 50.0),
        },
        Case {
            name: "7 % of TPOT p50, two samples of 500",
            swing: 0.0231,
            study: Study {
                alike: false,
                pace: 1.07,
                ..slower
            },
            of: |pooled| latency(pooled, Metric::Tpot, 50.0),
        },
        Case {
            name: "10 % of TPOT p95, 500 pairs",
            swing: 0.0372,
            study: slower,
            of: |pooled| latency(pooled, Metric::Tpot, 95.0),
        },
        Case {
            name: "6 % of work, TTFT p50 in a queue, 500 pairs",
            swing: 0.258,
            study: queue,
            of: |pooled| latency(pooled, Metric::Ttft, 50.0),
        },
    ]
}

/// Of shares, along the curve, and over repeats.
fn of_more() -> [Case; 3] {
    let slower = SLOWER;
    [
        Case {
            name: "8 % of pace, attainment, 500 pairs",
            swing: 0.0252,
            study: Study {
                pace: 1.08,
                ..slower
            },
            of: |pooled| {
                let (_, difference, verdict) = &pooled.attainment[0];
                (*difference, verdict)
            },
        },
        Case {
            name: "3 % of TPOT p50 along 4 rates of 500 pairs",
            swing: 0.00965,
            study: Study {
                pace: 1.03,
                rates: &[1.0, 2.0, 3.0, 4.0],
                ..slower
            },
            of: |pooled| {
                let along = pooled.along.iter();
                let mut found = along
                    .filter(|it| (it.metric, it.percentile) == (Some(Metric::Tpot), Some(50.0)));
                let one = found.next_back().expect("along");
                (Some(one.difference), &one.verdict)
            },
        },
        Case {
            name: "5 % of TPOT p50, 2 repeats of 500 pairs at each of 4 rates",
            swing: 0.0138,
            study: Study {
                pace: 1.05,
                repeats: 2,
                rates: &[1.0, 2.0, 3.0, 4.0],
                ..slower
            },
            of: |pooled| latency(pooled, Metric::Tpot, 50.0),
        },
    ]
}

fn latency(pooled: &Pooled, metric: Metric, p: f64) -> (Option<Difference>, &Verdict) {
    let found = pooled
        .latencies
        .iter()
        .find(|one| one.metric == metric && one.percentile == p);
    let one = found.expect("compared");
    (one.difference, &one.verdict)
}

/// How often a difference is found.
struct Found {
    share: f64,
    /// By how much more often an oracle finds it: one that knows how far the same difference swings from study to study, and
    /// takes the first of Holm's thresholds.
    behind: f64,
    /// In which share of studies only one of the two does.
    apart: f64,
}

fn found(case: &Case, count: u32) -> Found {
    let slo: Slo = "tpot<10ms attain>=50%".parse().expect("slo");
    let (mut tried, mut counted) = (Vec::new(), 1);
    for seed in 0..u64::from(count) {
        let made = case.study.make(2_000_000 + seed);
        let pooled = compared(&case.study, &made, &slo);
        let (difference, verdict) = (case.of)(&pooled);
        tried.push((difference.map(|it| it.relative.ln_1p()), is_claim(verdict)));
        counted = counted.max(pooled.counted);
    }
    let swing = if count < FULL {
        case.swing
    } else {
        deviation(
            &tried
                .iter()
                .filter_map(|(value, _)| *value)
                .collect::<Vec<f64>>(),
        )
    };
    let threshold = first_threshold(counted as usize) * swing;
    let seen = |value: Option<f64>| value.is_some_and(|value| threshold < value.abs());
    let share = |holds: &dyn Fn(Option<f64>, bool) -> bool| {
        let held = tried.iter().filter(|(value, claim)| holds(*value, *claim));
        held.count() as f64 / f64::from(count)
    };
    let found = share(&|_, claim| claim);
    // Where nothing was judged an oracle finds as much as elsewhere.
    let judged = share(&|value, _| value.is_some());
    Found {
        share: found,
        behind: share(&|value, _| seen(value)) / judged - found,
        apart: share(&|value, claim| seen(value) != claim),
    }
}

fn deviation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    (squares / (values.len() - 1) as f64).sqrt()
}
