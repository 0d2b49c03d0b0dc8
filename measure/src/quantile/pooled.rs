//! Gaps pooled over requests. Gaps of one request are not independent, so whole requests are resampled.

use std::collections::BTreeSet;

use super::pick::{Finite, pick};
use super::{Blocks, Distribution, Estimate, Place, finite, percentile_linear};

/// Resamples: enough for the ends of a 95 % interval, and a bounded amount of work.
const RESAMPLES: usize = 400;
/// Fewer requests than this give no interval: resampling a handful says little about the rest.
const FEWEST_REQUESTS: usize = 20;
/// Up to so many values are copied and sorted, which is the least work.
const SORTED: usize = 1 << 20;

/// A failed request's single value, which stands for infinity.
pub const FAILED: u64 = u64::MAX;

/// Values of a metric of which a request has many, request after request in order of arrival. They stay where they are
/// and are walked through again and again: a point may have tens of millions.
pub struct Pool<F> {
    /// Hands on the values of a request, by its place.
    values: F,
    requests: usize,
    /// Where the values of each request that has any end among all.
    ends: Vec<usize>,
    finite: Finite,
}

impl<F: Fn(usize, &mut dyn FnMut(u64))> Pool<F> {
    /// The values that `values` hands on of each of so many requests, in nanoseconds; [`FAILED`] is infinite.
    pub fn of(requests: usize, values: F) -> Self {
        let mut finite = Finite::default();
        let (mut ends, mut all) = (Vec::with_capacity(requests), 0);
        for request in 0..requests {
            let before = all;
            values(request, &mut |value| {
                all += 1;
                if value != FAILED {
                    finite.count += 1;
                    finite.most = finite.most.max(value);
                }
            });
            if before < all {
                ends.push(all);
            }
        }
        Self {
            values,
            requests,
            ends,
            finite,
        }
    }

    fn count(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    fn each(&self, mut on: impl FnMut(u64)) {
        (0..self.requests).for_each(|request| (self.values)(request, &mut on));
    }

    /// p50, p95 and p99 over all values; intervals by a seeded moving-block bootstrap over requests.
    pub fn distribution(&self, seed: u64) -> Distribution {
        let [p50, p95, p99] = self.estimates([50.0, 95.0, 99.0], seed);
        Distribution {
            count: self.count() as u32,
            failed: (self.count() - self.finite.count) as u32,
            effective: p95.map_or(0.0, |(_, effective)| effective),
            p50: p50.map(|(estimate, _)| estimate),
            p95: p95.map(|(estimate, _)| estimate),
            p99: p99.map(|(estimate, _)| estimate),
        }
    }

    /// Woodruff's intervals: how far does the share of values below the percentile swing when requests are resampled?
    /// The percentiles at those shares are the ends.
    fn estimates<const N: usize>(
        &self,
        percentiles: [f64; N],
        seed: u64,
    ) -> [Option<(Estimate, f64)>; N] {
        if self.count() == 0 {
            return [None; N];
        }
        let values = self.percentiles(&percentiles, SORTED);
        let swings: Vec<_> = values
            .iter()
            .map(|value| self.swing(*value, seed))
            .collect();
        let of = |(p, swing): (f64, &Option<Swing>)| {
            let (down, up) = swing.as_ref().map_or((0.0, 0.0), |it| (it.down, it.up));
            [p / 100.0 - down, p / 100.0 + up]
        };
        let shares: Vec<f64> = percentiles.into_iter().zip(&swings).flat_map(of).collect();
        let asked: Vec<f64> = shares.iter().map(|share| 100.0 * share).collect();
        let ends = self.percentiles(&asked, SORTED);
        let end = |place: usize, is_there: bool| {
            let end = finite(ends[place]);
            end.filter(|_| is_there)
        };
        std::array::from_fn(|i| {
            let swing = swings[i].as_ref();
            let sure = swing.is_some();
            let estimate = Estimate {
                value: finite(values[i]),
                lo: end(2 * i, sure && 0.0 <= shares[2 * i]),
                hi: end(2 * i + 1, sure && shares[2 * i + 1] < 1.0),
            };
            let effective = swing.map_or(self.ends.len() as f64, |swing| {
                swing.effective.min(self.count() as f64)
            });
            Some((estimate, effective))
        })
    }

    /// Percentiles of all values. Up to `sorted` of them they are sorted, beyond that picked.
    fn percentiles(&self, percentiles: &[f64], sorted: usize) -> Vec<f64> {
        if self.count() <= sorted {
            let mut all = Vec::with_capacity(self.count());
            self.each(|value| all.push(float(value)));
            all.sort_unstable_by(f64::total_cmp);
            let of = |p: &f64| percentile_linear(&all, *p).unwrap_or(f64::INFINITY);
            return percentiles.iter().map(of).collect();
        }
        let places: Vec<Place> = percentiles
            .iter()
            .map(|p| Place::of(*p, self.count()))
            .collect();
        let ranks: BTreeSet<usize> = places.iter().flat_map(Place::ranks).collect();
        let found = pick(ranks, self.finite, |on| self.each(on));
        let at = |rank: usize| found.get(&rank).copied().map_or(f64::INFINITY, float);
        places.iter().map(|place| place.between(at)).collect()
    }

    /// `None` for too few requests.
    fn swing(&self, value: f64, seed: u64) -> Option<Swing> {
        let n = self.ends.len();
        if n < FEWEST_REQUESTS {
            return None;
        }
        let below = self.running_counts(value);
        let share = below[n] as f64 / self.count() as f64;
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

    /// Values at or below `value` among the first 0, 1, 2, ... requests that have any.
    fn running_counts(&self, value: f64) -> Vec<usize> {
        let mut counts = Vec::with_capacity(self.ends.len() + 1);
        counts.push(0);
        let (mut below, mut all) = (0, 0);
        for request in 0..self.requests {
            let before = all;
            (self.values)(request, &mut |x| {
                all += 1;
                below += usize::from(x != FAILED && x as f64 <= value);
            });
            if before < all {
                counts.push(below);
            }
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

fn float(value: u64) -> f64 {
    if value == FAILED {
        f64::INFINITY
    } else {
        value as f64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn picking_finds_what_sorting_finds(
            requests in prop::collection::vec(prop::collection::vec(prop_oneof![0u64..40, 0u64..1 << 30, Just(FAILED), Just(1 << 50)], 0..9), 1..30),
            percentiles in prop::collection::vec(0.0f64..=100.0, 1..6),
        ) {
            let pool = Pool::of(requests.len(), |request, on| requests[request].iter().copied().for_each(on));
            if 0 < pool.count() {
                prop_assert_eq!(pool.percentiles(&percentiles, 0), pool.percentiles(&percentiles, usize::MAX));
            }
        }
    }
}
