//! How far a percentile may lie beyond a sample, told by the body of that sample.
//!
//! A calm stretch of a queue near its capacity shows a low percentile, a light tail and a short memory, as a busy stretch of
//! an emptier one does. What the two differ by is the body: near capacity most requests wait, and the tail stands little
//! above them; far from it most find the engine free, and the tail stands alone.

use super::percentile_linear;

/// Constants of the end, set on queues and autoregressions of other seeds and parameters than those of the coverage test.
const FARTHER: f64 = 2.7;
const BY_WORTH: f64 = 0.7;
/// Independent requests of which one lies beyond a p95, in units of which worth counts at every percentile.
const ONE_BEYOND: f64 = 21.0;
const BY_TIME: f64 = 0.25;
const BY_FULLNESS: f64 = 0.25;
/// The part of requests that lie above a sample's low end, and the most that fullness counts for.
const LOW: f64 = 0.9;
const FULLEST: f64 = 2.0;

/// A percentile beside those that five and ten times as many requests exceed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Body {
    /// The percentile.
    value: f64,
    /// Which part of it lies above the low end: near 1 where requests of an empty engine take next to nothing.
    reach: f64,
    /// From the tenfold to the fivefold share, over from there to the percentile: how much of what is long is common.
    fullness: f64,
}

impl Body {
    /// Of sorted values; `None` where ten times as many are nearly all (below p91), or the percentile is infinite or zero.
    pub fn of(sorted: &[f64], above: f64) -> Option<Self> {
        if LOW <= 10.0 * above {
            return None;
        }
        let at = |share: f64| percentile_linear(sorted, 100.0 * (1.0 - share));
        let (value, fivefold) = (at(above)?, at(5.0 * above)?);
        // Where nothing lies between (0 / 0 too) it is as full as can be.
        let fullness = ((fivefold - at(10.0 * above)?) / (value - fivefold)).min(FULLEST);
        (value.is_finite() && 0.0 < value).then_some(Self {
            value,
            reach: 1.0 - at(LOW)? / value,
            fullness,
        })
    }

    /// How high the percentile may lie in `count` requests that are worth `effective` and whose memory grows so with the level.
    pub fn upper(&self, count: f64, effective: f64, grows: f64) -> f64 {
        let worth = (1.0 + effective / ONE_BEYOND).powf(-BY_WORTH);
        let part = FARTHER * worth * (count / effective).powf(-BY_TIME);
        let shape = self.reach.powi(2) * self.fullness.powf(BY_FULLNESS);
        self.value * (1.0 + part * shape * grows.exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 to 1001.
    fn even() -> Vec<f64> {
        (1..=1001).map(f64::from).collect()
    }

    #[test]
    fn a_body_is_worked_out_by_hand() {
        // p95 951, p75 751, p50 501, p10 101: 250 over 200, and 850 of 951.
        let body = Body::of(&even(), 0.05).expect("a body");
        assert!((body.fullness - 1.25).abs() < 1e-9 && (body.reach - 850.0 / 951.0).abs() < 1e-9);
        // Worth 100: 2.7 x 5.762^-0.7 (0.2935) x 10^-0.25 (0.5623) = 0.4456, x 0.7989 x 1.0574 = 0.3764.
        let end = body.upper(1000.0, 100.0, 0.0);
        assert!((end / 951.0 - 1.3764).abs() < 2e-4, "{end}");
        let grown = body.upper(1000.0, 100.0, 1.0);
        assert!(((grown - 951.0) / (end - 951.0) - 1.0f64.exp()).abs() < 1e-9);
    }

    #[test]
    fn a_fuller_engine_reaches_farther() {
        let of = |p75: f64| {
            let part = |count, value| std::iter::repeat_n(value, count);
            let values = part(40, 1.0).chain(part(30, p75)).chain(part(30, 100.0));
            Body::of(&values.collect::<Vec<f64>>(), 0.08).expect("a body")
        };
        let [empty, full] = [5.0, 80.0].map(|p75| of(p75).upper(100.0, 50.0, 1.0));
        assert!(empty < full, "{empty} {full}");
    }

    #[test]
    fn medians_zeros_and_failures_have_none() {
        assert_eq!(Body::of(&even(), 0.5), None);
        assert_eq!(Body::of(&[], 0.05), None);
        assert_eq!(Body::of(&[0.0; 100], 0.05), None);
        assert_eq!(Body::of(&[f64::INFINITY; 100], 0.05), None);
        // All alike: no reach, and no farther end.
        let alike = Body::of(&[7.0; 100], 0.05).expect("a body");
        assert_eq!(alike.upper(100.0, 10.0, 1.0), 7.0);
    }
}
