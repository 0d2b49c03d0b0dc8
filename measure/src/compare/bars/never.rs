//! Confounded pairs never get a verdict, however much their latencies differ.

use crate::compare::{Against, LevelRuns, Run, compare_all};
use crate::knobs::{Comparability, Fact, Facts, MUST_BE_TOLD, Source, comparability};
use crate::sampling::Draws;
use crate::slo::Slo;

use super::draws::{Made, Study};
use super::null::level;
use super::{Bar, Row};

pub(super) fn rows(count: u32) -> Vec<Row> {
    let study = Study {
        pace: 3.0,
        sessions: 100,
        ..Study::PLAIN
    };
    let made = study.make(3);
    let verdicts = (0..u64::from(count))
        .map(confounded)
        .filter(|comparability| has_verdict(comparability, &made));
    vec![Row::new(
        "verdicts: confounded pairs with one".to_owned(),
        count,
        verdicts.count() as f64 / f64::from(count),
        Bar::AtMost(0.0),
    )]
}

fn run(made: &Made) -> Run<'_> {
    Run {
        repeat: 0,
        started_ms: made.started_ms,
        scores: &made.scores,
    }
}

/// Two configurations that differ in two things at least, or in one that only one of them tells.
fn confounded(seed: u64) -> Comparability {
    let mut draws = Draws::new(seed);
    let fact = |value: &str, source| Fact {
        value: value.to_owned(),
        source,
    };
    let names = MUST_BE_TOLD
        .into_iter()
        .chain(["knob:a", "knob:b", "workload"]);
    let one: Facts = names
        .map(|name| (name.to_owned(), fact("1", Source::Engine)))
        .collect();
    let mut other = one.clone();
    let places: Vec<String> = one
        .keys()
        .filter(|name| *name != "engine")
        .cloned()
        .collect();
    let first = draws.below(places.len());
    let second = (first + 1 + draws.below(places.len() - 1)) % places.len();
    if draws.uniform() < 0.5 {
        other.insert(places[first].clone(), fact("2", Source::Declared));
        other.insert(places[second].clone(), fact("2", Source::Engine));
    } else if draws.uniform() < 0.5 {
        other.remove(&places[first]);
    } else {
        other.insert(places[first].clone(), fact("", Source::Unknown));
    }
    comparability(&one, &other)
}

fn has_verdict(comparability: &Comparability, made: &[Made]) -> bool {
    assert!(
        matches!(comparability, Comparability::Confounded { .. }),
        "{comparability:?}"
    );
    let against = Against {
        comparability,
        alike: true,
        levels: vec![LevelRuns {
            level: level(4.0),
            baseline: vec![run(&made[0])],
            candidate: vec![run(&made[1])],
            no_latencies: None,
            nothing: None,
        }],
        noise: Vec::new(),
    };
    let slo: Slo = "tpot<10ms".parse().expect("slo");
    let pooled = compare_all(&[against], &slo).remove(0);
    !pooled.latencies.is_empty() || !pooled.attainment.is_empty() || !pooled.along.is_empty()
}
