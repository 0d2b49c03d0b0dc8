//! From a ceiling to machines: what one GPU gives under the promise, how many replicas a demand takes, and what a million
//! good tokens cost.
//!
//! The ceiling's interval is carried through: whatever is planned goes by the rate that *surely* keeps the SLO, and the
//! other end is said beside it. Replicas are taken to be alike and evenly loaded.

use serde::{Deserialize, Serialize};

use crate::curve::{AtCeiling, Ceiling};
use crate::slo::Judgement;
use crate::summary::Summary;

mod need; // what is asked for
mod words; // all of it in sentences

pub use need::{Need, NeedError};

/// A quantity with the ends of its interval; no upper end where the ceiling has none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// Surely so much.
    pub lo: f64,
    /// By the value within the bracket, where there is one.
    pub value: Option<f64>,
    /// Surely not more.
    pub hi: Option<f64>,
}

impl Range {
    /// Both are positive.
    fn times(self, other: Self) -> Self {
        Self {
            lo: self.lo * other.lo,
            value: self.value.zip(other.value).map(|(a, b)| a * b),
            hi: self.hi.zip(other.hi).map(|(a, b)| a * b),
        }
    }

    /// With a value that is known better, and ends that hold it.
    fn around(self, value: Option<f64>) -> Self {
        let Some(value) = value.filter(|_| self.value.is_some()) else {
            return self;
        };
        Self {
            lo: self.lo.min(value),
            value: Some(value),
            hi: self.hi.map(|hi| hi.max(value)),
        }
    }

    fn scaled(self, factor: f64) -> Self {
        Self {
            lo: self.lo * factor,
            value: self.value.map(|value| value * factor),
            hi: self.hi.map(|hi| hi * factor),
        }
    }
}

/// Replicas that a demand takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replicas {
    /// By the rate that surely keeps the SLO: what to plan with.
    pub planned: u32,
    /// By the ceiling's value.
    pub by_value: Option<u32>,
    /// By its upper end: fewer surely break the SLO.
    pub least: Option<u32>,
}

/// Of money, in whatever the price was said in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Surely not less.
    pub least: Option<f64>,
    /// By the ceiling's value.
    pub value: Option<f64>,
    /// Surely not more.
    pub most: f64,
}

/// What a configuration's ceiling means for a need. Rates are per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Arrivals that one replica takes under the promise: requests, or sessions where there are several turns.
    pub rate: Range,
    /// Requests for each GPU, all turns counted.
    pub requests_per_gpu: Range,
    /// Output tokens of good requests for each GPU; `None` where nobody counted tokens.
    pub good_tokens_per_gpu: Option<Range>,
    /// Replicas for the demand, where one was named.
    pub replicas: Option<Replicas>,
    /// A million good tokens, with every replica run at the ceiling less the head-room; where a price was named.
    pub million_good_tokens: Option<Cost>,
    /// The planned replicas for an hour, where a price and a demand were named.
    pub hour: Option<f64>,
}

/// A measured point of the configuration: what its arrivals brought.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// Its numbers.
    pub summary: &'a Summary,
    /// The point under the SLO that the ceiling is of.
    pub judgement: &'a Judgement,
}

/// Plans with a configuration's ceiling; the sentence says why where that cannot be done. `points` are its points at a rate,
/// void ones left out; `at`
/// is the goodput at the ceiling, where it is known ([`crate::curve::at_ceiling`]).
pub fn plan(
    ceiling: &Ceiling,
    points: &[Measured<'_>],
    at: Option<AtCeiling>,
    need: &Need,
) -> Result<Plan, String> {
    let rate = range(ceiling)?;
    let nearest = nearest(points, rate.lo).ok_or(words::NO_POINT)?;
    let gpus = f64::from(need.gpus);
    let at = at.and_then(|at| at.tokens_per_s);
    let good = good_tokens(nearest).map(|each| rate.times(each).around(at));
    let sustained = 1.0 - need.headroom;
    let replicas = need.demand.map(|demand| Replicas {
        planned: machines(demand, rate.lo * sustained),
        by_value: rate.value.map(|rate| machines(demand, rate * sustained)),
        least: rate.hi.map(|rate| machines(demand, rate * sustained)),
    });
    // What a replica costs in a second.
    let second = need.price.map(|price| price * gpus / 3600.0);
    let million = |tokens: f64| 1e6 / (tokens * sustained);
    Ok(Plan {
        rate,
        requests_per_gpu: rate.scaled(turns(nearest.summary) / gpus),
        good_tokens_per_gpu: good.map(|good| good.scaled(1.0 / gpus)),
        replicas,
        million_good_tokens: second.zip(good).map(|(second, good)| Cost {
            least: good.hi.map(|tokens| second * million(tokens)),
            value: good.value.map(|tokens| second * million(tokens)),
            most: second * million(good.lo),
        }),
        hour: second
            .zip(replicas)
            .map(|(second, replicas)| second * 3600.0 * f64::from(replicas.planned)),
    })
}

/// What a ceiling says of the rate.
fn range(ceiling: &Ceiling) -> Result<Range, String> {
    let at_least = |lo| Range {
        lo,
        value: None,
        hi: None,
    };
    match *ceiling {
        Ceiling::Bracket { value, lo, hi } => Ok(Range {
            lo,
            value: Some(value),
            hi: Some(hi),
        }),
        Ceiling::AtLeast { lo }
        | Ceiling::Unresolved {
            lo: Some(lo),
            hi: None,
        } => Ok(at_least(lo)),
        _ => Err(words::why_not(ceiling)),
    }
}

/// The point whose offered rate is nearest to the one that is planned with.
fn nearest<'a>(points: &[Measured<'a>], rate: f64) -> Option<Measured<'a>> {
    let far = |it: &Measured<'_>| {
        it.summary
            .offered_rate
            .map(|offered| (offered - rate).abs())
    };
    let known = points.iter().filter(|it| far(it).is_some());
    let nearest = known.min_by(|a, b| {
        let (a, b) = (far(a).unwrap_or_default(), far(b).unwrap_or_default());
        a.total_cmp(&b)
    });
    nearest.copied()
}

/// Requests for each arrival.
fn turns(summary: &Summary) -> f64 {
    f64::from(summary.scheduled) / f64::from(summary.sessions.max(1))
}

/// Tokens of good requests for each arrival, as surely as the share of good requests is known: none where nobody counted.
fn good_tokens(point: Measured<'_>) -> Option<Range> {
    let Measured { summary, judgement } = point;
    let tokens = judgement.good_tokens_per_s? * summary.duration.as_secs_f64();
    let share = judgement.attainment.filter(|share| 0.0 < share.value)?;
    let each = tokens / f64::from(summary.sessions.max(1));
    let range = Range {
        lo: each * share.lo / share.value,
        value: Some(each),
        hi: Some(each * share.hi / share.value),
    };
    (0.0 < range.lo).then_some(range)
}

/// Machines for a demand at so much each; a quotient that is whole but for rounding stays whole.
fn machines(demand: f64, each: f64) -> u32 {
    ((demand / each - 1e-9).ceil() as u32).max(1)
}

#[cfg(test)]
mod tests;
