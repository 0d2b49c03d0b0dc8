//! An axis: its range, its ticks, and where on it a value lies. The same numbers place plotly's axes, the marks of the
//! picture and the handle of the SLO line.

use measure::units::three_digits;

/// One axis of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its title, with the unit.
    pub title: String,
    /// Logarithmic.
    pub log: bool,
    lo: f64,
    hi: f64,
}

impl Axis {
    /// An axis that holds the values, with some room at the top. Non-finite values are passed over.
    pub fn over(title: String, values: impl IntoIterator<Item = f64>, log: bool) -> Self {
        let finite = values
            .into_iter()
            .filter(|value| value.is_finite() && (!log || *value > 0.0));
        let (lo, hi) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), value| {
            (lo.min(value), hi.max(value))
        });
        let (lo, hi) = match (lo <= hi, log) {
            (false, true) => (1.0, 10.0),
            (false, false) => (0.0, 1.0),
            (true, true) => (lo / 1.3, hi * 1.6),
            (true, false) => (0.0, if hi > 0.0 { hi * 1.15 } else { 1.0 }),
        };
        Self { title, log, lo, hi }
    }

    /// The same axis, ending at `hi` with a hand's breadth above it.
    pub fn up_to(self, hi: f64) -> Self {
        Self {
            hi: if self.log { hi * 1.1 } else { hi * 1.04 },
            ..self
        }
    }

    /// The same axis, made longer only where it would not hold the value.
    pub fn reaching(self, value: f64) -> Self {
        let lo = if self.log && value < self.lo {
            value / 1.3
        } else {
            self.lo
        };
        let hi = if self.hi < value {
            value * 1.15
        } else {
            self.hi
        };
        Self { lo, hi, ..self }
    }

    /// The same axis, zoomed.
    pub fn zoomed(self, lo: f64, hi: f64) -> Self {
        Self { lo, hi, ..self }
    }

    /// Its lower end.
    pub fn bottom(&self) -> f64 {
        self.lo
    }

    /// Its upper end.
    pub fn top(&self) -> f64 {
        self.hi
    }

    /// Where a value lies, 0 at the lower end, 1 at the upper.
    pub fn fraction(&self, value: f64) -> f64 {
        if self.log {
            return (value.max(f64::MIN_POSITIVE) / self.lo).ln() / (self.hi / self.lo).ln();
        }
        (value - self.lo) / (self.hi - self.lo)
    }

    /// The inverse of [`Axis::fraction`].
    pub fn at(&self, fraction: f64) -> f64 {
        if self.log {
            return self.lo * (self.hi / self.lo).powf(fraction);
        }
        self.lo + (self.hi - self.lo) * fraction
    }

    /// Round values along it, four to nine of them, with their labels.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let values = if self.log {
            log_ticks(self.lo, self.hi)
        } else {
            linear_ticks(self.lo, self.hi)
        };
        values
            .into_iter()
            .map(|value| (value, tick_label(value)))
            .collect()
    }
}

/// More than any step of a linear axis makes: only ends that are too close to each other or too far from zero come to it.
const MOST_TICKS: usize = 12;

fn linear_ticks(lo: f64, hi: f64) -> Vec<f64> {
    let raw = (hi - lo) / 5.0;
    if !raw.is_normal() {
        return Vec::new();
    }
    let decade = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|nice| nice * decade)
        .find(|step| raw <= *step)
        .unwrap_or(raw);
    let first = (lo / step).ceil() as i64;
    let last = (hi / step).floor() as i64;
    let steps = (first..=last).take(MOST_TICKS);
    steps.map(|index| index as f64 * step).collect()
}

fn log_ticks(lo: f64, hi: f64) -> Vec<f64> {
    let decades = (lo.log10().floor() as i32)..=(hi.log10().ceil() as i32);
    let fine: &[f64] = if hi / lo > 2000.0 {
        &[1.0]
    } else {
        &[1.0, 2.0, 5.0]
    };
    let ticks: Vec<f64> = decades
        .flat_map(|decade| fine.iter().map(move |nice| nice * 10f64.powi(decade)))
        .filter(|value| lo <= *value && *value <= hi)
        .collect();
    // Zoomed far in, a logarithmic axis is nearly a linear one.
    match ticks.len() {
        0 | 1 => linear_ticks(lo, hi),
        _ => ticks,
    }
}

fn tick_label(value: f64) -> String {
    if 1000.0 <= value {
        return crate::ui::format::number(value);
    }
    let text = three_digits(value);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(values: &[f64], log: bool) -> Axis {
        Axis::over("x".into(), values.iter().copied(), log)
    }

    #[test]
    fn a_value_and_its_place_are_inverse() {
        for log in [false, true] {
            let axis = axis(&[3.0, 700.0], log);
            for value in [3.0, 10.0, 699.0] {
                assert!(
                    (axis.at(axis.fraction(value)) - value).abs() < 1e-9,
                    "{value} {log}"
                );
            }
        }
    }

    #[track_caller]
    fn check_ticks(values: &[f64], log: bool, expected: &[&str]) {
        let labels: Vec<String> = axis(values, log)
            .ticks()
            .into_iter()
            .map(|(_, label)| label)
            .collect();
        assert_eq!(labels, expected);
    }

    #[test]
    fn ticks_are_round() {
        check_ticks(&[500.0], false, &["0", "200", "400"]);
        check_ticks(
            &[1.0, 90.0],
            true,
            &["1", "2", "5", "10", "20", "50", "100"],
        );
        check_ticks(&[4000.0], false, &["0", "1,000", "2,000", "3,000", "4,000"]);
        let near = axis(&[1.0], true).zoomed(61.0, 79.0).ticks();
        let values: Vec<f64> = near.into_iter().map(|(value, _)| value).collect();
        assert_eq!(values, [65.0, 70.0, 75.0]);
    }

    #[test]
    fn an_axis_without_a_usable_step_has_no_ticks_and_no_trouble() {
        for (lo, hi) in [
            (0.0, 5e-324),
            (-5e-324, 0.0),
            (0.0, 1e-323),
            (-1.7e308, 1.7e308),
            (1e300, 1.0000001e300),
        ] {
            let zoomed = axis(&[1.0], false).zoomed(lo, hi);
            assert!(zoomed.ticks().len() <= MOST_TICKS, "{lo} {hi}");
        }
    }

    #[test]
    fn no_values_make_an_axis_all_the_same() {
        assert_eq!(axis(&[], false).fraction(0.5), 0.5);
        assert!(axis(&[0.0, -1.0, f64::INFINITY], true).top() > 1.0);
    }
}
