//! Is it worth going on? A point in which no request succeeded says that something else is wrong than the load.

use app::studio::PointState;

use crate::store::StoredPoint;

/// Why a study ends after a point, with the mend; `None` when it goes on.
///
/// Answers that came too late are what load far above capacity does: they end the study only when no other point of the
/// configuration has shown, or may still show at a lower rate, that the engine answers at all. An adaptive sweep chooses
/// lower rates by itself: `lower_follow`.
pub(super) fn not_worth(
    points: &[StoredPoint],
    index: usize,
    lower_follow: bool,
) -> Option<String> {
    let point = points.get(index)?;
    let summary = point.summary.as_ref()?;
    if 0 < summary.completed || summary.scheduled == 0 {
        return None;
    }
    let others = lower_follow || others_may_answer(points, point);
    if summary.fails_by_lateness_only() && others {
        return None;
    }
    let what = summary.failures_in_words().join(", ");
    let mend = summary
        .mend()
        .map_or(String::new(), |mend| format!(" {}.", capital(mend)));
    Some(format!(
        "No request of the point at {} succeeded: {what}.{mend} Then resume; finished points are kept.",
        point.level
    ))
}

fn others_may_answer(points: &[StoredPoint], point: &StoredPoint) -> bool {
    let rate = |it: &StoredPoint| it.level.rate().unwrap_or(f64::INFINITY);
    points
        .iter()
        .filter(|other| other.configuration == point.configuration)
        .any(|other| match (&other.summary, other.state) {
            (Some(summary), _) => 0 < summary.completed,
            (None, PointState::Finished) => false,
            (None, _) => rate(other) < rate(point),
        })
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}", first.unwrap_or_default(), letters.as_str())
}

#[cfg(test)]
mod tests {
    use measure::request::{ErrorKind, Outcome, RequestRecord};
    use measure::summary::{Discipline, Failures, Summary, summarize};
    use uuid::Uuid;

    use super::*;

    fn summary(outcome: Outcome, status: Option<u16>) -> Summary {
        let json = serde_json::json!({
            "request_id": "r", "session": 0, "turn": 0, "scheduled": 0, "sent": 0, "headers": null, "chunks": [],
            "finish": null, "end": 1, "outcome": outcome, "error_detail": "no key", "http_status": status,
            "retry_after": null, "finish_reason": null, "prompt_tokens": null, "cached_tokens": null,
            "output_tokens": null, "token_source": "none", "input_tokens_planned": 1, "output_tokens_asked": 1,
            "connect": null, "coalesced_reads": 0, "warnings": [], "text": null, "reasoning_text": null,
        });
        let record: RequestRecord = serde_json::from_value(json).expect("a record");
        summarize(&[record], Discipline::OpenLoop, Failures::AsInfinity)
    }

    fn point(level: &str, summary: Option<Summary>) -> StoredPoint {
        StoredPoint {
            id: Uuid::nil(),
            configuration: 0,
            ordinal: 0,
            level: level.parse().expect("a level"),
            repeat: 0,
            planned_requests: 1,
            estimated_ms: 1,
            state: match summary {
                Some(_) => PointState::Finished,
                None => PointState::Planned,
            },
            started_ms: None,
            finished_ms: None,
            summary,
            certificate: None,
            judgement: None,
            made: None,
            problem: None,
        }
    }

    #[test]
    fn a_point_without_a_success_ends_the_study_with_the_mend() {
        let refused = summary(Outcome::Error(ErrorKind::HttpStatus), Some(401));
        let points = [point("2", Some(refused)), point("4", None)];
        let problem = not_worth(&points, 0, false).expect("ends");
        assert!(
            problem.contains("point at 2 succeeded: 1 × http_status (HTTP 401: no key). The engine wants another API key"),
            "{problem}"
        );
        let well = [point("2", Some(summary(Outcome::Ok, Some(200))))];
        assert_eq!(not_worth(&well, 0, false), None);
    }

    #[test]
    fn lateness_far_above_capacity_is_a_result() {
        let late = || Some(summary(Outcome::Error(ErrorKind::StallTimeout), Some(200)));
        let well = || Some(summary(Outcome::Ok, Some(200)));
        assert_eq!(
            not_worth(&[point("2", well()), point("64", late())], 1, false),
            None
        );
        let lower = [point("64", late()), point("2", None)];
        assert_eq!(not_worth(&lower, 0, false), None);
        // An adaptive sweep goes on below.
        assert_eq!(not_worth(&[point("64", late())], 0, true), None);
        assert!(not_worth(&[point("2", late()), point("64", None)], 0, false).is_some());
    }
}
