//! Percentiles by linear interpolation between order statistics, and their intervals.

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// Percentile `p` (0 to 100) of *sorted* values by linear interpolation (numpy's default). `None` when empty.
/// Any weight on an infinite value makes the result infinite.
pub fn percentile_linear(sorted: &[f64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = p / 100.0 * last as f64;
    let below = position.floor() as usize;
    let share = position - below as f64;
    if share == 0.0 {
        return Some(sorted[below]);
    }
    Some(sorted[below] * (1.0 - share) + sorted[below + 1] * share)
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
    /// How many independent values the sample is worth (it is autocorrelated).
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

/// Inverse of the standard normal distribution function for 0 < p < 1.
pub fn normal_quantile(p: f64) -> f64 {
    let _ = p;
    todo!("measure helper: Wichura's AS 241 (PPND16), relative accuracy about 1e-16")
}
