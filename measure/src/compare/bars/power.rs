//! Differences that are there: how often they are found, and how often by one who knows the true standard error.

use crate::compare::together::first_threshold;
use crate::compare::{Difference, Pooled, Verdict};
use crate::slo::{Metric, Slo};

use super::draws::{Engine, Study};
use super::null::{compared, is_claim};
use super::{Bar, Row};

/// The least share of studies in which 10 % are found.
const LEAST: f64 = 0.8;
/// The most that an oracle may find more.
const BEHIND: f64 = 0.05;

/// A study, and what of it is looked at.
struct Case {
    found: &'static str,
    behind: &'static str,
    study: Study,
    of: fn(&Pooled) -> (Option<Difference>, &Verdict),
}

pub(super) fn rows(count: u32) -> Vec<Row> {
    cases()
        .enumerate()
        .flat_map(|(at, case)| {
            let (found, oracle) = shares(&case, count);
            let bar = if at < 2 {
                Bar::AtLeast(LEAST)
            } else {
                Bar::None
            };
            [
                Row {
                    name: case.found,
                    count,
                    figure: found,
                    bar,
                },
                Row {
                    name: case.behind,
                    count,
                    figure: oracle - found,
                    // Noise between runs that is not there has to be learned not to be, and beyond a p95 lie few requests:
                    // what that costs is shown.
                    bar: if case.study.repeats == 1 && !case.behind.contains("p95") {
                        Bar::AtMost(BEHIND)
                    } else {
                        Bar::None
                    },
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
            found: "10 % found: TPOT p50, 500 pairs that are half alike",
            behind: "behind an oracle: TPOT p50, 500 pairs that are half alike",
            study: slower,
            of: |pooled| latency(pooled, Metric::Tpot, 50.0),
        },
        Case {
            found: "10 % found: TPOT p50, 500 pairs that have nothing in common",
            behind: "behind an oracle: TPOT p50, 500 pairs that have nothing in common",
            study: Study {
                engine: apart,
                ..slower
            },
            of: |pooled| latency(pooled, Metric::Tpot, 50.0),
        },
        Case {
            found: "7 % found: TPOT p50, two samples of 500",
            behind: "behind an oracle: TPOT p50, two samples of 500",
            study: Study {
                alike: false,
                pace: 1.07,
                ..slower
            },
            of: |pooled| latency(pooled, Metric::Tpot, 50.0),
        },
        Case {
            found: "10 % found: TPOT p95, 500 pairs",
            behind: "behind an oracle: TPOT p95, 500 pairs",
            study: slower,
            of: |pooled| latency(pooled, Metric::Tpot, 95.0),
        },
        Case {
            found: "6 % of work found: TTFT p50 in a queue, 500 pairs",
            behind: "behind an oracle: TTFT p50 in a queue, 500 pairs",
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
            found: "8 % of pace found: attainment, 500 pairs",
            behind: "behind an oracle: attainment, 500 pairs",
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
            found: "3 % found: TPOT p50 along 4 rates of 500 pairs",
            behind: "behind an oracle: TPOT p50 along 4 rates of 500 pairs",
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
            found: "5 % found: TPOT p50, 2 repeats of 500 pairs at each of 4 rates",
            behind: "behind an oracle: TPOT p50, 2 repeats of 500 pairs at each of 4 rates",
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

/// The shares of studies in which a difference is found: by its verdict, and by an oracle that knows how far the same
/// difference swings from study to study and takes the first of Holm's thresholds.
fn shares(case: &Case, count: u32) -> (f64, f64) {
    let slo: Slo = "tpot<10ms attain>=50%".parse().expect("slo");
    let (mut found, mut values, mut counted) = (0, Vec::new(), 1);
    for seed in 0..u64::from(count) {
        let made = case.study.make(2_000_000 + seed);
        let pooled = compared(&case.study, &made, &slo);
        let (difference, verdict) = (case.of)(&pooled);
        found += u32::from(is_claim(verdict));
        values.extend(difference.map(|it| it.relative.ln_1p()));
        counted = pooled.counted;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    let error = (squares / (values.len() - 1) as f64).sqrt();
    let threshold = first_threshold(counted as usize) * error;
    let oracle = values.iter().filter(|x| threshold < x.abs()).count();
    let share = |number: f64| number / f64::from(count);
    (share(f64::from(found)), share(oracle as f64))
}
