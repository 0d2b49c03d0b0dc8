//! Many points: the goodput ceiling under an SLO with its bracket.

use serde::{Deserialize, Serialize};

use crate::certificate::Innocence;
use crate::slo::Judgement;
use crate::units::Level;

/// One point as the ceiling sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePoint<'a> {
    /// The level asked for.
    pub level: Level,
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
#[serde(rename_all = "snake_case", tag = "kind")]
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

/// The ceiling of one configuration's curve. Points in any order; `inf`, closed-loop and void points are left out.
pub fn ceiling(points: &[CurvePoint<'_>], by: By) -> Ceiling {
    let _ = (points, by);
    todo!("measure helper")
}
