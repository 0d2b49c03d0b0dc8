//! Gaps pooled over requests. Gaps of one request are not independent, so whole requests are what varies.

use std::collections::BTreeSet;

use super::pick::{Finite, pick};
use super::{Distribution, Estimate, Memory, Place, finite, tail};

/// Fewer requests than this give no interval: a handful says little about the rest.
const FEWEST_REQUESTS: usize = 20;
/// Up to so many values are copied and sorted, which is the least work.
const SORTED: usize = 1 << 20;

/// A failed request's single value, which stands for infinity.
pub const FAILED: u64 = u64::MAX;

/// Values of a metric of which a request has many, request after request in order of arrival. Very many stay where they are
/// and are walked through again and again: a point may have tens of millions.
pub struct Pool<F> {
    /// Hands on the values of a request, by its place.
    values: F,
    requests: usize,
    /// All of them, where they are few enough to be copied.
    copied: Option<Vec<u64>>,
    /// Where the values of each request that has any end among all.
    ends: Vec<usize>,
    finite: Finite,
}

impl<F: Fn(usize, &mut dyn FnMut(u64))> Pool<F> {
    /// The values that `values` hands on of each of so many requests, in nanoseconds; [`FAILED`] is infinite.
    pub fn of(requests: usize, values: F) -> Self {
        let mut finite = Finite::default();
        let (mut ends, mut all) = (Vec::with_capacity(requests), 0);
        let mut copied = Some(Vec::new());
        for request in 0..requests {
            let before = all;
            values(request, &mut |value| {
                all += 1;
                copied.iter_mut().for_each(|it| it.push(value));
                if value != FAILED {
                    finite.count += 1;
                    finite.most = finite.most.max(value);
                }
            });
            if before < all {
                ends.push(all);
            }
            copied = copied.filter(|_| all <= SORTED);
        }
        Self {
            values,
            requests,
            copied,
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

    /// p50, p95 and p99 over all values, with intervals that take requests, not gaps, for what was drawn.
    pub fn distribution(&self) -> Distribution {
        let [p50, p95, p99] = self.estimates([50.0, 95.0, 99.0]);
        Distribution {
            count: self.count() as u32,
            failed: (self.count() - self.finite.count) as u32,
            effective: p95.map_or(0.0, |(_, effective)| effective),
            p50: p50.map(|(estimate, _)| estimate),
            p95: p95.map(|(estimate, _)| estimate),
            p99: p99.map(|(estimate, _)| estimate),
        }
    }

    /// Woodruff's intervals: how far does the share of values above the percentile swing from request to request? The
    /// percentiles at those shares are the ends.
    fn estimates<const N: usize>(&self, percentiles: [f64; N]) -> [Option<(Estimate, f64)>; N] {
        if self.count() == 0 {
            return [None; N];
        }
        let sorted = self.sorted();
        let of = |percentiles: &[f64]| match &sorted {
            Some(sorted) => self.at(sorted, percentiles),
            None => self.picked(percentiles),
        };
        let values = of(&percentiles);
        let worths: Vec<Option<f64>> = values.iter().map(|value| self.worth(*value)).collect();
        let ends = |(p, worth): (f64, &Option<f64>)| {
            let above = 1.0 - p / 100.0;
            let swing = tail::swing(above, worth.unwrap_or(1.0));
            [100.0 * (1.0 - swing.most), 100.0 * (1.0 - swing.least)]
        };
        let asked: Vec<f64> = percentiles
            .into_iter()
            .zip(&worths)
            .flat_map(ends)
            .collect();
        let ends = of(&asked);
        std::array::from_fn(|i| {
            let worth = worths[i];
            let carried =
                worth.is_some_and(|worth| tail::carries(percentiles[i], self.count(), worth));
            let estimate = Estimate {
                value: finite(values[i]),
                lo: finite(ends[2 * i].min(values[i])).filter(|_| worth.is_some()),
                hi: finite(ends[2 * i + 1].max(values[i])).filter(|_| carried),
            };
            let all = self.ends.len() as f64;
            Some((estimate, worth.unwrap_or(all).min(self.count() as f64)))
        })
    }

    /// Those that are finite, rising, where they are few enough.
    fn sorted(&self) -> Option<Vec<u64>> {
        let copied = self.copied.as_ref()?.iter();
        let mut finite: Vec<u64> = copied.copied().filter(|it| *it != FAILED).collect();
        finite.sort_unstable();
        Some(finite)
    }

    /// Percentiles of all by those that are finite, rising.
    fn at(&self, finite: &[u64], percentiles: &[f64]) -> Vec<f64> {
        let at = |rank: usize| finite.get(rank).copied().map_or(f64::INFINITY, float);
        let of = |p: &f64| Place::of(*p, self.count()).between(at);
        percentiles.iter().map(of).collect()
    }

    /// Percentiles without a sorted copy.
    fn picked(&self, percentiles: &[f64]) -> Vec<f64> {
        let places: Vec<Place> = percentiles
            .iter()
            .map(|p| Place::of(*p, self.count()))
            .collect();
        let ranks: BTreeSet<usize> = places.iter().flat_map(Place::ranks).collect();
        let found = pick(ranks, self.finite, |on| self.each(on));
        let at = |rank: usize| found.get(&rank).copied().map_or(f64::INFINITY, float);
        places.iter().map(|place| place.between(at)).collect()
    }

    /// How many independent values these are worth for the share above `value`: each request's count above, less what its
    /// size would bring, in order of arrival. `None` for too few requests, infinite where no request differs.
    fn worth(&self, value: f64) -> Option<f64> {
        let n = self.ends.len();
        if n < FEWEST_REQUESTS {
            return None;
        }
        let below = self.running_counts(value);
        let all = self.count() as f64;
        let share = below[n] as f64 / all;
        let beyond: Vec<f64> = (0..n)
            .map(|i| (below[i + 1] - below[i]) as f64 - share * self.size(i..i + 1) as f64)
            .collect();
        let memory = Memory::of(&beyond);
        let variance = memory.variance * memory.time * n as f64 / (all * all);
        Some((share * (1.0 - share) / variance).min(all))
            .filter(|worth| !worth.is_nan())
            .or(Some(all))
    }

    /// Values at or below `value` among the first 0, 1, 2, ... requests that have any.
    fn running_counts(&self, value: f64) -> Vec<usize> {
        let is_below = |x: u64| usize::from(x != FAILED && x as f64 <= value);
        let mut counts = Vec::with_capacity(self.ends.len() + 1);
        counts.push(0);
        let (mut below, mut all) = (0, 0);
        if let Some(copied) = &self.copied {
            for end in &self.ends {
                let own = &copied[std::mem::replace(&mut all, *end)..*end];
                below += own.iter().map(|x| is_below(*x)).sum::<usize>();
                counts.push(below);
            }
            return counts;
        }
        for request in 0..self.requests {
            let before = all;
            (self.values)(request, &mut |x| {
                all += 1;
                below += is_below(x);
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

    use super::super::percentile_linear;
    use super::*;

    proptest! {
        #[test]
        fn picking_finds_what_sorting_finds(
            requests in prop::collection::vec(prop::collection::vec(prop_oneof![0u64..40, 0u64..1 << 30, Just(FAILED), Just(1 << 50)], 0..9), 1..30),
            percentiles in prop::collection::vec(0.0f64..=100.0, 1..6),
        ) {
            let pool = Pool::of(requests.len(), |request, on| requests[request].iter().copied().for_each(on));
            if 0 < pool.count() {
                let sorted = pool.sorted().expect("few");
                prop_assert_eq!(pool.picked(&percentiles), pool.at(&sorted, &percentiles));
                let mut all: Vec<f64> = requests.iter().flatten().copied().map(float).collect();
                all.sort_unstable_by(f64::total_cmp);
                let expected: Vec<f64> = percentiles.iter().map(|p| percentile_linear(&all, *p).unwrap()).collect();
                prop_assert_eq!(pool.at(&sorted, &percentiles), expected);
                let counts = pool.running_counts(20.0);
                let walked = Pool { copied: None, ..pool };
                prop_assert_eq!(walked.running_counts(20.0), counts);
            }
        }
    }
}
