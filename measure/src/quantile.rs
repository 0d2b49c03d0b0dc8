//! Percentiles by linear interpolation between order statistics, and their intervals.
//!
//! Requests of one point are not independent, so every interval goes by an *effective* sample size: the requests over the
//! memory of an autoregression fitted to them. Latencies have order-statistic intervals, shares Wilson's, rates those of a
//! ratio. Where the sample is too small for an upper end there is none: "at least".

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

use beside::explained;
use body::Body;
use whole::Whole;

mod beside; // memory seen in waits
mod body; // how full the engine was, by what most requests waited
mod bootstrap; // moving blocks
mod dependence; // how long a series remembers
mod effective; // what an autocorrelated sample is worth
mod interval; // ranks that enclose a percentile
mod normal; // the normal distribution's inverse
mod pick; // ranks among very many values
mod pooled; // gaps pooled over requests
mod ratio; // amounts per second
mod repeats; // Student over repeats
mod share; // Wilson
mod student; // his 97.5th percentile
mod tail; // ends of a percentile where requests queue
mod whole; // whether memory grows with the level
mod worst; // how long the worst margins last

pub use bootstrap::Blocks;
pub use dependence::Memory;
pub use effective::Indicator;
pub use interval::{needed_for, ranks};
pub use normal::normal_quantile;
pub use pooled::{FAILED, Pool};
pub use ratio::{PerSecond, Times, relative_swing};
pub use repeats::over_repeats;
pub use worst::worst_time;

/// Percentile `p` (0 to 100) of *sorted* values by linear interpolation (numpy's default). `None` when empty.
/// Any weight on an infinite value makes the result infinite.
pub fn percentile_linear(sorted: &[f64], p: f64) -> Option<f64> {
    sorted.last()?;
    Some(Place::of(p, sorted.len()).between(|rank| sorted[rank]))
}

/// The median of values in any order; `None` when empty.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    percentile_linear(&values, 50.0)
}

/// Where a percentile lies: at an order statistic, or so far on the way to the next.
struct Place {
    below: usize,
    share: f64,
}

impl Place {
    /// Percentile `p` of `count` values, of which there is at least one.
    fn of(p: f64, count: usize) -> Self {
        // Multiplied before divided: p95 of 101 values is then exactly the 96th, whatever follows it.
        let position = (p.clamp(0.0, 100.0) * (count - 1) as f64) / 100.0;
        let below = position.floor() as usize;
        Self {
            below,
            share: position - below as f64,
        }
    }

    /// The order statistics that it lies between.
    fn ranks(&self) -> impl Iterator<Item = usize> + use<> {
        self.below..=self.below + usize::from(self.share != 0.0)
    }

    fn between(&self, at: impl Fn(usize) -> f64) -> f64 {
        if self.share == 0.0 {
            return at(self.below);
        }
        at(self.below) * (1.0 - self.share) + at(self.below + 1) * self.share
    }
}

/// A percentile with its 95 % interval. `value: None` stands for plus infinity (failures weigh on it);
/// `hi: None` says that the sample gives no upper end, `lo: None` that it gives no lower one or that it is infinite too.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The percentile itself.
    pub value: Option<Nanos>,
    /// Lower end of the 95 % interval.
    pub lo: Option<Nanos>,
    /// Upper end of the 95 % interval.
    pub hi: Option<Nanos>,
}

/// One latency metric over a point: p50, p95, p99 with the count behind them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Values behind the percentiles, failures (which stand as infinity) included.
    pub count: u32,
    /// How many of them are failures.
    pub failed: u32,
    /// How many independent values the sample is worth (it is autocorrelated), as seen from its p95.
    pub effective: f64,
    /// Median.
    pub p50: Option<Estimate>,
    /// 95th percentile.
    pub p95: Option<Estimate>,
    /// 99th percentile.
    pub p99: Option<Estimate>,
}

/// A share with its 95 % Wilson interval on the effective sample size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proportion {
    /// The share, 0 to 1.
    pub value: f64,
    /// Lower end.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
    /// Independent requests the sample is worth.
    pub effective: f64,
}

/// Values of one metric, one a request, in order of arrival; failures are infinite.
#[derive(Clone, Debug)]
pub struct Sample {
    in_order: Vec<f64>,
    sorted: Vec<f64>,
    whole: Whole,
    /// What the same requests waited.
    beside: Option<Box<Self>>,
}

impl Sample {
    /// Takes values in order of arrival, in nanoseconds.
    pub fn new(in_order: Vec<f64>) -> Self {
        let mut sorted = in_order.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        Self {
            whole: Whole::of(&tail::far(&in_order)),
            in_order,
            sorted,
            beside: None,
        }
    }

    /// Beside what the same requests waited (their TTFT, in the same order): a queue that noise hides in these values may be
    /// seen there.
    pub fn beside(self, waits: Self) -> Self {
        Self {
            beside: Some(Box::new(waits)),
            ..self
        }
    }

    /// Values, failures included.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// No value at all.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// A percentile with its interval, and how many independent values the sample is worth for it; `None` when empty.
    pub fn estimate(&self, p: f64) -> Option<(Estimate, f64)> {
        let value = percentile_linear(&self.sorted, p)?;
        let above = 1.0 - p / 100.0;
        let (time, whole) = self.memory(value, above);
        let effective = self.sorted.len() as f64 / time;
        let (lo, hi) = if time == 1.0 {
            self.independent(p)
        } else {
            self.dependent(p, effective, &whole)
        };
        let estimate = Estimate {
            value: finite(value),
            lo: lo.and_then(|lo| finite(lo.min(value))),
            hi: hi.and_then(|hi| finite(hi.max(value))),
        };
        Some((estimate, effective))
    }

    /// How many requests come to one independent one for the share above a percentile, and how they hang together: by
    /// themselves, and by what they waited as far as the share goes by that.
    fn memory(&self, value: f64, above: f64) -> (f64, Whole) {
        if !(0.0 < above && above < 1.0) {
            return (1.0, self.whole);
        }
        let time = |of: &Self| tail::time(&of.in_order, &of.sorted, above, &of.whole);
        let own = time(self);
        let Some(waits) = &self.beside else {
            return (own, self.whole);
        };
        let beyond: Vec<bool> = self.in_order.iter().map(|x| value < *x).collect();
        let explained = explained(&waits.in_order, &waits.sorted, &beyond);
        let longer = own.max(1.0 + explained * (time(waits) - 1.0));
        (longer, self.whole.beside(&waits.whole, explained))
    }

    /// Order statistics by the exact binomial.
    fn independent(&self, p: f64) -> (Option<f64>, Option<f64>) {
        let (lo, hi) = ranks(self.sorted.len(), p);
        let at = |rank: usize| self.sorted[rank - 1];
        (lo.map(at), hi.map(at))
    }

    /// Where the share above could lie in a sample that is worth fewer requests than it has.
    fn dependent(&self, p: f64, effective: f64, whole: &Whole) -> (Option<f64>, Option<f64>) {
        let above = 1.0 - p / 100.0;
        // Noise of single requests hides the body of what has waits beside it.
        let body = Body::of(&self.sorted, above).filter(|_| self.beside.is_none());
        let shares = tail::swing_of(above, effective, whole, body.is_some());
        let lo = percentile_linear(&self.sorted, 100.0 * (1.0 - shares.most));
        let hi = tail::upper(&self.sorted, above, shares.least);
        let by_body = body.map_or(0.0, |body| {
            body.upper(self.sorted.len() as f64, effective, whole.grows)
        });
        let hi = hi.map(|hi| hi.max(by_body));
        let carried = tail::carries(p, self.sorted.len(), effective);
        (lo, hi.filter(|_| carried))
    }

    /// p50, p95 and p99.
    pub fn distribution(&self) -> Distribution {
        let [p50, p95, p99] = [50.0, 95.0, 99.0].map(|p| self.estimate(p));
        Distribution {
            count: self.sorted.len() as u32,
            failed: self
                .sorted
                .iter()
                .rev()
                .take_while(|x| x.is_infinite())
                .count() as u32,
            effective: p95.map_or(0.0, |(_, effective)| effective),
            p50: p50.map(|(estimate, _)| estimate),
            p95: p95.map(|(estimate, _)| estimate),
            p99: p99.map(|(estimate, _)| estimate),
        }
    }
}

/// Nanoseconds, or `None` for infinity.
fn finite(value: f64) -> Option<Nanos> {
    value.is_finite().then(|| Nanos(value.round() as u64))
}

impl Distribution {
    /// The estimate of one of the percentiles it holds.
    pub fn at(&self, p: f64) -> Option<Estimate> {
        match p {
            50.0 => self.p50,
            95.0 => self.p95,
            99.0 => self.p99,
            _ => None,
        }
    }

    /// How many more requests an interval with two ends would take, going by what the requests so far were worth.
    /// Zero when there are enough.
    pub fn more_needed(&self, p: f64) -> u32 {
        let worth = if self.count == 0 {
            1.0
        } else {
            self.effective / f64::from(self.count)
        };
        (tail::values_needed(p, worth.max(1e-6)) as u32).saturating_sub(self.count)
    }

    /// Whether there are enough values for an interval with two ends.
    pub fn carries(&self, p: f64) -> bool {
        tail::carries(p, self.count as usize, self.effective)
    }

    /// `at least 812 ms; 268 more requests would give it an upper end`, for a percentile without an upper end.
    pub fn at_least(&self, p: f64) -> Option<String> {
        let estimate = self.at(p).filter(|estimate| estimate.hi.is_none())?;
        let Some(lo) = estimate.lo else {
            return Some("unbounded: failed requests weigh on it".to_owned());
        };
        let more = match self.more_needed(p) {
            0 if 0 < self.failed => "failed requests leave it no upper end".to_owned(),
            0 | 1 => "a few more requests would give it an upper end".to_owned(),
            more => format!("{more} more requests would give it an upper end"),
        };
        Some(format!("at least {lo}; {more}"))
    }
}

#[cfg(test)]
mod tests;
