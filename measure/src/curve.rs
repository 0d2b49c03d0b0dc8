//! Many points: the goodput ceiling under an SLO with its bracket.

use serde::{Deserialize, Serialize};

use crate::arrival::Arrival;
use crate::certificate::Innocence;
use crate::order::by_number;
use crate::slo::{Judgement, Keeps, Slo};
use crate::units::Level;

/// One point as the ceiling sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePoint<'a> {
    /// The level asked for.
    pub level: Level,
    /// How its arrivals were spread. A point whose rate changed on the way tells nothing of any one rate.
    pub arrival: Arrival,
    /// Arrivals per second of the realised schedule.
    pub offered: Option<f64>,
    /// Whether the point lies above capacity.
    pub above_capacity: bool,
    /// The client's certificate; a void point is never used.
    pub innocence: Innocence,
    /// The point under the SLO.
    pub judgement: &'a Judgement,
}

/// The highest offered rate at which the SLO holds, as a bracket from monotonicity alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    rename_all = "snake_case",
    tag = "kind",
    try_from = "crate::wire::CeilingText"
)]
pub enum Ceiling {
    /// Between the highest rate that surely keeps it and the lowest that surely breaks it or is above capacity.
    Bracket {
        /// Interpolated within the bracket.
        value: f64,
        /// Highest rate that surely keeps it.
        lo: f64,
        /// Lowest rate that surely breaks it, or lies above capacity.
        hi: f64,
    },
    /// No point broke it: at least this.
    AtLeast {
        /// Highest rate that surely keeps it.
        lo: f64,
    },
    /// No point kept it: below this.
    NoneKept {
        /// Lowest rate tried.
        hi: f64,
    },
    /// No point is sure on one side or the other.
    Unresolved {
        /// Highest rate that surely keeps it, if any.
        lo: Option<f64>,
        /// Lowest rate that surely breaks it, if any.
        hi: Option<f64>,
    },
    /// Cannot be told: every point's rate went from one to another, so that none stands for what was kept.
    Ramped,
}

impl CurvePoint<'_> {
    /// Whether its rate changed over the point. Only arrivals at a rate are ramped.
    fn is_ramped(&self) -> bool {
        self.arrival.is_ramp() && self.level.rate().is_some()
    }
}

/// Which verdict the ceiling goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// Attainment: the headline.
    Attainment,
    /// The percentile verdict: second, always named.
    Percentile,
}

/// The ceiling of one configuration's curve. Points in any order; `inf`, closed-loop, ramped and void points are left out.
pub fn ceiling(points: &[CurvePoint<'_>], by: By) -> Ceiling {
    let mut seen: Vec<Seen> = points
        .iter()
        .filter_map(|point| Seen::of(point, by))
        .collect();
    if seen.is_empty() && points.iter().any(CurvePoint::is_ramped) {
        return Ceiling::Ramped;
    }
    by_number(&mut seen, |point| point.rate);
    let lo = seen
        .iter()
        .rev()
        .find(|point| point.keeps == Keeps::Surely)
        .map(|point| point.rate);
    let hi = seen
        .iter()
        .find(|point| point.keeps == Keeps::SurelyNot)
        .map(|point| point.rate);
    let lowest = seen.first();
    let all_broke = seen
        .iter()
        .all(|point| matches!(point.keeps, Keeps::SurelyNot | Keeps::ProbablyNot));
    let none_broke = seen
        .iter()
        .all(|point| matches!(point.keeps, Keeps::Surely | Keeps::Probably));
    match (lo, hi) {
        (Some(lo), Some(hi)) if lo < hi => Ceiling::Bracket {
            value: crossing(&seen, lo, hi),
            lo,
            hi,
        },
        (Some(lo), None) if none_broke => Ceiling::AtLeast { lo },
        (None, Some(hi)) if all_broke && lowest.is_some_and(|point| point.rate == hi) => {
            Ceiling::NoneKept { hi }
        }
        (lo, hi) => Ceiling::Unresolved { lo, hi },
    }
}

/// What the ceiling needs of a point.
struct Seen {
    rate: f64,
    keeps: Keeps,
    /// Above zero where the point keeps the SLO by value, below where it does not; `None` where it has no value.
    margin: Option<f64>,
}

impl Seen {
    /// `None` for points that are no part of the curve.
    fn of(point: &CurvePoint<'_>, by: By) -> Option<Self> {
        if point.innocence == Innocence::Void || !point.level.is_open() || point.is_ramped() {
            return None;
        }
        let rate = point.offered?;
        // Above capacity there is a direction only: an upper end, never a value.
        if point.above_capacity {
            return Some(Self {
                rate,
                keeps: Keeps::SurelyNot,
                margin: None,
            });
        }
        let judgement = point.judgement;
        Some(match by {
            By::Attainment => Self {
                rate,
                keeps: judgement.by_attainment,
                margin: attainment_margin(judgement),
            },
            By::Percentile => Self {
                rate,
                keeps: judgement.by_percentile,
                margin: percentile_margin(judgement),
            },
        })
    }
}

fn attainment_margin(judgement: &Judgement) -> Option<f64> {
    Some(judgement.attainment?.value - judgement.target)
}

/// The tightest bound, as the logarithm of threshold over observed percentile: a bound at half its threshold has ln 2 left.
fn percentile_margin(judgement: &Judgement) -> Option<f64> {
    let margins: Option<Vec<f64>> = judgement
        .bounds
        .iter()
        .filter(|verdict| verdict.observed.is_some())
        .map(|verdict| {
            let at_most = verdict.bound.parse::<Slo>().ok()?.bounds.first()?.at_most;
            let observed = verdict.observed?.value?;
            Some((at_most.0.max(1) as f64 / observed.0.max(1) as f64).ln())
        })
        .collect();
    margins?.into_iter().min_by(f64::total_cmp)
}

/// Where between the ends the margin falls to zero, point by point in a straight line. Where no point with a value lies
/// beyond the crossing (the upper end is above capacity), the highest rate that was seen to keep the SLO.
fn crossing(seen: &[Seen], lo: f64, hi: f64) -> f64 {
    let mut best = lo;
    let mut before: Option<(f64, f64)> = None;
    for point in seen
        .iter()
        .filter(|point| lo <= point.rate && point.rate <= hi)
    {
        let Some(margin) = point.margin else { continue };
        if let Some((rate, left)) = before.filter(|(_, left)| 0.0 <= *left && margin < 0.0) {
            return (rate + (point.rate - rate) * left / (left - margin)).clamp(lo, hi);
        }
        if 0.0 <= margin {
            best = point.rate;
        }
        before = Some((point.rate, margin));
    }
    best
}

#[cfg(test)]
mod tests;
