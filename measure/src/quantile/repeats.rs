//! Figures of a point that was repeated.

use super::student::student;

/// The 95 % interval of what repeats of a point scatter around: Student's, from at least two. Repeats are independent of
/// each other whatever happens within one of them, so this interval sees what no single point can: a memory longer than
/// the point, and what changes from one start of the engine to the next. Two repeats give an interval 13 times as wide as
/// their distance; with four it is 1.6 standard deviations to either side.
pub fn over_repeats(figures: &[f64]) -> Option<(f64, f64)> {
    let n = figures.len() as f64;
    if figures.len() < 2 || figures.iter().any(|figure| !figure.is_finite()) {
        return None;
    }
    let centre = figures.iter().sum::<f64>() / n;
    let squares: f64 = figures.iter().map(|figure| (figure - centre).powi(2)).sum();
    let half = student(n - 1.0) * (squares / (n - 1.0) / n).sqrt();
    Some((centre - half, centre + half))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(figures: &[f64], expected: Option<(f64, f64)>) {
        match (over_repeats(figures), expected) {
            (Some(got), Some(expected)) => assert!(
                (got.0 - expected.0).abs() < 5e-3 && (got.1 - expected.1).abs() < 5e-3,
                "{got:?}"
            ),
            (got, expected) => assert_eq!(got, expected),
        }
    }

    #[test]
    fn it_agrees_with_scipy() {
        // scipy.stats.t.interval(0.95, n - 1, mean, sem)
        check(&[10.0, 12.0], Some((-1.7062, 23.7062)));
        check(&[10.0, 12.0, 11.0], Some((8.5159, 13.4841)));
        check(&[10.0, 12.0, 11.0, 13.0, 9.0], Some((9.0368, 12.9632)));
        check(&[10.0], None);
        check(&[10.0, f64::INFINITY], None);
    }
}
