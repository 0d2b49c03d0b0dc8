//! Order-statistic intervals: which ranks enclose a percentile with 95 % confidence, by the exact binomial.

/// Half of the 5 % that a 95 % interval leaves outside.
pub(super) const TAIL: f64 = 0.025;

/// Ranks (from 1) of the order statistics of `m` independent values that enclose percentile `p` with at least 95 %
/// confidence. `None` where even the smallest, or the largest, value does not suffice.
pub fn ranks(m: usize, p: f64) -> (Option<usize>, Option<usize>) {
    let share = p / 100.0;
    if m == 0 || !(0.0 < share && share < 1.0) {
        return (None, None);
    }
    let (first, weights) = binomial(m, share);
    (
        lower(first, &weights),
        upper(first, &weights).filter(|rank| *rank <= m),
    )
}

/// Independent values that percentile `p` needs for an interval with two ends: 6 for a median, 72 for a p95, 368 for a p99.
/// Zero where no number suffices (`p` at 0 or 100).
pub fn needed_for(p: f64) -> u32 {
    let share = (p / 100.0).max(1.0 - p / 100.0);
    if !(0.0 < share && share < 1.0) {
        return 0;
    }
    (TAIL.ln() / share.ln()).ceil() as u32
}

/// Probabilities of the binomial distribution around its mode, and the count that the first one belongs to. What lies
/// outside weighs less than 1e-18 of the mode.
fn binomial(m: usize, share: f64) -> (usize, Vec<f64>) {
    let mode = (((m + 1) as f64 * share) as usize).min(m);
    let odds = share / (1.0 - share);
    let mut below = Vec::new();
    let mut weight = 1.0;
    for k in (1..=mode).rev() {
        weight *= k as f64 / ((m - k + 1) as f64 * odds);
        if weight < 1e-18 {
            break;
        }
        below.push(weight);
    }
    let first = mode - below.len();
    let mut weights: Vec<f64> = below.into_iter().rev().chain([1.0]).collect();
    weight = 1.0;
    for k in mode..m {
        weight *= (m - k) as f64 * odds / (k + 1) as f64;
        if weight < 1e-18 {
            break;
        }
        weights.push(weight);
    }
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= total);
    (first, weights)
}

/// The highest rank `l` with P(count < l) <= 2.5 %.
fn lower(first: usize, weights: &[f64]) -> Option<usize> {
    let mut outside = 0.0;
    let beyond = weights.iter().position(|weight| {
        outside += weight;
        TAIL < outside
    });
    Some(first + beyond?).filter(|rank| 1 <= *rank)
}

/// The lowest rank `u` with P(count >= u) <= 2.5 %; may lie beyond the sample.
fn upper(first: usize, weights: &[f64]) -> Option<usize> {
    let mut outside = 0.0;
    let inside = weights.iter().rposition(|weight| {
        outside += weight;
        TAIL < outside
    });
    Some(first + inside? + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(m: usize, p: f64, expected: (Option<usize>, Option<usize>)) {
        assert_eq!(ranks(m, p), expected, "m {m}, p {p}");
    }

    #[test]
    fn the_median_of_a_few_matches_the_tables() {
        // Textbook sign-test intervals.
        check(5, 50.0, (None, None));
        check(6, 50.0, (Some(1), Some(6)));
        check(10, 50.0, (Some(2), Some(9)));
        check(20, 50.0, (Some(6), Some(15)));
        check(100, 50.0, (Some(40), Some(61)));
    }

    #[test]
    fn a_p95_has_an_upper_end_from_72_and_a_p99_from_368() {
        assert_eq!(ranks(71, 95.0).1, None);
        assert_eq!(ranks(72, 95.0).1, Some(72));
        assert_eq!(ranks(367, 99.0).1, None);
        assert_eq!(ranks(368, 99.0).1, Some(368));
    }

    #[test]
    fn needs_are_counted() {
        assert_eq!(
            [50.0, 95.0, 99.0, 5.0, 99.9, 0.0, 100.0].map(needed_for),
            [6, 72, 368, 72, 3688, 0, 0]
        );
    }

    #[test]
    fn a_large_sample_agrees_with_the_normal_approximation() {
        let (Some(lo), Some(hi)) = ranks(100_000, 95.0) else {
            panic!("two ends")
        };
        let half = 1.96 * (100_000.0f64 * 0.95 * 0.05).sqrt();
        assert!((lo as f64 - (95_000.0 - half)).abs() < 3.0, "{lo}");
        assert!((hi as f64 - (95_000.0 + half)).abs() < 3.0, "{hi}");
    }

    #[test]
    fn the_binomial_sums_by_hand() {
        let (first, weights) = binomial(3, 0.5);
        assert_eq!(first, 0);
        for (got, expected) in weights.iter().zip([0.125, 0.375, 0.375, 0.125]) {
            assert!((got - expected).abs() < 1e-15);
        }
    }
}
