//! Amounts per second.

use serde::{Deserialize, Serialize};

use super::dependence::Memory;

/// Fewer requests than this give a rate no interval.
const FEWEST_REQUESTS: usize = 20;

/// A rate with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PerSecond {
    /// The rate itself.
    pub value: f64,
    /// Lower end.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
}

impl PerSecond {
    /// `value` with ends that lie these parts of it below and above.
    pub fn within(value: f64, below: f64, above: f64) -> Self {
        Self {
            value,
            lo: (value * (1.0 - below)).max(0.0),
            hi: value * (1.0 + above),
        }
    }
}

/// How far a sum of amounts over a sum of gaps swings, as a part of it: half of its 95 % interval. `amounts` are those of
/// requests in order of arrival, `gaps` the times from each to the next; both the arrivals and the amounts are random, and
/// each request's amount less what its gap would bring is what swings (Cochran 1977, 6.3). `None` for fewer than 20.
pub fn relative_swing(amounts: &[f64], gaps: &[f64]) -> Option<f64> {
    let n = amounts.len().min(gaps.len());
    if n < FEWEST_REQUESTS {
        return None;
    }
    let (total, time) = (
        amounts[..n].iter().sum::<f64>(),
        gaps[..n].iter().sum::<f64>(),
    );
    if total <= 0.0 || time <= 0.0 {
        return None;
    }
    let rate = total / time;
    let residuals: Vec<f64> = amounts
        .iter()
        .zip(gaps)
        .map(|(amount, gap)| amount - rate * gap)
        .collect();
    Some(Memory::of(&residuals).half_width() * n as f64 / total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_stream_does_not_swing() {
        let swing = relative_swing(&[3.0; 30], &[0.5; 30]).expect("enough");
        assert!(swing < 1e-9, "{swing}");
        assert_eq!(relative_swing(&[3.0; 19], &[0.5; 19]), None);
        assert_eq!(relative_swing(&[0.0; 30], &[0.5; 30]), None);
    }

    #[test]
    fn amounts_alone_swing_by_hand() {
        // 2 and 4 by turns, gaps alike: deviation 1 of mean 3, no memory beyond alternation; t(20) = 2.086.
        let amounts: Vec<f64> = (0..40).map(|i| 2.0 + 2.0 * f64::from(i / 3 % 2)).collect();
        let swing = relative_swing(&amounts, &[1.0; 40]).expect("enough");
        assert!(0.05 < swing && swing < 0.2, "{swing}");
    }
}
