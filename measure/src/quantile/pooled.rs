//! Gaps pooled over requests. Gaps of one request are not independent, so whole requests are resampled.

use super::{Blocks, Distribution, Estimate, finite, percentile_linear};

/// Resamples: enough for the ends of a 95 % interval, and a bounded amount of work.
const RESAMPLES: usize = 400;
/// Fewer requests than this give no interval: resampling a handful says little about the rest.
const FEWEST_REQUESTS: usize = 20;

/// Values of a metric of which a request has many, request after request in order of arrival.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    values: Vec<f64>,
    /// Where each request's values end in `values`.
    ends: Vec<usize>,
}

impl Pool {
    /// Appends one request's values; a failed one is a single infinite value. A request without values adds nothing.
    pub fn push(&mut self, values: impl IntoIterator<Item = f64>) {
        let before = self.values.len();
        self.values.extend(values);
        if before < self.values.len() {
            self.ends.push(self.values.len());
        }
    }

    /// p50, p95 and p99 over all values; intervals by a seeded moving-block bootstrap over requests.
    pub fn distribution(&self, seed: u64) -> Distribution {
        let mut sorted = self.values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let [p50, p95, p99] = [50.0, 95.0, 99.0].map(|p| self.estimate(&sorted, p, seed));
        Distribution {
            count: sorted.len() as u32,
            failed: sorted.iter().rev().take_while(|x| x.is_infinite()).count() as u32,
            effective: p95.map_or(0.0, |(_, effective)| effective),
            p50: p50.map(|(estimate, _)| estimate),
            p95: p95.map(|(estimate, _)| estimate),
            p99: p99.map(|(estimate, _)| estimate),
        }
    }

    /// Woodruff's interval: how far does the share of values below the percentile swing when requests are resampled?
    /// The percentiles at those shares are the ends.
    fn estimate(&self, sorted: &[f64], p: f64, seed: u64) -> Option<(Estimate, f64)> {
        let value = percentile_linear(sorted, p)?;
        let only = Estimate {
            value: finite(value),
            lo: None,
            hi: None,
        };
        let Some(swing) = self.swing(value, seed) else {
            return Some((only, self.ends.len() as f64));
        };
        let end = |share: f64| percentile_linear(sorted, 100.0 * share).and_then(finite);
        let (lo, hi) = (p / 100.0 - swing.down, p / 100.0 + swing.up);
        let estimate = Estimate {
            value: finite(value),
            lo: if 0.0 <= lo { end(lo) } else { None },
            hi: if hi < 1.0 { end(hi) } else { None },
        };
        Some((estimate, swing.effective.min(sorted.len() as f64)))
    }

    /// `None` for too few requests.
    fn swing(&self, value: f64, seed: u64) -> Option<Swing> {
        let n = self.ends.len();
        if n < FEWEST_REQUESTS {
            return None;
        }
        let below = self.running_counts(value);
        let share = below[n] as f64 / self.values.len() as f64;
        let slow = |i: usize| {
            let size = self.size(i..i + 1) as f64;
            size * share < (below[i + 1] - below[i]) as f64
        };
        let mut blocks = Blocks::new(seed, &(0..n).map(slow).collect());
        let mut shares: Vec<f64> = (0..RESAMPLES)
            .map(|_| {
                let (hits, all) = blocks.resample().fold((0, 0), |(hits, all), range| {
                    (
                        hits + below[range.end] - below[range.start],
                        all + self.size(range),
                    )
                });
                hits as f64 / all as f64 - share
            })
            .collect();
        let variance = shares.iter().map(|d| d * d).sum::<f64>() / RESAMPLES as f64;
        shares.sort_unstable_by(f64::total_cmp);
        Some(Swing {
            down: -percentile_linear(&shares, 2.5)?.min(0.0),
            up: percentile_linear(&shares, 97.5)?.max(0.0),
            effective: if 0.0 < variance {
                share * (1.0 - share) / variance
            } else {
                f64::INFINITY
            },
        })
    }

    /// Values at or below `value` among the first 0, 1, 2, ... requests.
    fn running_counts(&self, value: f64) -> Vec<usize> {
        let mut counts = vec![0];
        let mut start = 0;
        for end in &self.ends {
            let here = self.values[start..*end]
                .iter()
                .filter(|x| **x <= value && x.is_finite())
                .count();
            counts.push(counts[counts.len() - 1] + here);
            start = *end;
        }
        counts
    }

    /// Values of a range of requests.
    fn size(&self, requests: std::ops::Range<usize>) -> usize {
        let upto = |i: usize| if i == 0 { 0 } else { self.ends[i - 1] };
        upto(requests.end) - upto(requests.start)
    }
}

/// How far a share swings below and above itself.
struct Swing {
    down: f64,
    up: f64,
    effective: f64,
}
