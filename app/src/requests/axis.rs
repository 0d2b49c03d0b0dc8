//! Axes of time and of latencies, in the unit that a reader would choose.

use measure::units::Nanos;

use super::part::Part;
use crate::axis::Axis;

/// Over so many times its smallest value a latency's axis is logarithmic.
const WIDE: f64 = 50.0;

/// An axis whose values are nanoseconds, shown in a unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// In the unit.
    pub axis: Axis,
    /// Nanoseconds of one of it.
    pub per: f64,
    /// Its name.
    pub unit: &'static str,
}

impl Scale {
    /// The point's time in seconds, from end to end.
    pub fn time(part: &Part<'_>) -> Self {
        Self::between(part.axis)
    }

    /// Time in seconds between two moments.
    pub fn between((from, to): (Nanos, Nanos)) -> Self {
        let axis = Axis::over("time".into(), [], false);
        Self {
            axis: axis.zoomed(from.as_secs_f64(), to.as_secs_f64()),
            per: 1e9,
            unit: "s",
        }
    }

    /// An axis that holds latencies, logarithmic where they are far apart: no outlier is left out, and none hides the rest.
    pub fn of_latencies(values: impl Iterator<Item = u64> + Clone) -> Self {
        let top = values.clone().max().unwrap_or(0) as f64;
        let low = values.filter(|it| 0 < *it).min().unwrap_or(1) as f64;
        let (per, unit) = match top {
            top if top < 1e6 => (1e3, "µs"),
            top if top < 1e10 => (1e6, "ms"),
            _ => (1e9, "s"),
        };
        let log = WIDE * low < top;
        Self {
            axis: Axis::over(String::new(), [low / per, top / per], log),
            per,
            unit,
        }
    }

    /// Where a number of nanoseconds lies, 0 to 1 within the axis.
    pub fn fraction(&self, nanos: u64) -> f64 {
        self.axis.fraction(nanos as f64 / self.per)
    }

    /// `ms` or `ms, logarithmic`.
    pub fn words(&self) -> String {
        let log = if self.axis.log { ", logarithmic" } else { "" };
        format!("{}{log}", self.unit)
    }
}
