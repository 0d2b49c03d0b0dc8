//! An adaptive sweep as its points tell it.

use app::studio::{PointState, PointView};
use measure::adaptive::{Evidence, Next, Probe, Probed, Search};
use measure::certificate::Innocence;
use measure::study::StudySpec;
use measure::summary::Capacity;

use crate::store::{StoredPoint, now_ms};

/// A finished point as the search sees it, its time left out; `None` for one that has no rate or is not finished.
pub fn probed(point: &PointView) -> Option<Probed> {
    let (summary, certificate) = (point.summary.as_ref()?, point.certificate.as_ref()?);
    let rate = point.level.rate()?;
    Some(Probed {
        rate,
        offered: summary.offered_rate.unwrap_or(rate),
        evidence: Evidence::from(point.judgement.as_ref()?),
        above: matches!(summary.capacity, Capacity::Above { .. }),
        void: certificate.innocence == Innocence::Void,
        seconds: 0.0,
    })
}

/// How long a finished point took.
pub fn seconds(point: &StoredPoint) -> f64 {
    match (point.started_ms, point.finished_ms) {
        (Some(started), Some(finished)) => finished.abs_diff(started) as f64 / 1000.0,
        _ => 0.0,
    }
}

/// How long a point is under load already.
fn so_far(point: &StoredPoint) -> f64 {
    let started = point
        .started_ms
        .filter(|_| point.state == PointState::Running);
    started.map_or(0.0, |it| now_ms().abs_diff(it) as f64 / 1000.0)
}

/// The probe that a stored point is: its level's place among those that its configuration opened before.
pub fn probe(points: &[StoredPoint], place: usize) -> Option<Probe> {
    let point = points.get(place)?;
    let mut rates: Vec<f64> = Vec::new();
    let of = |other: &&StoredPoint| other.configuration == point.configuration;
    for rate in points[..=place]
        .iter()
        .filter(of)
        .filter_map(|it| it.level.rate())
    {
        if !rates.contains(&rate) {
            rates.push(rate);
        }
    }
    let rate = point.level.rate()?;
    Some(Probe {
        rate,
        requests: point.planned_requests,
        level: rates.iter().position(|it| *it == rate)? as u32,
        repeat: point.repeat,
    })
}

/// A finished point as the search sees it.
pub fn timed(point: &StoredPoint) -> Option<Probed> {
    let probe = probed(&super::views::point_view(point))?;
    Some(Probed {
        seconds: seconds(point),
        ..probe
    })
}

/// A search cannot step over a rate that it asked for.
const SKIPPED: &str = "It ended because a person skipped one of its points.";

/// Why the search of a configuration ended, as a sentence; `None` while it goes on, and where there is none.
pub fn why_ended(spec: &StudySpec, points: &[&StoredPoint]) -> Option<&'static str> {
    let search = spec.search()?;
    if points.iter().any(|it| it.state == PointState::Skipped) {
        return Some(SKIPPED);
    }
    let finished: Vec<Probed> = points.iter().filter_map(|point| timed(point)).collect();
    match search.next(&finished) {
        Next::Stop(stop) => Some(stop.words()),
        Next::Probe(_) => None,
    }
}

/// Milliseconds that the searches may still take: of each that has not ended, what is left of its share of the budget.
pub fn budget_left(spec: &StudySpec, search: &Search, points: &[StoredPoint]) -> u64 {
    let left = (0..spec.configurations.len() as u32).map(|configuration| {
        let of = |point: &&StoredPoint| point.configuration == configuration;
        let points: Vec<&StoredPoint> = points.iter().filter(of).collect();
        match why_ended(spec, &points) {
            Some(_) => 0.0,
            None => {
                search.seconds
                    - points
                        .iter()
                        .map(|it| seconds(it) + so_far(it))
                        .sum::<f64>()
            }
        }
    });
    (left.map(|seconds| seconds.max(0.0)).sum::<f64>() * 1000.0) as u64
}
