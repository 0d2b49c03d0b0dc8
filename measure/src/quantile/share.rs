//! Shares with Wilson's interval.

use super::dependence::freedom;
use super::student::student;
use super::{Indicator, Proportion};

/// The normal distribution's 97.5th percentile.
pub(super) const Z: f64 = 1.959_963_984_540_054;

impl Proportion {
    /// Wilson's 95 % interval around `value` for `effective` independent requests; `None` when there are none.
    pub fn wilson(value: f64, effective: f64) -> Option<Self> {
        Self::at(value, effective, Z)
    }

    /// The share of `ones` among `count` answers of which `time` come to one independent answer. That time is itself an
    /// estimate, for which Student's percentile stands in place of the normal one.
    pub fn dependent(ones: usize, count: usize, time: f64) -> Option<Self> {
        let (value, effective) = (ones as f64 / count as f64, count as f64 / time);
        let z = if time == 1.0 {
            Z
        } else {
            student(freedom(effective))
        };
        Self::at(value, effective, z)
    }

    fn at(value: f64, effective: f64, z: f64) -> Option<Self> {
        if effective.is_nan() || effective <= 0.0 {
            return None;
        }
        let z2n = z * z / effective;
        let centre = (value + z2n / 2.0) / (1.0 + z2n);
        let half =
            z * (value * (1.0 - value) / effective + z2n / (4.0 * effective)).sqrt() / (1.0 + z2n);
        // The ends at 0 and 1 are exact; rounding must not move them inwards.
        let lo = if value == 0.0 {
            0.0
        } else {
            (centre - half).clamp(0.0, value)
        };
        let hi = if value == 1.0 {
            1.0
        } else {
            (centre + half).clamp(value, 1.0)
        };
        Some(Self {
            value,
            lo,
            hi,
            effective,
        })
    }

    /// The share of yes, on the sample size that the answers in order of arrival are worth.
    pub fn of(indicator: &Indicator) -> Option<Self> {
        Self::wilson(
            indicator.ones() as f64 / indicator.len() as f64,
            indicator.effective(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: f64, n: f64, lo: f64, hi: f64) {
        let got = Proportion::wilson(value, n).expect("not empty");
        assert!(
            (got.lo - lo).abs() < 5e-5 && (got.hi - hi).abs() < 5e-5,
            "{got:?}"
        );
    }

    #[test]
    fn wilson_agrees_with_published_values() {
        // Newcombe 1998, table I: 81/263, 15/148, 0/20, 1/29.
        check(81.0 / 263.0, 263.0, 0.2553, 0.3662);
        check(15.0 / 148.0, 148.0, 0.0624, 0.1605);
        check(0.0, 20.0, 0.0, 0.1611);
        check(1.0 / 29.0, 29.0, 0.0061, 0.1718);
    }

    #[test]
    fn dependent_answers_take_students_percentile() {
        // 180 of 200, ten to an independent one: 0.9 of 20 with t = 2.2281 at 10 degrees of freedom (scipy).
        let got = Proportion::dependent(180, 200, 10.0).expect("some");
        assert!((got.lo - 0.664_808).abs() < 1e-4 && (got.hi - 0.976_099).abs() < 1e-4);
        let same = Proportion::wilson(0.9, 200.0);
        assert_eq!(Proportion::dependent(180, 200, 1.0), same);
        assert_eq!(Proportion::dependent(0, 0, 1.0), None);
    }

    #[test]
    fn all_good_is_sure_of_95_percent_from_73_requests() {
        assert!(Proportion::wilson(1.0, 72.0).expect("some").lo < 0.95);
        assert!(0.95 <= Proportion::wilson(1.0, 73.0).expect("some").lo);
    }

    #[test]
    fn nothing_has_no_share() {
        assert_eq!(Proportion::of(&Indicator::default()), None);
    }
}
