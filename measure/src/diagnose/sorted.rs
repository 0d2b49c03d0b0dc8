//! Values in order of size.

use crate::quantile::percentile_linear;

/// Values in order of size.
#[derive(Clone, Debug, Default)]
pub(super) struct Sorted(Vec<f64>);

impl Sorted {
    /// Of values in any order.
    pub fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_unstable_by(f64::total_cmp);
        Self(values)
    }

    /// A percentile; none where there are no values.
    pub fn at(&self, percentile: f64) -> Option<f64> {
        percentile_linear(&self.0, percentile)
    }

    /// How many are at most so large.
    pub fn up_to(&self, value: f64) -> usize {
        self.0.partition_point(|it| *it <= value)
    }
}

/// A share of a count; none of nothing.
pub(super) fn share(part: usize, whole: usize) -> Option<f64> {
    (0 < whole).then(|| part as f64 / whole as f64)
}
