//! How long a series remembers: an autoregression fitted to it, and what follows for its mean.
//!
//! An autoregressive (sieve) bootstrap of a mean needs no draws: the variance it would find is known in closed form. It
//! sees a queue's memory from fewer requests than blocks do, which must be longer than the memory and many all the same.

use super::student::student;

/// Highest order that is tried.
const ORDER: usize = 10;
/// So many orders in a row that are no better end the search.
const PATIENCE: usize = 3;
/// Requests that are taken together where noise of single ones hides what they have in common; then so many of these.
const TOGETHER: usize = 4;
/// A memory longer than this share of the series cannot be told from a trend: no series is worth fewer than so many values.
const LEAST_WORTH: f64 = 4.0;

/// What a series of values in order of arrival says about its own mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// Values seen.
    pub count: usize,
    /// Variance of a value.
    pub variance: f64,
    /// Values that come to one independent value; 1 where the series shows no memory.
    pub time: f64,
}

impl Memory {
    /// Fits autoregressions of order 0 to 10 (Yule and Walker, by Durbin's recursion), takes the one of the least BIC
    /// (Schwarz 1978; three orders without gain end the search), and reads the variance of the mean off its spectrum at zero: innovations / (1 - sum of
    /// coefficients)^2. The sum is corrected for its bias in short series, (1 + 3 sum) / n (Kendall 1954). Never below 1.
    pub fn of(series: &[f64]) -> Self {
        let centred = Centred::of(series);
        let variance = centred.covariance(0);
        let time = if centred.varies(series, variance) {
            autoregressive_time(&centred, variance)
        } else {
            1.0
        };
        Self {
            count: series.len(),
            variance,
            time,
        }
    }

    /// The same, also looking at means of four neighbours, of sixteen, and so on, one look for each of `farther`: noise of
    /// single requests, or a saw within each batch, hides a queue's memory from the fit, but not from that to their means. A
    /// look counts where it finds at least so many times the memory that the finer ones did.
    pub fn of_noisy(series: &[f64], farther: &[f64]) -> Self {
        let fine = Self::of(series);
        let (mut time, mut size, mut means) = (fine.time, 1.0, Vec::new());
        for times in farther {
            means = together(if size == 1.0 { series } else { &means });
            size *= TOGETHER as f64;
            let coarse = Self::of(&means);
            let found = coarse.time * size * coarse.variance / fine.variance;
            if 1.0 < coarse.time && times * time <= found {
                time = found;
            }
        }
        Self {
            time: time.min(longest(series.len())),
            ..fine
        }
    }

    /// How many independent values these are worth.
    pub fn worth(&self) -> f64 {
        self.count as f64 / self.time
    }

    /// Degrees of freedom of the mean's standard error: half of what the series is worth, at least 3.
    pub fn freedom(&self) -> f64 {
        freedom(self.worth())
    }

    /// Half of the mean's 95 % interval.
    pub fn half_width(&self) -> f64 {
        student(self.freedom()) * (self.variance / self.worth()).sqrt()
    }
}

/// Means of neighbours.
fn together(series: &[f64]) -> Vec<f64> {
    let few = series.as_chunks::<TOGETHER>().0.iter();
    few.map(|[a, b, c, d]| (a + b + c + d) / TOGETHER as f64)
        .collect()
}

/// Degrees of freedom of a standard error from what a sample is worth.
pub(super) fn freedom(worth: f64) -> f64 {
    (worth / 2.0).max(3.0)
}

/// A series less its mean.
struct Centred(Vec<f64>);

impl Centred {
    fn of(series: &[f64]) -> Self {
        let mean = sum(series) / series.len() as f64;
        Self(series.iter().map(|value| value - mean).collect())
    }

    /// Whether there is more than what rounding leaves of a constant.
    fn varies(&self, series: &[f64], variance: f64) -> bool {
        // No value is larger than the first and the farthest from the mean allow: most series need no walk.
        let first = series.first().map_or(0.0, |first| first.abs());
        let farthest = (variance * series.len() as f64).sqrt();
        let is_beyond = |scale: f64| 1e-24 * scale * scale < variance;
        is_beyond(2.0 * (first + 2.0 * farthest))
            || is_beyond(series.iter().fold(0.0f64, |most, x| most.max(x.abs())))
    }

    /// Autocovariance at a lag, over the whole count.
    fn covariance(&self, lag: usize) -> f64 {
        let later = self.0.get(lag..).unwrap_or_default();
        let earlier = &self.0[..later.len()];
        let ((few, rest), (few_later, rest_later)) =
            (earlier.as_chunks::<LANES>(), later.as_chunks::<LANES>());
        let mut sums = [0.0; LANES];
        for ([a, b, c, d], [e, f, g, h]) in few.iter().zip(few_later) {
            sums[0] += a * e;
            sums[1] += b * f;
            sums[2] += c * g;
            sums[3] += d * h;
        }
        let rest: f64 = rest.iter().zip(rest_later).map(|(x, y)| x * y).sum();
        (sums.iter().sum::<f64>() + rest) / self.0.len() as f64
    }
}

/// Sums side by side: one after another each would wait for the one before.
pub(super) const LANES: usize = 4;

/// The sum of many values.
fn sum(values: &[f64]) -> f64 {
    let (few, rest) = values.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for [a, b, c, d] in few {
        sums[0] += a;
        sums[1] += b;
        sums[2] += c;
        sums[3] += d;
    }
    sums.iter().sum::<f64>() + rest.iter().sum::<f64>()
}

/// Durbin's recursion over orders; the time of the order with the least BIC.
fn autoregressive_time(series: &Centred, variance: f64) -> f64 {
    let n = series.0.len() as f64;
    let mut covariances = vec![variance];
    let mut coefficients = [0.0; ORDER];
    let mut innovations = variance;
    let mut best = (n * innovations.ln(), 0, 0.0, innovations);
    for order in 1..=ORDER.min(series.0.len() / 10) {
        if best.1 + PATIENCE < order {
            break;
        }
        covariances.push(series.covariance(order));
        innovations *= step(&mut coefficients, &covariances, innovations);
        if innovations <= 1e-12 * variance {
            break;
        }
        let criterion = n * innovations.ln() + n.ln() * order as f64;
        if criterion < best.0 {
            best = (criterion, order, coefficients.iter().sum(), innovations);
        }
    }
    let (.., sum, innovations) = best;
    time(sum, innovations / variance, n)
}

/// The coefficients of the next order; by which factor its innovations vary less.
fn step(coefficients: &mut [f64; ORDER], covariances: &[f64], innovations: f64) -> f64 {
    let known = covariances.len() - 2;
    let explained: f64 = (0..known)
        .map(|i| coefficients[i] * covariances[known - i])
        .sum();
    let partial = (covariances[known + 1] - explained) / innovations;
    let before = *coefficients;
    for i in 0..known {
        coefficients[i] -= partial * before[known - 1 - i];
    }
    coefficients[known] = partial;
    1.0 - partial * partial
}

/// Spectrum at zero over variance, with the sum of coefficients corrected for its bias.
fn time(sum: f64, innovations: f64, n: f64) -> f64 {
    let corrected = if 0.0 < sum {
        (sum + (1.0 + 3.0 * sum) / n).min(1.0 - 1e-3)
    } else {
        sum
    };
    let time = innovations / (1.0 - corrected).powi(2);
    time.clamp(1.0, longest(n as usize))
}

fn longest(count: usize) -> f64 {
    (count as f64 / LEAST_WORTH).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::Draws;

    fn autoregression(phi: f64, n: usize, seed: u64) -> Vec<f64> {
        let mut draws = Draws::new(seed);
        let mut value = draws.normal();
        let mut next = || {
            value = phi * value + (1.0 - phi * phi).sqrt() * draws.normal();
            value
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn covariances_are_those_worked_out_by_hand() {
        // 1, 2, 3, 4 less their mean: -1.5, -0.5, 0.5, 1.5. Squares 5, neighbours 1.25, at two -1.5, at three -2.25.
        let series = Centred::of(&[1.0, 2.0, 3.0, 4.0]);
        let got = [0, 1, 2, 3].map(|lag| series.covariance(lag));
        assert_eq!(got, [1.25, 0.3125, -0.375, -0.5625]);
        let long = Centred::of(&(0..11).map(f64::from).collect::<Vec<f64>>());
        // -5 x -4 + -4 x -3 + ... + 4 x 5 = 80.
        assert_eq!(long.covariance(1), 80.0 / 11.0);
    }

    #[test]
    fn a_fit_agrees_with_numpy() {
        // numpy and scipy: scipy.linalg.toeplitz, numpy.linalg.solve for each order, BIC takes order 1.
        let series: Vec<f64> = (0..60)
            .map(|i| f64::from(i % 7 + (i / 9) * 5 % 13))
            .collect();
        let memory = Memory::of(&series);
        assert!((memory.variance - 21.776_666_666_666_664).abs() < 1e-12);
        assert!(
            (memory.time - 11.398_966_315_330_298).abs() < 1e-9,
            "{memory:?}"
        );
    }

    #[test]
    fn memory_is_found_as_long_as_it_is() {
        for (phi, expected) in [(0.0, 1.0), (0.5, 3.0), (0.9, 19.0)] {
            let mut times: Vec<f64> = (0..101)
                .map(|seed| Memory::of(&autoregression(phi, 1000, seed)).time)
                .collect();
            times.sort_unstable_by(f64::total_cmp);
            let typical = times[50];
            assert!(
                (typical / expected - 1.0).abs() < 0.15,
                "{phi}: {typical}, not {expected}"
            );
        }
    }

    #[test]
    fn noise_does_not_hide_a_memory() {
        // An autoregression under as much noise again: of the variance 0.5 remembers 99 / 1 values.
        let mut draws = Draws::new(3);
        let noisy: Vec<f64> = autoregression(0.98, 4000, 5)
            .into_iter()
            .map(|x| x + draws.normal())
            .collect();
        let (fine, both) = (
            Memory::of(&noisy).time,
            Memory::of_noisy(&noisy, &[1.0]).time,
        );
        assert!(fine <= both && 15.0 < both && both < 90.0, "{fine} {both}");
        assert_eq!(
            Memory::of_noisy(&autoregression(0.0, 500, 1), &[1.0, 1.0]).time,
            1.0
        );
        assert_eq!(Memory::of_noisy(&[7.3; 300], &[1.0, 1.0]).time, 1.0);
    }

    #[test]
    fn a_memory_under_much_noise_is_seen_from_farther_off() {
        // An autoregression of 0.98 under four times its variance of noise.
        let times: Vec<[f64; 2]> = (0..21)
            .map(|seed| {
                let mut draws = Draws::new(100 + seed);
                let noisy: Vec<f64> = autoregression(0.98, 2000, seed)
                    .into_iter()
                    .map(|x| x + 2.0 * draws.normal())
                    .collect();
                [&[1.0][..], &[1.0, 1.5]].map(|looks| Memory::of_noisy(&noisy, looks).time)
            })
            .collect();
        let longer = times.iter().filter(|[near, far]| 1.5 * near <= *far);
        assert!(times.iter().all(|[near, far]| near <= far));
        assert!(5 <= longer.count(), "{times:?}");
    }

    #[test]
    fn a_constant_and_an_alternation_have_none() {
        assert_eq!(Memory::of(&[7.3; 300]).time, 1.0);
        let alternating: Vec<f64> = (0..300).map(|i| f64::from(i % 2)).collect();
        assert_eq!(Memory::of(&alternating).time, 1.0);
    }

    #[test]
    fn a_trend_is_worth_four() {
        let trend: Vec<f64> = (0..400).map(f64::from).collect();
        assert_eq!(Memory::of(&trend).worth(), 4.0);
    }

    #[test]
    fn nothing_and_one_value_are_no_trouble() {
        assert_eq!(Memory::of(&[5.0]).time, 1.0);
        assert_eq!(Memory::of_noisy(&[], &[1.0, 1.0]).time, 1.0);
    }
}
