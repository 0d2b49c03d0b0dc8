//! Whether a prediction came true, judged by pairs: both sides were asked the same at the same moments.

use super::prediction::{Came, Change, Figure, Measured, Outcome, Prediction, check_prediction};
use crate::compare::{Difference, paired_difference};
use crate::score::Score;
use crate::slo::Metric;
use crate::units::Level;

/// As [`check_prediction`], of two points of one seed whose prompts hold no answers of the engine's own: a relative change of a percentile is
/// judged by the paired difference and its 95 % interval, which what both sides waited in alike does not widen. What cannot be paired is
/// judged by the two intervals.
pub fn check_paired(
    prediction: &Prediction,
    before: Measured,
    after: Measured,
    level: Level,
) -> Outcome {
    let outcome = check_prediction(prediction, before, after);
    let Some(figure) = percentile(prediction.figure) else {
        return outcome;
    };
    let scores =
        [before, after].map(|it| -> Vec<Score> { it.records.iter().map(Score::from).collect() });
    let paired = paired_difference(level, [&scores[0], &scores[1]], figure);
    match paired.and_then(|it| Some((it, came(prediction.change, it)?))) {
        Some((difference, came)) if outcome.came != Came::CannotTell => Outcome {
            sure: came == outcome.came,
            paired: Some(difference),
            ..outcome
        },
        _ => outcome,
    }
}

fn percentile(figure: Figure) -> Option<(Metric, f64)> {
    match figure {
        Figure::TtftP50 => Some((Metric::Ttft, 50.0)),
        Figure::TtftP99 => Some((Metric::Ttft, 99.0)),
        Figure::TpotP50 => Some((Metric::Tpot, 50.0)),
        Figure::TpotP99 => Some((Metric::Tpot, 99.0)),
        Figure::ShortTtftP99 { .. } | Figure::LagP99 | Figure::PollLagP99 => None,
    }
}

/// What the whole of an interval says; `None` where the change is to a bound that no difference knows.
fn came(change: Change, found: Difference) -> Option<Came> {
    // By how much it falls short of what was foretold, at both ends.
    let (most, least) = match change {
        Change::FallsBy(share) => (found.hi + share, found.lo + share),
        Change::RisesBy(share) => (share - found.lo, share - found.hi),
        Change::Below(_) => return None,
    };
    Some(match (most, least) {
        (most, _) if most <= 0.0 => Came::True,
        (_, least) if 0.0 < least => Came::False,
        _ => Came::CannotTell,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::{ClientEvidence, certify};
    use crate::request::RequestRecord;
    use crate::sampling::Draws;
    use crate::summary::{Discipline, Failures, summarize};
    use crate::testing::answered;

    /// Requests that differ by a factor of ten among themselves, the same on both sides, and by `factor` between them.
    fn point(factor: f64) -> Vec<RequestRecord> {
        let mut draws = Draws::new(3);
        let one = |index: u32| {
            let ttft = 40.0 * (0.8 * draws.normal()).exp() * factor;
            answered(index, 50.0 * f64::from(index), ttft, &[10.0; 5])
        };
        (0..100).map(one).collect()
    }

    fn outcome(by: f64, paired: bool) -> Outcome {
        let (before, after) = (point(1.0), point(by));
        let [one, other] =
            [&before, &after].map(|it| summarize(it, Discipline::OpenLoop, Failures::AsInfinity));
        let client = certify(&before, ClientEvidence::default());
        let [before, after] =
            [(&before, &one), (&after, &other)].map(|(records, summary)| Measured {
                records,
                summary,
                client: &client,
            });
        let prediction = Prediction {
            figure: Figure::TtftP50,
            change: Change::FallsBy(0.4),
        };
        if paired {
            check_paired(&prediction, before, after, "20".parse().expect("a level"))
        } else {
            check_prediction(&prediction, before, after)
        }
    }

    #[test]
    fn pairs_tell_what_two_intervals_leave_open() {
        assert_eq!(outcome(0.42, false).verdict(), Came::CannotTell);
        let paired = outcome(0.42, true);
        assert_eq!(paired.verdict(), Came::True, "{paired:?}");
        assert!(
            paired
                .paired
                .is_some_and(|it| it.hi <= -0.4 && 0 < it.pairs)
        );
        assert_eq!(outcome(0.9, true).verdict(), Came::False);
        // At the bound itself nobody can tell.
        assert_eq!(outcome(0.6, true).verdict(), Came::CannotTell);
    }
}
