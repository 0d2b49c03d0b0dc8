//! How sure a point's goodput is.

use crate::quantile::{PerSecond, relative_swing};
use crate::score::Score;
use crate::summary::Summary;

use super::judge::{Tally, in_order_of_arrival};
use super::{Good, Slo, judge};

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
/// last, which the interval of attainment knows. The wider of the two counts.
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
    let gaps: Vec<f64> = scores
        .windows(2)
        .map(|pair| pair[1].scheduled.since(pair[0].scheduled).as_secs_f64())
        .collect();
    let swing = relative_swing(&amounts, &gaps)?;
    let share = Tally::of(scores, slo).attainment()?;
    let part = |distance: f64| (distance / share.value).max(swing);
    Some((part(share.value - share.lo), part(share.hi - share.value)))
}
