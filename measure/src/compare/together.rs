//! All differences of a page judged together: the more one looks at, the more each must be sure of.

use crate::quantile::normal_quantile;

use super::student::{as_normal, from_normal};
use super::{BLIND, BLIND_SHARE, Difference, Measured, Verdict};

/// Chance that any verdict of a page without a difference is better or worse. Ceilings have the fifth hundredth: they go by
/// intervals of their own.
const ERROR: f64 = 0.04;
/// The normal deviate of 80 %: a difference of the smallest size that could have been seen is seen so often.
const SEEN: f64 = 0.841_621_233_572_914_3;

/// Which way is better, and what is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    /// The logarithm of a ratio of latencies: less is better.
    Latency,
    /// A difference of shares of good requests: more is better.
    Share,
}

/// The normal deviates that each difference must exceed, by Holm's procedure (1979): the surest of m must be sure to 4 % / m,
/// the next to 4 % / (m - 1), until one is not; that one's stands for all that follow.
pub(super) fn thresholds(all: &[&Measured]) -> Vec<f64> {
    let sureness: Vec<f64> = all.iter().map(|one| one.sureness()).collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|a, b| sureness[*b].total_cmp(&sureness[*a]));
    let mut thresholds = vec![0.0; all.len()];
    let mut left = all.len();
    for at in order {
        let threshold = first_threshold(left);
        thresholds[at] = threshold;
        if threshold < sureness[at] {
            left -= 1;
        }
    }
    thresholds
}

/// The first and largest of the thresholds for so many differences.
pub(super) fn first_threshold(count: usize) -> f64 {
    -normal_quantile(ERROR / 2.0 / count.max(1) as f64)
}

impl Measured {
    /// How many normal standard errors it is away from no difference.
    pub fn sureness(&self) -> f64 {
        let error = if 0.0 < self.value {
            self.below
        } else {
            self.above
        };
        let beyond = (self.value.abs() - self.bias).max(0.0);
        as_normal(beyond / error.max(f64::MIN_POSITIVE), self.freedom)
    }

    /// The larger standard error.
    pub fn error(&self) -> f64 {
        self.below.max(self.above)
    }

    /// The smallest difference that is seen four times in five.
    pub fn smallest(&self, scale: Scale, threshold: f64) -> f64 {
        let wide = from_normal(threshold, self.freedom);
        let seen = (wide + SEEN) * self.error() + self.bias;
        scale.relative(seen).min(scale.most())
    }

    /// The difference with the interval that a threshold asks for, and the verdict: whether that excludes no difference.
    pub fn judged(&self, scale: Scale, threshold: f64) -> (Difference, Verdict) {
        let wide = from_normal(threshold, self.freedom);
        let (lo, hi) = (
            self.value - wide * self.below - self.bias,
            self.value + wide * self.above + self.bias,
        );
        let verdict = match scale {
            Scale::Latency if 0.0 < lo => Verdict::Worse,
            Scale::Latency if hi < 0.0 => Verdict::Better,
            Scale::Share if 0.0 < lo => Verdict::Better,
            Scale::Share if hi < 0.0 => Verdict::Worse,
            _ => Verdict::none(self.smallest(scale, threshold), scale.blind()),
        };
        let [relative, lo, hi] =
            [self.value, lo, hi].map(|value| scale.relative(value).clamp(-1.0, scale.most()));
        let difference = Difference {
            relative,
            lo,
            hi,
            pairs: self.pairs,
        };
        (difference, verdict)
    }
}

impl Scale {
    fn relative(self, value: f64) -> f64 {
        match self {
            Self::Latency => value.exp_m1(),
            Self::Share => value,
        }
    }

    /// What must be visible so that "none" says anything.
    fn blind(self) -> f64 {
        match self {
            Self::Latency => BLIND,
            Self::Share => BLIND_SHARE,
        }
    }

    /// No share changes by more than all of it, and no ratio is given beyond a thousand.
    fn most(self) -> f64 {
        match self {
            Self::Latency => 1e3,
            Self::Share => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Learned;
    use super::*;

    fn at(value: f64) -> Measured {
        Measured {
            value,
            below: 1.0,
            above: 1.0,
            bias: 0.0,
            freedom: 1e9,
            pairs: 100,
            repeats: Vec::new(),
            learned: Learned::Nothing,
        }
    }

    /// Verdicts of differences that lie so many standard errors away.
    #[track_caller]
    fn check(values: &[f64], expected: &str) {
        let all: Vec<Measured> = values.iter().map(|value| at(*value)).collect();
        let all: Vec<&Measured> = all.iter().collect();
        let letter =
            |(one, threshold): (&&Measured, f64)| match one.judged(Scale::Share, threshold).1 {
                Verdict::Better => 'b',
                Verdict::Worse => 'w',
                _ => '-',
            };
        let said: String = all.iter().zip(thresholds(&all)).map(letter).collect();
        assert_eq!(said, expected);
    }

    #[test]
    fn one_alone_needs_two_standard_errors() {
        check(&[2.04], "-");
        check(&[2.06], "b");
        check(&[-2.06], "w");
    }

    #[test]
    fn many_need_more_each_and_fewer_once_some_are_found() {
        // Holm's thresholds of three are 2.475, 2.326 and 2.054.
        check(&[2.4, 0.0, 0.0], "---");
        check(&[2.5, 2.4, 0.0], "bb-");
        check(&[2.5, 2.3, 1.0], "b--");
        check(&[-2.6, 2.4, 2.1], "wbb");
        check(&[], "");
    }

    #[test]
    fn the_interval_excludes_no_difference_where_the_verdict_says_so() {
        let all = [at(3.0), at(2.3), at(0.5)];
        let all: Vec<&Measured> = all.iter().collect();
        for (one, threshold) in all.iter().zip(thresholds(&all)) {
            let (difference, verdict) = one.judged(Scale::Latency, threshold);
            let excludes = 0.0 < difference.lo || difference.hi < 0.0;
            assert_eq!(excludes, verdict == Verdict::Worse);
        }
    }

    #[test]
    fn where_a_doubling_would_not_have_been_seen_nobody_can_tell() {
        let wide = |error: f64| Measured {
            below: error,
            above: error,
            ..at(0.0)
        };
        let verdict = |error: f64, scale| wide(error).judged(scale, 1.96).1;
        // ln 2 is 2.8 standard errors of 0.2475.
        let seen =
            |it| matches!(it, Verdict::NoDifference { smallest_seen } if smallest_seen <= 1.0);
        let blind = |it| matches!(it, Verdict::CannotTell { smallest_seen } if 1.0 < smallest_seen);
        assert!(seen(verdict(0.24, Scale::Latency)));
        assert!(blind(verdict(0.25, Scale::Latency)));
        // Half of all requests is 2.8 of 0.1785.
        assert!(seen(verdict(0.17, Scale::Share)));
        let share = verdict(0.19, Scale::Share);
        assert!(matches!(share, Verdict::CannotTell { smallest_seen } if 0.5 < smallest_seen));
    }

    #[test]
    fn the_smallest_that_could_have_been_seen_is_seen_four_times_in_five() {
        let one = Measured {
            below: 0.02,
            above: 0.02,
            ..at(0.0)
        };
        let Verdict::NoDifference { smallest_seen } = one.judged(Scale::Share, 1.96).1 else {
            panic!("a verdict")
        };
        // 1.96 + 0.84 standard errors.
        assert!((smallest_seen - 0.0560).abs() < 1e-4, "{smallest_seen}");
    }
}
