//! How many independent values a sample is worth.
//!
//! Requests of one point queue behind each other, so a slow one seldom comes alone. What counts for a share (and a
//! percentile is a share turned round) is the autocorrelation of the indicator "below the line" in order of arrival.

/// Most lags looked at; beyond them a sample is worth so little that more work would change nothing.
const MOST_LAGS: usize = 10_000;

/// Yes or no for each request in order of arrival, one bit each.
#[derive(Clone, Debug, Default)]
pub struct Indicator {
    words: Vec<u64>,
    len: usize,
    ones: usize,
}

impl FromIterator<bool> for Indicator {
    fn from_iter<I: IntoIterator<Item = bool>>(values: I) -> Self {
        let mut indicator = Self::default();
        for value in values {
            indicator.push(value);
        }
        indicator
    }
}

impl Indicator {
    /// Appends one answer.
    pub fn push(&mut self, value: bool) {
        if self.len.is_multiple_of(64) {
            self.words.push(0);
        }
        self.words[self.len / 64] |= u64::from(value) << (self.len % 64);
        self.ones += usize::from(value);
        self.len += 1;
    }

    /// Answers so far.
    pub fn len(&self) -> usize {
        self.len
    }

    /// No answer so far.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many of them are yes.
    pub fn ones(&self) -> usize {
        self.ones
    }

    /// The answers as bits, the first of each word the lowest.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Where the answer is yes.
    pub(crate) fn places(&self) -> impl Iterator<Item = usize> {
        (0..self.len).filter(|at| self.get(*at) == 1)
    }

    fn get(&self, index: usize) -> usize {
        (self.words[index / 64] >> (index % 64) & 1) as usize
    }

    /// Pairs `(i, i + lag)` that are both yes.
    fn both(&self, lag: usize) -> usize {
        let (skip, bits) = (lag / 64, lag % 64);
        let later = &self.words[skip..];
        (0..later.len())
            .map(|i| {
                let low = later[i] >> bits;
                let high = if bits == 0 {
                    0
                } else {
                    later.get(i + 1).map_or(0, |w| w << (64 - bits))
                };
                (self.words[i] & (low | high)).count_ones() as usize
            })
            .sum()
    }

    /// How many independent answers these are worth: `len` over the integrated autocorrelation time, never more than `len`.
    ///
    /// Geyer's initial monotone sequence: pairs of neighbouring lags are added while they decrease and stay above one
    /// standard error of noise, so that a sample without autocorrelation is not charged for the noise of its estimate.
    pub fn effective(&self) -> f64 {
        let n = self.len as f64;
        let share = self.ones as f64 / n;
        let variance = share * (1.0 - share);
        if self.len < 3 || variance <= 0.0 {
            return n;
        }
        let mut rho = Autocorrelation::new(self, share, variance);
        let mut time = 1.0 + 2.0 * rho.next();
        let mut before = f64::INFINITY;
        let noise = (2.0 / n).sqrt();
        for _ in 0..(self.len / 2 - 1).min(MOST_LAGS) / 2 {
            let pair = rho.next() + rho.next();
            if pair < noise {
                break;
            }
            before = before.min(pair);
            time += 2.0 * before;
        }
        n / time.max(1.0)
    }
}

/// Autocorrelations at lag 1, 2, 3, ...
struct Autocorrelation<'a> {
    indicator: &'a Indicator,
    share: f64,
    variance: f64,
    lag: usize,
    /// Yes among the first `lag` and among the last `lag`.
    first: usize,
    last: usize,
}

impl<'a> Autocorrelation<'a> {
    fn new(indicator: &'a Indicator, share: f64, variance: f64) -> Self {
        Self {
            indicator,
            share,
            variance,
            lag: 0,
            first: 0,
            last: 0,
        }
    }

    fn next(&mut self) -> f64 {
        let n = self.indicator.len;
        self.first += self.indicator.get(self.lag);
        self.last += self.indicator.get(n - 1 - self.lag);
        self.lag += 1;
        let heads = self.indicator.ones - self.last;
        let tails = self.indicator.ones - self.first;
        let products = self.indicator.both(self.lag) as f64 - self.share * (heads + tails) as f64
            + (n - self.lag) as f64 * self.share * self.share;
        products / (n as f64 * self.variance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::Draws;

    /// The same estimate without bit tricks.
    fn naive_rho(values: &[bool], lag: usize) -> f64 {
        let x: Vec<f64> = values.iter().map(|v| f64::from(u8::from(*v))).collect();
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let of = |lag: usize| {
            (0..x.len() - lag)
                .map(|i| (x[i] - mean) * (x[i + lag] - mean))
                .sum::<f64>()
        };
        of(lag) / of(0)
    }

    #[test]
    fn bit_counting_agrees_with_the_definition() {
        let mut draws = Draws::new(7);
        let values: Vec<bool> = (0..333).map(|_| draws.uniform() < 0.3).collect();
        let indicator: Indicator = values.iter().copied().collect();
        let share = indicator.ones() as f64 / 333.0;
        let mut rho = Autocorrelation::new(&indicator, share, share * (1.0 - share));
        for lag in 1..200 {
            let (got, expected) = (rho.next(), naive_rho(&values, lag));
            assert!(
                (got - expected).abs() < 1e-12,
                "lag {lag}: {got}, not {expected}"
            );
        }
    }

    #[test]
    fn independent_answers_are_worth_nearly_their_number() {
        let worth: f64 = (0..40u64)
            .map(|seed| {
                let mut draws = Draws::new(seed);
                (0..400)
                    .map(|_| draws.uniform() < 0.9)
                    .collect::<Indicator>()
                    .effective()
            })
            .sum();
        assert!(
            340.0 * 40.0 < worth && worth <= 400.0 * 40.0,
            "{}",
            worth / 40.0
        );
    }

    #[test]
    fn runs_of_ten_are_worth_about_a_tenth() {
        let worth: f64 = (0..40u64)
            .map(|seed| {
                let mut draws = Draws::new(seed);
                let runs: Vec<bool> = (0..200).map(|_| draws.uniform() < 0.5).collect();
                runs.iter()
                    .flat_map(|run| [*run; 10])
                    .collect::<Indicator>()
                    .effective()
            })
            .sum();
        let mean = worth / 40.0;
        assert!(150.0 < mean && mean < 280.0, "{mean}");
    }

    #[test]
    fn a_constant_is_worth_its_number() {
        assert_eq!(
            [true; 50].into_iter().collect::<Indicator>().effective(),
            50.0
        );
        assert_eq!(Indicator::default().len(), 0);
    }

    #[test]
    fn a_step_is_worth_little() {
        let step: Indicator = (0..2000).map(|i| i < 1000).collect();
        assert!(step.effective() < 10.0, "{}", step.effective());
    }
}
