//! Another SLO over the same points, judged in the browser from the scores that were fetched once.

use std::collections::HashMap;
use std::sync::Arc;

use js_sys::Uint8Array;
use leptos::prelude::window;
use measure::arrival::Arrival;
use measure::curve::{By, Ceiling, CurvePoint, ceiling};
use measure::score::{DecodeError, decode, frames};
use measure::slo::{Judge, Ready, Slo};
use uuid::Uuid;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::Response;

use crate::studio::{PointState, PointView, StudyView};

/// What was fetched so far, by point, ready to be judged.
pub type Scores = HashMap<Uuid, Arc<Ready>>;

/// Points whose scores are needed to judge another SLO.
pub fn finished(view: &StudyView) -> impl Iterator<Item = &PointView> {
    view.points
        .iter()
        .filter(|point| point.state == PointState::Finished && point.summary.is_some())
}

/// The study under another SLO. A point whose scores are missing is not judged, and neither is its configuration.
pub fn rejudge(view: &StudyView, scores: &Scores, slo: &Slo) -> StudyView {
    let mut judged = view.clone();
    judged.spec.slo = slo.clone();
    // What share of requests was good is among them.
    judged.differences.clear();
    let judge = Judge::new(slo);
    for point in &mut judged.points {
        point.judgement = match (&point.summary, scores.get(&point.id)) {
            (Some(summary), Some(scores)) => Some(judge.judge(scores, summary)),
            _ => None,
        };
    }
    for index in 0..judged.configurations.len() {
        let points: Vec<&PointView> = judged
            .points
            .iter()
            .filter(|point| point.configuration as usize == index)
            .collect();
        let (ceiling, by_percentile) = (
            ceiling_of(&points, judged.spec.arrival, By::Attainment),
            ceiling_of(&points, judged.spec.arrival, By::Percentile),
        );
        let configuration = &mut judged.configurations[index];
        (configuration.ceiling, configuration.ceiling_by_percentile) = (ceiling, by_percentile);
    }
    judged
}

/// The ceiling of one configuration's points; `None` where none is finished, one is finished and not judged, or none offered a rate.
pub fn ceiling_of(points: &[&PointView], arrival: Arrival, by: By) -> Option<Ceiling> {
    let finished: Vec<&&PointView> = points
        .iter()
        .filter(|point| point.summary.is_some())
        .collect();
    let curve: Option<Vec<CurvePoint<'_>>> = finished
        .iter()
        .map(|point| point.on_curve(arrival))
        .collect();
    curve
        .filter(|curve| curve.iter().any(|it| it.level.is_open()))
        .map(|curve| ceiling(&curve, by))
}

/// Why scores could not be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// No answer.
    #[error("the studio did not answer")]
    NoAnswer,
    /// An answer that says no.
    #[error("the studio answered with status {0}")]
    Status(u16),
    /// An answer that cannot be read.
    #[error("the studio's answer cannot be read: {0}")]
    Unreadable(String),
}

/// Fetches the scores of points, as many as one answer holds; none where there are no more.
pub async fn fetch(url: &str) -> Result<Vec<(Uuid, Arc<Ready>)>, FetchError> {
    let answer = JsFuture::from(window().fetch_with_str(url))
        .await
        .map_err(|_| FetchError::NoAnswer)?;
    let response: Response = answer.dyn_into().map_err(|_| FetchError::NoAnswer)?;
    if !response.ok() {
        return Err(FetchError::Status(response.status()));
    }
    let body = response.array_buffer().map_err(|_| FetchError::NoAnswer)?;
    let body = JsFuture::from(body)
        .await
        .map_err(|_| FetchError::NoAnswer)?;
    ready(&Uint8Array::new(&body).to_vec())
        .map_err(|error| FetchError::Unreadable(error.to_string()))
}

fn ready(body: &[u8]) -> Result<Vec<(Uuid, Arc<Ready>)>, DecodeError> {
    let one = |(id, block)| {
        let ready = Ready::of(&decode(block)?);
        Ok((Uuid::from_u128(id), Arc::new(ready)))
    };
    frames(body)?.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use measure::request::Outcome;
    use measure::score::Score;
    use measure::units::Nanos;

    /// A hundred requests of which `slow` take a second to their first token, the others 40 ms.
    fn scores(slow: u32) -> Arc<Ready> {
        let score = |index: u32| Score {
            session: index,
            turn: 0,
            scheduled: Nanos::from_millis(u64::from(index) * 100),
            sent: Some(Nanos::from_millis(u64::from(index) * 100)),
            ttft: Some(Nanos::from_millis(
                if index.is_multiple_of(100 / slow.max(1)) && 0 < slow {
                    1000
                } else {
                    40
                },
            )),
            ttfa: None,
            e2e: Some(Nanos::from_millis(2000)),
            tpot: Some(Nanos::from_millis(10)),
            itl_p95: None,
            stall: None,
            n: Some(20),
            outcome: Outcome::Ok,
        };
        let scores: Vec<Score> = (0..100).map(score).collect();
        Arc::new(Ready::of(&scores))
    }

    fn all_but(study: &StudyView, missing: usize) -> Scores {
        let slow = |point: &PointView| {
            if point.level.rate().is_some_and(|rate| 8.0 < rate) {
                50
            } else {
                0
            }
        };
        study
            .points
            .iter()
            .skip(missing)
            .map(|point| (point.id, scores(slow(point))))
            .collect()
    }

    #[test]
    fn another_slo_moves_the_ceiling() {
        let study = fixture::study();
        let strict: Slo = "ttft:p95<500ms attain>=95%".parse().expect("slo");
        let judged = rejudge(&study, &all_but(&study, 0), &strict);
        assert_eq!(judged.spec.slo, strict);
        let Some(Ceiling::Bracket { lo, hi, .. }) = judged.configurations[0].ceiling else {
            panic!("{:?}", judged.configurations[0].ceiling)
        };
        assert!(7.0 < lo && hi < 17.0, "{lo} {hi}");
        let loose: Slo = "ttft:p95<2s attain>=95%".parse().expect("slo");
        let judged = rejudge(&study, &all_but(&study, 0), &loose);
        assert!(
            matches!(
                judged.configurations[0].ceiling,
                Some(Ceiling::AtLeast { .. })
            ),
            "{:?}",
            judged.configurations[0].ceiling
        );
    }

    #[test]
    fn a_configuration_with_a_point_that_was_not_read_is_not_judged() {
        let study = fixture::study();
        let judged = rejudge(&study, &all_but(&study, 1), &study.spec.slo);
        assert_eq!(judged.points[0].judgement, None);
        assert_eq!(judged.configurations[0].ceiling, None);
        assert!(judged.configurations[1].ceiling.is_some());
    }
}
