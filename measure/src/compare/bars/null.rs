//! Configurations without a difference: any better or worse in a study, of whatever it is, is one false alarm.

use crate::arrival::Arrival;
use crate::certificate::Innocence;
use crate::compare::{
    Against, CeilingComparison, Drift, LevelRuns, Pooled, Run, Verdict, compare_all,
    compare_ceilings_apart,
};
use crate::curve::{By, Ceiling, CurvePoint, ceiling};
use crate::knobs::Comparability;
use crate::quantile::{Indicator, Proportion};
use crate::slo::{Good, Judgement, Keeps, Slo};
use crate::units::{Level, Rate};

use super::draws::{Engine, Made, Speed, Study};
use super::{Bar, Row};

/// The highest share of studies with a false alarm.
const MOST: f64 = 0.065;

/// Rates from idle to nearly full: 4 servers do 10 / 1.13 a second.
const RATES: &[f64] = &[2.0, 4.0, 6.0, 7.5];

pub(super) fn rows(count: u32) -> Vec<Row> {
    let steady = steady().map(|(name, study)| (name, study, Bar::AtMost(MOST)));
    let by_repeats = by_repeats().map(|(name, study)| (name, study, Bar::AtMost(MOST)));
    let heaped = heaped().map(|(name, study)| (name, study, Bar::AtMost(MOST)));
    let rows = steady.into_iter().chain(by_repeats).chain(heaped);
    let rows = rows.chain(drifting());
    rows.map(|(name, study, bar)| {
        let figure = false_alarms(&study, count);
        Row::new(format!("verdicts: {name}"), count, figure, bar)
    })
    .collect()
}

/// On machines that keep their speed.
fn steady() -> [(&'static str, Study); 6] {
    let alone = Study {
        rates: RATES,
        ..Study::PLAIN
    };
    let queue = Study {
        engine: Engine::QUEUE,
        ..alone
    };
    let turns = Study {
        engine: Engine {
            turns: 3,
            servers: 12,
            ..Engine::QUEUE
        },
        sessions: 200,
        ..alone
    };
    let unpaired = |study: Study| Study {
        alike: false,
        ..study
    };
    [
        ("no difference: independent, paired, 4 rates", alone),
        ("no difference: independent, unpaired", unpaired(alone)),
        ("no difference: queue, paired", queue),
        ("no difference: queue, unpaired", unpaired(queue)),
        ("no difference: sessions of 3 turns in a queue", turns),
        ("no difference: queue, 2 repeats", repeated()),
    ]
}

fn repeated() -> Study {
    Study {
        rates: RATES,
        engine: Engine::QUEUE,
        repeats: 2,
        sessions: 300,
        ..Study::PLAIN
    }
}

/// Where requests hang together so long that repeats must judge.
fn by_repeats() -> [(&'static str, Study); 2] {
    [
        (
            "no difference: 6 repeats that become three times as slow, unpaired",
            slowing(),
        ),
        (
            "no difference: 6 repeats whose requests hang together long",
            wandering(),
        ),
    ]
}

/// Six repeats, each of which is three times as slow at its end: no percentile of either can be told from its requests.
fn slowing() -> Study {
    Study {
        rates: RATES,
        engine: Engine {
            heat: 2.0,
            ..Engine::ALONE
        },
        repeats: 6,
        sessions: 150,
        alike: false,
        ..Study::PLAIN
    }
}

/// Six repeats in which what neighbours have in common is gone after a hundred of them.
fn wandering() -> Study {
    Study {
        engine: Engine {
            memory: 0.98,
            common: 0.1,
            ..Engine::ALONE
        },
        alike: true,
        ..slowing()
    }
}

/// Latencies in heaps with nothing between: a percentile lies in one or the other by chance.
fn heaped() -> [(&'static str, Study); 6] {
    let of = |heap: f64| Study {
        engine: Engine {
            sigma: 0.05,
            heap,
            ..Engine::ALONE
        },
        ..Study::PLAIN
    };
    let coarse = Engine {
        coarse: true,
        ..Engine::ALONE
    };
    [
        ("no difference: 1 of 20 forty times as slow", of(0.05)),
        (
            "no difference: 1 of 20 forty times as slow, 4 rates",
            Study {
                rates: RATES,
                ..of(0.05)
            },
        ),
        (
            "no difference: 1 of 20 forty times as slow, unpaired, 2,000 requests",
            Study {
                alike: false,
                sessions: 2000,
                ..of(0.05)
            },
        ),
        (
            "no difference: 1 of 20 forty times as slow, 2 repeats",
            Study {
                repeats: 2,
                ..of(0.05)
            },
        ),
        ("no difference: half forty times as slow", of(0.5)),
        (
            "no difference: latencies in coarse steps",
            Study {
                engine: coarse,
                ..Study::PLAIN
            },
        ),
    ]
}

/// On machines that do not.
fn drifting() -> [(&'static str, Study, Bar); 8] {
    let moving = |speed: Speed| Study {
        speed,
        ..repeated()
    };
    let single = Study {
        repeats: Study::PLAIN.repeats,
        sessions: Study::PLAIN.sessions,
        ..moving(Speed::Drifting(0.1))
    };
    let bar = Bar::AtMost(MOST);
    [
        (
            "no difference: queue, 2 repeats, A B B A, drift of 5 %",
            moving(Speed::Drifting(0.05)),
            bar,
        ),
        (
            "no difference: queue, 2 repeats, A B B A, drift of 30 %",
            moving(Speed::Drifting(0.3)),
            bar,
        ),
        (
            "no difference: queue, 2 repeats, A B B A, steps of 1 % a point",
            moving(Speed::Walking(0.01)),
            bar,
        ),
        (
            "no difference: queue, 2 repeats, A B B A, steps of 2 % a point",
            moving(Speed::Walking(0.02)),
            bar,
        ),
        (
            "no difference: queue, 2 repeats, A B B A, steps of 5 % a point",
            moving(Speed::Walking(0.05)),
            bar,
        ),
        (
            "no difference: independent, 2 repeats, A B B A, steps of 3 % a point",
            Study {
                engine: Engine::ALONE,
                ..moving(Speed::Walking(0.03))
            },
            bar,
        ),
        (
            "no difference: independent, 1 rate, 2 repeats, A B B A, steps of 5 % a point",
            Study {
                engine: Engine::ALONE,
                rates: &[4.0],
                ..moving(Speed::Walking(0.05))
            },
            bar,
        ),
        (
            "no difference: queue, 1 repeat, drift of 10 % that nothing shows",
            single,
            Bar::None,
        ),
    ]
}

fn false_alarms(study: &Study, count: u32) -> f64 {
    let slo: Slo = "ttft<1200ms tpot<16ms attain>=90%".parse().expect("slo");
    let alarms = (0..u64::from(count)).filter(|seed| {
        let made = study.make(1_000_000 + seed);
        let pooled = compared(study, &made, &slo);
        any(&pooled) || is_claim(&ceilings(study, &made, &slo, &pooled.drift).verdict)
    });
    alarms.count() as f64 / f64::from(count)
}

pub(super) fn is_claim(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Better | Verdict::Worse)
}

fn any(pooled: &Pooled) -> bool {
    let latencies = pooled.latencies.iter().map(|one| &one.verdict);
    let attainment = pooled.attainment.iter().map(|(.., verdict)| verdict);
    let along = pooled.along.iter().map(|one| &one.verdict);
    latencies.chain(attainment).chain(along).any(is_claim)
}

pub(super) fn level(rate: f64) -> Level {
    Level::Rate(Rate::try_from(rate).expect("a rate"))
}

/// The study as the page compares it.
pub(super) fn compared(study: &Study, made: &[Made], slo: &Slo) -> Pooled {
    let runs = |level: usize, candidate: bool| -> Vec<Run<'_>> {
        made.iter()
            .filter(|it| it.level == level && it.candidate == candidate)
            .map(|it| Run {
                repeat: it.repeat,
                started_ms: it.started_ms,
                scores: &it.scores,
            })
            .collect()
    };
    let levels = (0..study.rates.len()).map(|at| LevelRuns {
        level: level(study.rates[at]),
        baseline: runs(at, false),
        candidate: runs(at, true),
        no_latencies: None,
        nothing: None,
    });
    let against = Against {
        comparability: &Comparability::Identical,
        alike: study.alike,
        levels: levels.collect(),
        noise: Vec::new(),
    };
    compare_all(&[against], slo).remove(0)
}

fn ceilings(study: &Study, made: &[Made], slo: &Slo, drift: &Drift) -> CeilingComparison {
    let of = |candidate: bool| {
        let points: Vec<(f64, Judgement)> = made
            .iter()
            .filter(|it| it.candidate == candidate)
            .map(|it| (study.rates[it.level], judgement(it, slo)))
            .collect();
        ceiling_of(&points)
    };
    compare_ceilings_apart(of(false), of(true), drift.apart())
}

fn ceiling_of(points: &[(f64, Judgement)]) -> Ceiling {
    let points: Vec<CurvePoint<'_>> = points
        .iter()
        .map(|(rate, judgement)| CurvePoint {
            level: level(*rate),
            arrival: Arrival::default(),
            offered: Some(*rate),
            above_capacity: false,
            innocence: Innocence::Clean,
            judgement,
        })
        .collect();
    ceiling(&points, By::Attainment)
}

fn judgement(made: &Made, slo: &Slo) -> Judgement {
    let good: Indicator = made
        .scores
        .iter()
        .map(|score| slo.judge_request(score) == Good::Yes)
        .collect();
    let attainment = Proportion::of(&good).expect("requests");
    let by_attainment = match attainment {
        Proportion { lo, .. } if slo.attainment <= lo => Keeps::Surely,
        Proportion { hi, .. } if hi < slo.attainment => Keeps::SurelyNot,
        Proportion { value, .. } if slo.attainment <= value => Keeps::Probably,
        _ => Keeps::ProbablyNot,
    };
    Judgement {
        scheduled: good.len() as u32,
        good: good.ones() as u32,
        undetermined: 0,
        attainment: Some(attainment),
        target: slo.attainment,
        by_attainment,
        by_percentile: Keeps::CannotTell,
        bounds: Vec::new(),
        good_requests_per_s: None,
        good_tokens_per_s: None,
    }
}
