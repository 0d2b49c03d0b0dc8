//! Student's t as a normal deviate, so that verdicts of unequal certainty stand on one scale.

/// Degrees of freedom from which on the two are the same to four digits.
const MANY: f64 = 1e6;

/// The normal deviate that is as unlikely as `t` with so many degrees of freedom (Wallace 1959; from 4 degrees on within 3 %,
/// and cautious below).
pub(crate) fn as_normal(t: f64, freedom: f64) -> f64 {
    if MANY < freedom {
        return t;
    }
    let size = (freedom * (t * t / freedom).ln_1p()).sqrt();
    (size / stretch(freedom)).copysign(t)
}

/// The inverse of [`as_normal`].
pub(crate) fn from_normal(z: f64, freedom: f64) -> f64 {
    if MANY < freedom {
        return z;
    }
    let size = z * stretch(freedom);
    (freedom * (size * size / freedom).exp_m1())
        .sqrt()
        .copysign(z)
}

fn stretch(freedom: f64) -> f64 {
    (8.0 * freedom + 3.0) / (8.0 * freedom + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two-sided 5 % and 0.1 % points of Student's t from the tables.
    #[track_caller]
    fn check(freedom: f64, five_percent: f64, one_in_thousand: f64) {
        for (z, t) in [
            (1.959_963_985, five_percent),
            (3.290_526_731, one_in_thousand),
        ] {
            let got = from_normal(z, freedom);
            assert!((got / t - 1.0).abs() < 0.04, "{freedom}: {got}, not {t}");
            assert!((as_normal(got, freedom) - z).abs() < 1e-9);
            assert!((as_normal(-got, freedom) + z).abs() < 1e-9);
        }
    }

    #[test]
    fn it_agrees_with_the_tables() {
        check(4.0, 2.776, 8.610);
        check(10.0, 2.228, 4.587);
        check(30.0, 2.042, 3.646);
        check(120.0, 1.980, 3.373);
        check(1e9, 1.960, 3.291);
    }
}
