//! How sure a point's goodput is.

use crate::quantile::{PerSecond, Times, relative_swing};
use crate::score::Score;
use crate::summary::Summary;

use super::judge::{Tally, in_order_of_arrival};
use super::{Good, Slo, judge};

/// How much of the lesser of two swings counts beside the greater.
const LESSER: f64 = 0.3;

/// Goodput under both its names, with 95 % intervals. `None` where there is none, or fewer than 20 requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goodput {
    /// Good requests / D.
    pub requests: Option<PerSecond>,
    /// Tokens of good requests / D.
    pub tokens: Option<PerSecond>,
}

/// The goodput of a point with its intervals; [`judge`] gives the same values without.
///
/// Two things make a goodput swing: how much each request brings for its gap (`relative_swing`), and how long bad stretches
/// last, which the interval of attainment knows. The wider of the two counts, and three tenths of the other beside it: where bad stretches
/// come with short gaps they are partly the same.
pub fn goodput(scores: &[Score], summary: &Summary, slo: &Slo) -> Goodput {
    let judged = judge(scores, summary, slo);
    in_order_of_arrival(scores, |scores| {
        let of = |value: Option<f64>, amount: fn(&Score) -> f64| {
            swing(scores, slo, amount)
                .zip(value)
                .map(|((below, above), value)| PerSecond::within(value, below, above))
        };
        Goodput {
            requests: of(judged.good_requests_per_s, |_| 1.0),
            tokens: of(judged.good_tokens_per_s, |score| {
                f64::from(score.n.unwrap_or(0))
            }),
        }
    })
}

/// How far below and above, as parts of the value. `scores` in order of arrival.
fn swing(scores: &[Score], slo: &Slo, amount: fn(&Score) -> f64) -> Option<(f64, f64)> {
    let brought = |score: &Score| match slo.judge_request(score) {
        Good::Yes => amount(score),
        _ => 0.0,
    };
    let amounts: Vec<f64> = scores.iter().map(brought).collect();
    let times = Times::of(scores.iter().map(|score| {
        let end = score.sent.zip(score.e2e).map(|(sent, e2e)| sent + e2e);
        (score.scheduled, end)
    }));
    let swing = relative_swing(&amounts, &times)?;
    let share = Tally::of(scores, slo).attainment()?;
    let part = |distance: f64| {
        let part = distance / share.value;
        part.max(swing).hypot(LESSER * part.min(swing))
    };
    Some((part(share.value - share.lo), part(share.hi - share.value)))
}
