//! Values counted by size, and what may be said of their quantiles: a place within a bucket, and the bucket's bounds.

use serde::{Deserialize, Serialize};

use super::reading::MOST;

/// A histogram.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Buckets {
    /// Upper bounds, ascending, the last one infinite.
    pub bounds: Vec<f64>,
    /// Values in each bucket, those of smaller ones not included.
    pub counts: Vec<f64>,
    /// All values together.
    pub sum: f64,
}

/// A quantile of values that are known by their buckets only.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Between {
    /// Surely not below this.
    pub lo: f64,
    /// Where it lies if values are spread evenly within the bucket.
    pub value: f64,
    /// Surely not above this; none in the last bucket, which has no end.
    pub hi: Option<f64>,
}

/// Bounds further apart than by this factor say nothing of where between them a value lies.
const WIDE: f64 = 2.0;

impl Between {
    /// Whether its place within the bucket is worth naming: the bucket's bounds lie near each other, one the other's double
    /// at most. Else only the bounds are known.
    pub fn tells(&self) -> bool {
        self.hi.is_some_and(|hi| hi <= WIDE * self.lo)
    }
}

impl Buckets {
    /// From what a page has: the count of all values up to each bound. None where the sum is no engine's.
    pub fn cumulative(mut up_to: Vec<(f64, f64)>, sum: f64) -> Option<Self> {
        let is_sane = |it: f64| it.abs() <= MOST;
        up_to.retain(|(bound, count)| (is_sane(*bound) || bound.is_infinite()) && is_sane(*count));
        if !is_sane(sum) {
            return None;
        }
        up_to.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        up_to.dedup_by(|(one, _), (other, _)| one == other);
        let last = up_to.last()?;
        if last.0.is_finite() {
            up_to.push((f64::INFINITY, last.1));
        }
        let mut below = 0.0;
        let counts = up_to.iter().map(|(_, count)| {
            let inside = (count - below).max(0.0);
            below = *count;
            inside
        });
        Some(Self {
            counts: counts.collect(),
            bounds: up_to.iter().map(|(bound, _)| *bound).collect(),
            sum,
        })
    }

    /// How many values there are.
    pub fn count(&self) -> f64 {
        self.counts.iter().sum()
    }

    /// What came since `before`; none where the counters fell, or are others.
    pub fn since(&self, before: &Self) -> Option<Self> {
        if before.bounds.is_empty() {
            return Some(self.clone());
        }
        let pairs = || self.counts.iter().zip(&before.counts);
        if self.bounds != before.bounds || pairs().any(|(now, before)| now < before) {
            return None;
        }
        Some(Self {
            bounds: self.bounds.clone(),
            counts: pairs().map(|(now, before)| now - before).collect(),
            sum: (self.sum - before.sum).max(0.0),
        })
    }

    /// Takes another's values in. Where their bounds differ, those that both have are kept.
    pub fn add(&mut self, other: Self) {
        if self.bounds.is_empty() {
            *self = other;
            return;
        }
        if self.bounds == other.bounds {
            let both = self.counts.iter_mut().zip(&other.counts);
            both.for_each(|(mine, theirs)| *mine += theirs);
        } else {
            let has = |bound: &f64| other.bounds.contains(bound);
            let common: Vec<f64> = self.bounds.iter().copied().filter(has).collect();
            let (mine, theirs) = (self.within(&common), other.within(&common));
            self.counts = mine
                .iter()
                .zip(theirs)
                .map(|(one, two)| one + two)
                .collect();
            self.bounds = common;
        }
        self.sum += other.sum;
    }

    /// The counts in coarser buckets, whose bounds are all among these.
    fn within(&self, bounds: &[f64]) -> Vec<f64> {
        let mut coarse = vec![0.0; bounds.len()];
        for (bound, count) in self.bounds.iter().zip(&self.counts) {
            let place = bounds.partition_point(|it| it < bound);
            if let Some(bucket) = coarse.get_mut(place) {
                *bucket += count;
            }
        }
        coarse
    }

    /// A quantile, for a percentile of 0 to 100; none without values.
    pub fn quantile(&self, percentile: f64) -> Option<Between> {
        let rank = percentile / 100.0 * self.count();
        let mut below = 0.0;
        let mut lo = 0.0;
        for (bound, count) in self.bounds.iter().zip(&self.counts) {
            if 0.0 < *count && rank <= below + count {
                if !bound.is_finite() {
                    return Some(Between {
                        lo,
                        value: lo,
                        hi: None,
                    });
                }
                let share = ((rank - below) / count).clamp(0.0, 1.0);
                let lo = lo.min(*bound);
                return Some(Between {
                    lo,
                    value: lo + (bound - lo) * share,
                    hi: Some(*bound),
                });
            }
            below += count;
            lo = *bound;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buckets(up_to: &[(f64, f64)]) -> Buckets {
        Buckets::cumulative(up_to.to_vec(), 7.0).expect("buckets")
    }

    #[track_caller]
    fn check(percentile: f64, lo: f64, value: f64, hi: Option<f64>) {
        let all = buckets(&[(0.1, 2.0), (0.5, 6.0), (1.0, 8.0), (f64::INFINITY, 10.0)]);
        let found = all.quantile(percentile);
        assert_eq!(found, Some(Between { lo, value, hi }), "p{percentile}");
    }

    #[test]
    fn a_quantile_lies_within_its_bucket() {
        check(10.0, 0.0, 0.05, Some(0.1));
        check(20.0, 0.0, 0.1, Some(0.1));
        check(40.0, 0.1, 0.1 + (0.5 - 0.1) / 2.0, Some(0.5));
        check(80.0, 0.5, 1.0, Some(1.0));
        check(95.0, 1.0, 1.0, None);
    }

    #[test]
    fn a_wide_bucket_tells_no_place_within_it() {
        for (lo, hi, expected) in [
            (0.0, Some(0.3), false),
            (0.3, Some(0.5), true),
            (0.5, Some(1.0), true),
            (0.01, Some(0.025), false),
            (0.02, Some(0.02), true),
            (10.0, None, false),
        ] {
            let value = lo;
            assert_eq!(Between { lo, value, hi }.tells(), expected, "{lo} {hi:?}");
        }
    }

    #[test]
    fn no_values_have_no_quantile() {
        assert_eq!(buckets(&[(0.1, 0.0)]).quantile(50.0), None);
        assert_eq!(Buckets::default().quantile(50.0), None);
        assert_eq!(Buckets::cumulative(Vec::new(), 0.0), None);
        assert_eq!(Buckets::cumulative(vec![(0.1, 1.0)], 1e308), None);
        assert_eq!(Buckets::cumulative(vec![(1e308, 1.0)], 1.0), None);
    }

    #[test]
    fn what_came_is_the_difference_and_a_fall_is_none() {
        let (before, now) = (buckets(&[(1.0, 2.0)]), buckets(&[(1.0, 5.0)]));
        assert_eq!(now.since(&before).map(|came| came.count()), Some(3.0));
        assert_eq!(before.since(&now), None);
        assert_eq!(now.since(&buckets(&[(2.0, 2.0)])), None);
        assert_eq!(now.since(&Buckets::default()), Some(now.clone()));
    }

    #[test]
    fn engines_with_other_bounds_are_joined_at_those_they_share() {
        let mut all = buckets(&[(0.1, 1.0), (0.5, 2.0), (1.0, 3.0)]);
        all.add(buckets(&[(0.25, 4.0), (0.5, 5.0)]));
        assert_eq!(all.bounds, [0.5, f64::INFINITY]);
        assert_eq!((&all.counts[..], all.sum), (&[7.0, 1.0][..], 14.0));
    }
}
