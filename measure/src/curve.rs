//! Many points: the goodput ceiling under an SLO with its bracket.

use serde::{Deserialize, Serialize};

use crate::arrival::Arrival;
use crate::certificate::Innocence;
use crate::slo::Judgement;
use crate::units::Level;

mod at; // goodput at the ceiling
mod bracket; // from levels to a bracket
mod fit; // a curve that never rises
mod pool; // repeats of a level as one

pub use at::{AtCeiling, at_ceiling};
pub(crate) use bracket::{Seen, bracket};

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

impl Ceiling {
    /// The rates that the ceiling lies between as far as it is known, zero and infinity where it has no such end;
    /// `None` where it cannot be told.
    pub fn interval(&self) -> Option<(f64, f64)> {
        match *self {
            Self::Bracket { lo, hi, .. } => Some((lo, hi)),
            Self::AtLeast { lo } => Some((lo, f64::INFINITY)),
            Self::NoneKept { hi } => Some((0.0, hi)),
            Self::Unresolved { lo, hi } => {
                Some((lo.unwrap_or(0.0), hi.unwrap_or(f64::INFINITY))).filter(|(lo, hi)| lo < hi)
            }
            Self::Ramped => None,
        }
    }

    /// The bracket's width over its value; `None` where it has no two ends.
    pub fn relative_width(&self) -> Option<f64> {
        match *self {
            Self::Bracket { value, lo, hi } => Some((hi - lo) / value),
            _ => None,
        }
    }
}

impl CurvePoint<'_> {
    /// Whether its rate changed over the point. Only arrivals at a rate are ramped.
    fn is_ramped(&self) -> bool {
        self.arrival.is_ramp() && self.level.rate().is_some()
    }

    /// Whether it is part of the curve: void points, `inf`, closed loops and ramps are not.
    fn is_on_curve(&self) -> bool {
        self.innocence != Innocence::Void && self.level.is_open() && !self.is_ramped()
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
/// Linear in the points, but for putting them in order.
pub fn ceiling(points: &[CurvePoint<'_>], by: By) -> Ceiling {
    let levels = pool::levels(points);
    if levels.is_empty() && points.iter().any(CurvePoint::is_ramped) {
        return Ceiling::Ramped;
    }
    bracket(levels.iter().map(|level| level.seen(by)).collect())
}

#[cfg(test)]
mod tests;
