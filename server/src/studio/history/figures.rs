//! What a study says at its operating points: figures that can be held against earlier ones, or why there is none.

use measure::certificate::Innocence;
use measure::curve::Ceiling;
use measure::history::Figure;
use measure::quantile::{Distribution, Estimate};
use measure::slo::Metric;
use measure::summary::Capacity;
use measure::units::{Level, Nanos};

use crate::store::{StoredConfiguration, StoredPoint};
use crate::studio::views::Model;
use app::studio::{PointState, StudyState};

/// The latencies that are watched.
pub(super) const LATENCIES: [Figure; 6] = [
    Figure::Latency(Metric::Ttft, 50.0),
    Figure::Latency(Metric::Ttft, 95.0),
    Figure::Latency(Metric::Ttft, 99.0),
    Figure::Latency(Metric::Tpot, 50.0),
    Figure::Latency(Metric::Tpot, 95.0),
    Figure::Latency(Metric::Tpot, 99.0),
];
/// Normal deviates that a 95 % interval is long, one way.
const HALF: f64 = 1.959_963_984_540_054;

/// What is known of a figure.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Told {
    /// Its value, and its own standard error over its value.
    Value(f64, f64),
    /// There is no value, for a reason that is worse than any.
    Beyond(String),
    /// There is none to judge.
    Nothing(String),
}

/// A figure of a configuration at a level (`None`: of the whole curve), and when it was measured.
pub(super) struct Found {
    pub level: Option<Level>,
    pub figure: Figure,
    pub at_ms: i64,
    pub told: Told,
}

/// Every figure of a configuration, level by level in the order of the plan, its ceiling last.
pub(super) fn found(model: &Model, stored: &StoredConfiguration) -> Vec<Found> {
    let finished = |it: &&StoredPoint| it.configuration == stored.ordinal && it.summary.is_some();
    let points: Vec<&StoredPoint> = model.points.iter().filter(finished).collect();
    let mut levels: Vec<Level> = Vec::new();
    for point in &points {
        if !levels.contains(&point.level) {
            levels.push(point.level);
        }
    }
    let at_level = |level: Level| -> Vec<&StoredPoint> {
        let of = points.iter().filter(|it| it.level == level);
        of.copied().collect()
    };
    let latencies = levels.into_iter().flat_map(|level| {
        let points = at_level(level);
        LATENCIES.map(|figure| Found {
            level: Some(level),
            figure,
            at_ms: began(&points),
            told: latency(&points, figure),
        })
    });
    let of = |it: &&StoredPoint| it.configuration == stored.ordinal;
    let skipped = |it: &StoredPoint| it.state == PointState::Skipped;
    // A curve that a person left a point out of is another curve.
    let whole = model.study.state == StudyState::Finished
        && !points.is_empty()
        && !model.points.iter().filter(of).any(skipped);
    let curve = whole.then(|| Found {
        level: None,
        figure: Figure::Ceiling,
        at_ms: began(&points),
        told: ceiling(model.ceilings(stored.ordinal).0),
    });
    latencies.chain(curve).collect()
}

fn began(points: &[&StoredPoint]) -> i64 {
    points
        .iter()
        .filter_map(|it| it.started_ms)
        .min()
        .unwrap_or(0)
}

/// A percentile over the repeats of a level that count: the mean of its logarithms.
fn latency(points: &[&StoredPoint], figure: Figure) -> Told {
    let Figure::Latency(metric, percentile) = figure else {
        return Told::Nothing("no latency".to_owned());
    };
    let is_void = |it: &StoredPoint| {
        let certificate = it.certificate.as_ref();
        certificate.is_none_or(|it| it.innocence == Innocence::Void)
    };
    let summaries = points.iter().filter(|it| !is_void(it));
    let summaries: Vec<_> = summaries.filter_map(|it| it.summary.as_ref()).collect();
    let above = |it: &Capacity| matches!(it, Capacity::Above { .. });
    let above = summaries.iter().filter(|it| above(&it.capacity)).count();
    if summaries.is_empty() {
        return Told::Nothing("void: the client itself disturbed the measurement".to_owned());
    }
    if summaries.len() < 2 * above {
        return Told::Beyond(
            "above capacity: latencies grow with the length of the run".to_owned(),
        );
    }
    if 0 < above {
        return Told::Nothing("one of its repeats is above capacity".to_owned());
    }
    let each = summaries
        .iter()
        .map(|it| estimated(it.of(metric), percentile));
    together(each)
}

/// The repeats' mean; the first that has no value says why there is none.
fn together(each: impl Iterator<Item = Told>) -> Told {
    let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
    for told in each {
        let Told::Value(value, error) = told else {
            return told;
        };
        sum += value.ln();
        squares += error * error;
        count += 1.0;
    }
    Told::Value((sum / count).exp(), squares.sqrt() / count)
}

pub(super) fn estimated(of: &Distribution, percentile: f64) -> Told {
    let estimate = match percentile {
        50.0 => &of.p50,
        95.0 => &of.p95,
        _ => &of.p99,
    };
    let few = || Told::Nothing("too few requests to bound it".to_owned());
    let Some(Estimate { value, lo, hi }) = *estimate else {
        return few();
    };
    let Some(value) = value else {
        return Told::Beyond(format!("failures reach into its p{percentile}"));
    };
    match (lo, hi) {
        (Some(lo), Some(hi)) if Nanos::ZERO < lo => {
            let error = (hi.0 as f64 / lo.0 as f64).ln() / (2.0 * HALF);
            Told::Value(value.0 as f64, error)
        }
        _ => few(),
    }
}

/// A bracket's ends are as far apart as a 95 % interval's.
pub(super) fn ceiling(ceiling: Option<Ceiling>) -> Told {
    match ceiling {
        Some(Ceiling::Bracket { value, lo, hi }) if 0.0 < lo => {
            Told::Value(value, (hi / lo).ln() / (2.0 * HALF))
        }
        Some(Ceiling::NoneKept { .. }) => Told::Beyond("no rate tried kept the SLO".to_owned()),
        Some(Ceiling::AtLeast { .. }) => {
            Told::Nothing("no rate tried broke the SLO: it has no upper end".to_owned())
        }
        _ => Told::Nothing("it is not resolved".to_owned()),
    }
}
