//! How far a sum over sessions swings when sessions that queue behind each other are alike.

/// A variance, and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub variance: f64,
    /// Degrees of freedom behind it.
    pub freedom: f64,
    /// Independent values that the least sample behind it is worth.
    pub worth: f64,
}

impl Spread {
    /// The spread of a sum or difference of independent things (Welch and Satterthwaite).
    pub fn plus(self, other: Self) -> Self {
        let variance = self.variance + other.variance;
        let doubt = self.variance.powi(2) / self.freedom + other.variance.powi(2) / other.freedom;
        let freedom = if 0.0 < doubt {
            variance * variance / doubt
        } else {
            self.freedom + other.freedom
        };
        Self {
            variance,
            freedom,
            worth: self.worth.min(other.worth),
        }
    }
}

/// How much too short a correlation time comes out, in parts of itself over the number of values: autocorrelations around a mean
/// taken from the same values are too small, and their tail is cut off. Found by trial on series that are known (the tests).
const SHORT: f64 = 8.0;

/// The variance of the sum of all values, which stand run after run in order of arrival; `runs` tells how many each run has.
///
/// The sum of squares around each run's mean, times the correlation time T = 1 + 2 (r1 + r2 + ...) by Geyer's initial monotone
/// sequence, as for percentiles, over 1 - 8 T / n. A moving-block bootstrap of the same sum has this variance when its blocks are
/// long. With K lags in T the variance is known with n / 2 (K + 1) degrees of freedom.
pub(super) fn of_sum(values: &[f64], runs: &[usize]) -> Spread {
    let centred = centred(values, runs);
    let count = values.len() as f64;
    let squares = products(&centred, runs, 0);
    if squares <= 0.0 || values.len() < 3 {
        return Spread {
            variance: 0.0,
            freedom: (count - 1.0).max(1.0),
            worth: count,
        };
    }
    let (time, lags) = correlation_time(&centred, runs, squares);
    let short = (SHORT * time / count).min(0.5);
    Spread {
        worth: count / time,
        variance: squares * time / (1.0 - short),
        freedom: (count / (2.0 * (lags as f64 + 1.0)) - runs.len() as f64).max(1.0),
    }
}

/// 1 + 2 (r1 + r2 + ...), and how many lags that took. What is within chance counts as none.
fn correlation_time(centred: &[f64], runs: &[usize], squares: f64) -> (f64, usize) {
    let longest = runs.iter().copied().max().unwrap_or(0);
    let r = |lag: usize| products(centred, runs, lag) / squares;
    let chance = (1.0 / centred.len() as f64).sqrt();
    let first = r(1);
    if first < chance {
        return (1.0, 0);
    }
    let mut time = 1.0 + 2.0 * first;
    let mut before = f64::INFINITY;
    let mut lag = 1;
    while lag + 2 < longest / 2 {
        let pair = r(lag + 1) + r(lag + 2);
        if pair < chance * std::f64::consts::SQRT_2 {
            break;
        }
        before = before.min(pair);
        time += 2.0 * before;
        lag += 2;
    }
    (time, lag)
}

fn centred(values: &[f64], runs: &[usize]) -> Vec<f64> {
    let mut centred = Vec::with_capacity(values.len());
    each_run(values, runs, |run| {
        let mean = run.iter().sum::<f64>() / run.len().max(1) as f64;
        centred.extend(run.iter().map(|value| value - mean));
    });
    centred
}

/// The sum of products of values so far apart in one run.
fn products(centred: &[f64], runs: &[usize], lag: usize) -> f64 {
    let mut sum = 0.0;
    each_run(centred, runs, |run| {
        let later = run.get(lag..).unwrap_or_default();
        sum += run.iter().zip(later).map(|(a, b)| a * b).sum::<f64>();
    });
    sum
}

fn each_run(values: &[f64], runs: &[usize], mut on: impl FnMut(&[f64])) {
    let mut rest = values;
    for length in runs {
        let (run, after) = rest.split_at((*length).min(rest.len()));
        on(run);
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantile::{Blocks, Indicator};
    use crate::sampling::Draws;

    /// So many values, each like the one before by `rho`, with variance 1.
    fn ar1(n: usize, rho: f64, seed: u64) -> Vec<f64> {
        let mut draws = Draws::new(seed);
        let mut value = draws.normal();
        (0..n)
            .map(|_| {
                value = rho * value + (1.0 - rho * rho).sqrt() * draws.normal();
                value
            })
            .collect()
    }

    /// The median over many series of the variance found, over what it is: n (1 + rho) / (1 - rho).
    fn found_over_true(n: usize, rho: f64) -> f64 {
        let truth = n as f64 * (1.0 + rho) / (1.0 - rho);
        let mut found: Vec<f64> = (0..101)
            .map(|seed| of_sum(&ar1(n, rho, seed), &[n]).variance / truth)
            .collect();
        found.sort_by(f64::total_cmp);
        found[50]
    }

    #[test]
    fn the_variance_of_a_sum_is_found_with_and_without_dependence() {
        for (n, rho, lo) in [
            (500, 0.0, 0.97),
            (500, 0.5, 0.9),
            (500, 0.9, 0.75),
            (2000, 0.9, 0.88),
        ] {
            let found = found_over_true(n, rho);
            assert!(lo < found && found < 1.15, "{n} {rho}: {found}");
        }
    }

    #[test]
    fn it_agrees_with_a_moving_block_bootstrap() {
        let values = ar1(2000, 0.6, 7);
        let slow: Indicator = values.iter().map(|value| 0.0 < *value).collect();
        let mut blocks = Blocks::new(1, &slow);
        let sums: Vec<f64> = (0..2000)
            .map(|_| {
                blocks
                    .resample()
                    .map(|range| values[range].iter().sum::<f64>())
                    .sum()
            })
            .collect();
        let mean = sums.iter().sum::<f64>() / 2000.0;
        let drawn = sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / 2000.0;
        let found = of_sum(&values, &[2000]).variance;
        assert!(
            (found / drawn).sqrt().ln().abs() < 0.2,
            "{found} against {drawn}"
        );
    }

    #[test]
    fn what_differs_between_runs_is_not_what_swings_within_them() {
        let mut values = ar1(400, 0.0, 3);
        let within = of_sum(&values, &[200, 200]);
        values[200..].iter_mut().for_each(|value| *value += 50.0);
        let moved = of_sum(&values, &[200, 200]);
        assert!((moved.variance / within.variance - 1.0).abs() < 1e-6);
        assert!(within.variance < of_sum(&values, &[400]).variance / 100.0);
    }

    #[test]
    fn values_that_do_not_swing_have_no_variance() {
        assert_eq!(of_sum(&[2.0; 50], &[50]).variance, 0.0);
        assert_eq!(of_sum(&[], &[]).variance, 0.0);
    }

    #[test]
    fn freedom_adds_as_welch_says() {
        let spread = |variance: f64, freedom: f64| Spread {
            variance,
            freedom,
            worth: freedom,
        };
        let one = spread(1.0, 10.0);
        assert_eq!(
            one.plus(spread(1.0, 10.0)),
            Spread {
                worth: 10.0,
                ..spread(2.0, 20.0)
            }
        );
        assert_eq!(one.plus(spread(0.0, 50.0)), one);
    }
}
