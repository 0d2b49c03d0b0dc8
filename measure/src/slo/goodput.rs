//! How sure a point's goodput is.

use crate::quantile::{PerSecond, Proportion, Times, relative_swing};
use crate::score::Score;
use crate::summary::Summary;

use super::judge::in_order_of_arrival;
use super::ready::Ready;
use super::{Judge, Slo};

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
    in_order_of_arrival(scores, |scores| {
        let ready = Ready::of(scores);
        let judged = Judge::new(slo).judge(&ready, summary);
        let good: Vec<bool> = ready.tally(slo).each().collect();
        let of = |value: Option<f64>, amount: fn(&Score) -> f64| {
            let brought = |(score, good): (&Score, &bool)| if *good { amount(score) } else { 0.0 };
            let amounts: Vec<f64> = scores.iter().zip(&good).map(brought).collect();
            let (below, above) = swing(scores, &amounts, judged.attainment?)?;
            Some(PerSecond::within(value?, below, above))
        };
        Goodput {
            requests: of(judged.good_requests_per_s, |_| 1.0),
            tokens: of(judged.good_tokens_per_s, |score| {
                f64::from(score.n.unwrap_or(0))
            }),
        }
    })
}

/// How far below and above, as parts of the value, from what each request brought. In order of arrival.
fn swing(scores: &[Score], amounts: &[f64], share: Proportion) -> Option<(f64, f64)> {
    let times = Times::of(scores.iter().map(|score| {
        let end = score.sent.zip(score.e2e).map(|(sent, e2e)| sent + e2e);
        (score.scheduled, end)
    }));
    let swing = relative_swing(amounts, &times)?;
    let part = |distance: f64| {
        let part = distance / share.value;
        part.max(swing).hypot(LESSER * part.min(swing))
    };
    Some((part(share.value - share.lo), part(share.hi - share.value)))
}
