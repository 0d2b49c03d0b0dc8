//! A point's requests made ready to be judged under one SLO after another: what no SLO changes is found once.
//!
//! One column of numbers a metric, in order of arrival, so that a dragged line walks over neighbouring numbers and over
//! bits instead of over requests. Every verdict on a point is read from here, in the server and in the browser.

use std::sync::{Mutex, PoisonError};

use crate::quantile::{Distribution, Estimate, Indicator, Proportion, Sample, worst_time};
use crate::score::Score;

use super::judge::{exempt, value};
use super::{Bound, Metric, Slo};

/// Bits of a word.
const WORD: usize = 64;
/// What a request has that no bound on pace applies to.
const EXEMPT: f64 = -1.0;

/// The requests of a point as columns.
#[derive(Debug)]
pub struct Ready {
    count: usize,
    /// By the metric's place in [`Metric::ALL`], in nanoseconds: infinite for a failure, not a number where it is missing,
    /// [`EXEMPT`] where nothing is missed.
    columns: Vec<Vec<f64>>,
    /// Those that succeeded and lack a value that could be bound, by metric.
    missing: Vec<Indicator>,
    failed: Indicator,
    failed_share: Option<Proportion>,
    tokens: Vec<u32>,
    counted: Indicator,
    /// Percentiles that were asked for before: no threshold changes them.
    estimates: Mutex<Vec<Asked>>,
}

/// A metric, a percentile, and what was found.
type Asked = (Metric, f64, Option<Found>);

/// A percentile, what the sample is worth for it, and how many values there are.
pub(super) type Found = (Estimate, f64, usize);

impl Ready {
    /// Takes a point's scores, in any order.
    pub fn of(scores: &[Score]) -> Self {
        super::judge::in_order_of_arrival(scores, Self::in_order)
    }

    fn in_order(scores: &[Score]) -> Self {
        let bits = |is: &dyn Fn(&Score) -> bool| scores.iter().map(is).collect::<Indicator>();
        let (mut columns, mut missing) = (Vec::new(), Vec::new());
        for metric in Metric::ALL {
            columns.push(scores.iter().map(|score| entry(score, metric)).collect());
            missing.push(bits(&|score| entry(score, metric).is_nan()));
        }
        let failed = bits(&|score| !score.is_ok());
        Self {
            count: scores.len(),
            columns,
            missing,
            failed_share: Proportion::of(&failed),
            failed,
            tokens: scores.iter().map(|score| score.n.unwrap_or(0)).collect(),
            counted: bits(&|score| score.n.is_some()),
            estimates: Mutex::default(),
        }
    }

    /// How many requests were scheduled.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Requests counted one by one.
    pub(super) fn tally(&self, slo: &Slo) -> Tally {
        let mut broken = self.failed.words().to_vec();
        let mut missing = vec![0; broken.len()];
        let mut strains = vec![0.0; self.count];
        for at in self.failed.places() {
            strains[at] = f64::INFINITY;
        }
        for bound in &slo.bounds {
            let column = &self.columns[bound.metric as usize];
            strain(column, bound, &mut strains, &mut broken);
            let lacking = self.missing[bound.metric as usize].words();
            for (missing, lacking) in missing.iter_mut().zip(lacking) {
                *missing |= lacking;
            }
        }
        let (good, undetermined) = split(self.count, &broken, &missing);
        // From the latency over its threshold to the latency over both: a half at the threshold, 1 for a failure.
        for strain in &mut strains {
            *strain = 1.0 - 1.0 / (1.0 + *strain);
        }
        Tally {
            tokens: self.tokens_of(&good),
            good,
            undetermined,
            margins: strains,
        }
    }

    /// Tokens of these requests; `None` where there are some and nobody counted theirs.
    fn tokens_of(&self, good: &[u64]) -> Option<u64> {
        let counted: u32 = good
            .iter()
            .zip(self.counted.words())
            .map(|(good, counted)| (good & counted).count_ones())
            .sum();
        if counted == 0 && good.iter().any(|word| *word != 0) {
            return None;
        }
        let of = |(word, tokens): (&u64, &[u32])| {
            let (mut bits, mut sum) = (*word, 0);
            for tokens in tokens {
                sum += u64::from(*tokens) * (bits & 1);
                bits >>= 1;
            }
            sum
        };
        Some(good.iter().zip(self.tokens.chunks(WORD)).map(of).sum())
    }

    /// The share of requests that failed.
    pub(super) fn failed_share(&self) -> Option<Proportion> {
        self.failed_share
    }

    /// A percentile of a metric with its interval; failures are infinite.
    pub(super) fn estimate(&self, metric: Metric, p: f64) -> Option<Found> {
        let mut asked = self
            .estimates
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((.., found)) = asked.iter().find(|it| (it.0, it.1) == (metric, p)) {
            return *found;
        }
        let sample = self.sample(metric);
        let found = sample
            .estimate(p)
            .map(|(estimate, effective)| (estimate, effective, sample.len()));
        asked.push((metric, p, found));
        found
    }

    /// A metric's percentiles, as [`crate::summary::summarize`] finds them of the same requests. Not of ITL, whose gaps are pooled.
    pub fn distribution(&self, metric: Metric) -> Distribution {
        self.sample(metric).distribution()
    }

    /// Values of a metric; beside those that a queue may hide in, what the same requests waited, as the summary has them.
    fn sample(&self, metric: Metric) -> Sample {
        let column = &self.columns[metric as usize];
        let values = Sample::new(column.iter().copied().filter(|it| 0.0 <= *it).collect());
        if !matches!(
            metric,
            Metric::Tpot | Metric::Stall | Metric::E2e | Metric::ScheduledE2e
        ) {
            return values;
        }
        let waits = column.iter().zip(&self.columns[Metric::Ttft as usize]);
        let waits = waits.filter(|(value, _)| 0.0 <= **value);
        // A wait that is not known is none.
        values.beside(Sample::new(waits.map(|(_, wait)| wait.max(0.0)).collect()))
    }
}

/// What a request has in a metric's column.
fn entry(score: &Score, metric: Metric) -> f64 {
    match value(score, metric) {
        _ if !score.is_ok() => f64::INFINITY,
        Some(value) => value.0 as f64,
        None if exempt(score, metric) => EXEMPT,
        None => f64::NAN,
    }
}

/// Raises each request's strain (its latency over the threshold) to that under one more bound, and marks those that break it.
fn strain(column: &[f64], bound: &Bound, strains: &mut [f64], broken: &mut [u64]) {
    let at_most = bound.at_most.0 as f64;
    let inverse = 1.0 / at_most.max(f64::MIN_POSITIVE);
    let words = column.chunks(WORD).zip(strains.chunks_mut(WORD));
    for ((values, strains), broken) in words.zip(broken) {
        for (value, strain) in values.iter().zip(strains) {
            let here = value * inverse;
            // Always written, so that several are at once.
            *strain = if *strain < here { here } else { *strain };
        }
        *broken |= above(values, at_most);
    }
}

/// A bit for each value that is above a bound, the first the lowest.
fn above(values: &[f64], at_most: f64) -> u64 {
    let bit = |value: &f64| u64::from(at_most < *value);
    let (eights, rest) = values.as_chunks::<8>();
    let rest = rest
        .iter()
        .rev()
        .fold(0, |bits, value| bits << 1 | bit(value));
    // Eight at once: one after another each would wait for the one before.
    eights
        .iter()
        .rev()
        .fold(rest, |bits, [a, b, c, d, e, f, g, h]| {
            let low = bit(a) | bit(b) << 1 | bit(c) << 2 | bit(d) << 3;
            let high = bit(e) | bit(f) << 1 | bit(g) << 2 | bit(h) << 3;
            bits << 8 | low | high << 4
        })
}

/// Those that broke nothing and lack nothing, and how many broke nothing and lack something.
fn split(count: usize, broken: &[u64], missing: &[u64]) -> (Vec<u64>, u32) {
    let mut undetermined = 0;
    let good = broken.iter().zip(missing).enumerate();
    let good = good.map(|(at, (broken, missing))| {
        let within = u64::MAX >> WORD.saturating_sub(count - at * WORD);
        undetermined += (!broken & missing).count_ones();
        !broken & !missing & within
    });
    let good = good.collect();
    (good, undetermined)
}

/// Requests counted one by one.
pub(super) struct Tally {
    /// One bit a request.
    good: Vec<u64>,
    /// How close each came to its worst threshold: the latency over itself and the threshold, a half at the threshold, 1 for a
    /// failure, 0 without a bound that applies. What was good says too little about memory: where all are, nothing.
    margins: Vec<f64>,
    pub undetermined: u32,
    /// Tokens of the good ones; `None` where nobody counted them.
    pub tokens: Option<u64>,
}

impl Tally {
    /// How many were good.
    pub fn good(&self) -> usize {
        self.good
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// Whether each was good, in order of arrival.
    pub fn each(&self) -> impl Iterator<Item = bool> {
        let bit = |at: usize| self.good[at / WORD] >> (at % WORD) & 1 == 1;
        (0..self.margins.len()).map(bit)
    }

    /// That many of them, with Wilson's interval on what the requests are worth.
    pub fn share(&self, good: usize) -> Option<Proportion> {
        let count = self.margins.len();
        Proportion::dependent(good, count, worst_time(&self.margins, count - good))
    }
}

#[cfg(test)]
mod tests;
