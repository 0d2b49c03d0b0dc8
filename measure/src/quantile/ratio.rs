//! Amounts per second.

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

use super::dependence::Memory;
use super::share::Z;

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

/// When requests were due and how long after that each ended, in seconds and in order of arrival.
pub struct Times {
    gaps: Vec<f64>,
    /// By how much D would swing if another request were the last to end, as a part of it.
    tail: f64,
}

impl Times {
    /// From when each request was due, and when it ended, where it did.
    pub fn of(requests: impl Iterator<Item = (Nanos, Option<Nanos>)>) -> Self {
        let (due, ends): (Vec<Nanos>, Vec<Option<Nanos>>) = requests.unzip();
        let gaps = due
            .windows(2)
            .map(|pair| pair[1].since(pair[0]).as_secs_f64())
            .collect();
        let first = due.first().copied().unwrap_or_default();
        let last = ends.iter().flatten().max().copied().unwrap_or_default();
        let stays: Vec<f64> = due
            .iter()
            .zip(&ends)
            .filter_map(|(due, end)| Some((*end)?.since(*due).as_secs_f64()))
            .collect();
        let tail = Z * Memory::of(&stays).variance.sqrt() / last.since(first).as_secs_f64();
        Self {
            gaps,
            tail: if tail.is_finite() { tail } else { 0.0 },
        }
    }
}

/// How far a sum of amounts over D swings, as a part of it: half of its 95 % interval. Arrivals and amounts are both random,
/// and each request's amount less what its gap to the next would bring is what swings (Cochran 1977, 6.3). D ends with the
/// last answer, whose length is random too. `None` for fewer than 20 requests. `amounts` in order of arrival.
pub fn relative_swing(amounts: &[f64], times: &Times) -> Option<f64> {
    let gaps = &times.gaps[..];
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
    let swing = Memory::of_noisy(&residuals, &[1.0]).half_width() * n as f64 / total;
    Some(swing.hypot(times.tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests every second that take one.
    fn steady(n: u64) -> Times {
        Times::of((0..n).map(|i| {
            (
                Nanos(i * 1_000_000_000),
                Some(Nanos((i + 1) * 1_000_000_000)),
            )
        }))
    }

    #[test]
    fn a_steady_stream_does_not_swing() {
        let swing = relative_swing(&[3.0; 31], &steady(31)).expect("enough");
        assert!(swing < 1e-9, "{swing}");
        assert_eq!(relative_swing(&[3.0; 20], &steady(20)), None);
        assert_eq!(relative_swing(&[0.0; 31], &steady(31)), None);
    }

    #[test]
    fn amounts_alone_swing_by_hand() {
        // 2 and 4 as a fair coin would have them: deviation 1 of mean 3 over 400, Student's 1.972 at 200.
        let coin = |i: u64| (crate::sampling::derive(7, &[i]) >> 40) & 1;
        let amounts: Vec<f64> = (0..401).map(|i| 2.0 + 2.0 * coin(i) as f64).collect();
        let swing = relative_swing(&amounts, &steady(401)).expect("enough");
        assert!((swing / (1.972 / 3.0 / 20.0) - 1.0).abs() < 0.1, "{swing}");
    }

    #[test]
    fn a_late_last_answer_counts() {
        // Every second request takes 11 s: a deviation of 5 s in 100 s.
        let late = Times::of((0..101u64).map(|i| {
            let due = Nanos(i * 1_000_000_000);
            (due, Some(due + Nanos(1_000_000_000 * (1 + 10 * (i % 2)))))
        }));
        let swing = relative_swing(&[1.0; 101], &late).expect("enough");
        assert!((swing - 1.96 * 5.0 / 110.0).abs() < 2e-3, "{swing}");
    }
}
