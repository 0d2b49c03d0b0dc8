//! Axes of time and of latencies, in the unit that a reader would choose.

use measure::units::Nanos;

use super::part::Part;
use crate::axis::Axis;

/// Over so many times its smallest value a latency's axis is logarithmic.
const WIDE: f64 = 50.0;
/// It holds so much at most: what is shorter stands at its edge.
const WIDEST: f64 = 2000.0;

/// An axis whose values are nanoseconds, shown in a unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// In the unit.
    pub axis: Axis,
    /// Nanoseconds of one of it.
    pub per: f64,
    /// Its name.
    pub unit: &'static str,
    /// Values shorter than its beginning stand at its edge.
    pub edge: bool,
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
            edge: false,
        }
    }

    /// An axis that holds latencies, logarithmic where they are far apart: no long one is left out, and none hides the rest.
    pub fn of_latencies(values: impl Iterator<Item = u64> + Clone) -> Self {
        let top = values.clone().max().unwrap_or(0) as f64;
        let shortest = values.clone().min().unwrap_or(0) as f64;
        let positive = values.filter(|it| 0 < *it).min().unwrap_or(0) as f64;
        let low = positive.max(top / WIDEST);
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
            edge: log && shortest < low,
        }
    }

    /// Where a number of nanoseconds lies, 0 to 1 within the axis.
    pub fn fraction(&self, nanos: u64) -> f64 {
        let at = self.axis.fraction(nanos as f64 / self.per);
        if self.axis.log { at.max(0.0) } else { at }
    }

    /// `ms` or `ms, logarithmic`.
    pub fn words(&self) -> String {
        let log = if self.axis.log { ", logarithmic" } else { "" };
        let edge = if self.edge {
            let from = Nanos((self.axis.bottom() * self.per) as u64);
            format!(", what is shorter than {from} at its edge")
        } else {
            String::new()
        };
        format!("{}{log}{edge}", self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_far_apart_are_logarithmic_and_the_shortest_stand_at_the_edge() {
        let near = Scale::of_latencies([20_000_000, 80_000_000].into_iter());
        assert_eq!(near.words(), "ms");
        let far = Scale::of_latencies([1, 50_000, 80_000_000].into_iter());
        assert_eq!(far.fraction(1), 0.0);
        assert!(far.fraction(80_000_000) < 1.0);
        assert!(
            far.words()
                .starts_with("ms, logarithmic, what is shorter than 30"),
            "{}",
            far.words()
        );
    }
}
