//! The ends of a percentile of requests that queue behind each other.
//!
//! A percentile is a share turned round: at what latencies could the share of slower requests be the one asked for? The
//! share swings as a share of *fewer* requests would, those that the sample is worth.

use super::dependence::{Memory, freedom};
use super::student::student;
use super::{needed_for, percentile_linear};

/// Exceedances that a base of the excesses leaves at least.
const FEWEST_ABOVE: f64 = 5.0;
/// Coarser looks at the memory count where they find so many times that of finer ones.
const FARTHER: [f64; 2] = [1.5, 1.5];
/// How much farther the upper end lies, and how much nearer the lower one, for each unit of the share's relative error: a
/// calm sample has both a low percentile and a short memory. Set on queues and autoregressions like those of the coverage
/// test, with other parameters and with a look at its own.
const UPWARDS: f64 = 0.5;
const DOWNWARDS: f64 = 0.5;
/// A dependent sample must be worth at least this part of what independent requests would need.
const WORTH_NEEDED: f64 = 1.0 / 16.0;

/// What a sample is worth for the share above a level: the memory of how far requests exceed lower levels, beyond which
/// twice, four times and eight times as many lie. The geometric mean of the three; one where all requests lie above.
pub(super) fn time(in_order: &[f64], sorted: &[f64], above: f64) -> f64 {
    let n = sorted.len() as f64;
    let share = above.max(FEWEST_ABOVE / n);
    let shares = [2.0, 4.0, 8.0].map(|times| times * share);
    let narrow = shares.iter().filter(|share| **share < 1.0);
    let mut times: Vec<f64> = narrow
        .map(|share| Memory::of_noisy(&excesses(in_order, sorted, *share), &FARTHER).time)
        .collect();
    if times.len() < shares.len() {
        let whole = Memory::of_noisy(&excesses(in_order, sorted, 1.0), &FARTHER).time;
        times.resize(shares.len(), whole);
    }
    times.iter().product::<f64>().cbrt()
}

/// Values, those below the base raised to it. What is infinite stands as far above the largest finite value as that
/// stands above the base.
fn excesses(in_order: &[f64], sorted: &[f64], above: f64) -> Vec<f64> {
    let base = percentile_linear(sorted, 100.0 * (1.0 - above)).unwrap_or(0.0);
    let finite = sorted.partition_point(|value| value.is_finite());
    let most = finite.checked_sub(1).map_or(0.0, |last| sorted[last]);
    let base = if base.is_finite() { base } else { most };
    let far = most + (most - base).max(1.0);
    let of = |value: &f64| {
        if value.is_finite() {
            value.max(base)
        } else {
            far
        }
    };
    in_order.iter().map(of).collect()
}

/// The shares of values above, between which the share above a percentile lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Above {
    pub most: f64,
    pub least: f64,
}

/// How far the share `above` swings in a sample worth `effective` values, on the scale of log odds, where its standard
/// error is 1 / sqrt(effective above (1 - above)).
pub(super) fn swing(above: f64, effective: f64) -> Above {
    let error = (effective * above * (1.0 - above)).sqrt().recip();
    let step = student(freedom(effective)) * error;
    let odds = above / (1.0 - above);
    let share = |odds: f64| odds / (1.0 + odds);
    let (up, down) = (
        step * (1.0 + UPWARDS * error),
        step / (1.0 + DOWNWARDS * error),
    );
    Above {
        most: share(odds * down.exp()),
        least: share(odds * (-up).exp()),
    }
}

/// The latency that so small a share exceeds: that of the sample, or where it lies farther out, that of the tail followed
/// from the percentile on. Each time the share shrinks by a factor, the tail adds the same part of the percentile, measured
/// where from four times to half of the share `above` lie: between an exponential tail and a power.
pub(super) fn upper(sorted: &[f64], above: f64, least: f64) -> Option<f64> {
    let at = |share: f64| percentile_linear(sorted, 100.0 * (1.0 - share));
    let seen = at(least)?;
    if 1.0 < 4.0 * above {
        // No tail to follow: the sample's largest value must lie beyond.
        return Some(seen).filter(|_| 1.0 <= least * sorted.len() as f64);
    }
    let slope = (at(above / 2.0)? / at(4.0 * above)?.max(f64::MIN_POSITIVE)).ln() / 8f64.ln();
    Some(seen.max(at(above)? * (1.0 + slope * (above / least).ln())))
}

/// Whether so many values, worth fewer, give percentile `p` an upper end.
pub(super) fn carries(p: f64, count: usize, effective: f64) -> bool {
    let needed = f64::from(needed_for(p));
    needed <= count as f64 && WORTH_NEEDED * needed <= effective
}

/// How many values it takes where each is worth so much.
pub(super) fn values_needed(p: f64, worth: f64) -> f64 {
    let needed = f64::from(needed_for(p));
    needed.max(WORTH_NEEDED * needed / worth).ceil()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_swings_as_worked_out_by_hand() {
        // 5 % of 100: standard error of the log odds 1 / sqrt(4.75) = 0.4588; Student's 2.0086 at 50 degrees of freedom.
        // Up: 0.9216 x 1.2294 = 1.1330, odds / 3.105. Down: 0.9216 / 1.2294 = 0.7496, odds x 2.116.
        let Above { most, least } = swing(0.05, 100.0);
        assert!(
            (most - 0.1002).abs() < 2e-4 && (least - 0.016_67).abs() < 2e-5,
            "{most} {least}"
        );
    }

    #[test]
    fn infinite_values_are_far_and_equal() {
        let inf = f64::INFINITY;
        let sorted = [1.0, 2.0, 3.0, 5.0, inf];
        assert_eq!(
            excesses(&[inf, 5.0, 1.0, 3.0, 2.0], &sorted, 0.5),
            [7.0, 5.0, 3.0, 3.0, 3.0]
        );
        assert_eq!(
            excesses(&[1.0, inf, inf], &[1.0, inf, inf], 0.5),
            [1.0, 2.0, 2.0]
        );
    }

    #[test]
    fn the_tail_is_followed_where_few_lie_beyond() {
        // A power's tail, x = share^-0.2: the slope is 0.2.
        let sorted: Vec<f64> = (0..1000)
            .map(|i| (1.0 - (f64::from(i) + 0.5) / 1000.0).powf(-0.2))
            .collect();
        let got = upper(&sorted, 0.05, 1e-6).expect("an end");
        let by_hand = 0.05f64.powf(-0.2) * (1.0 + 0.2 * 5e4f64.ln());
        assert!((got / by_hand - 1.0).abs() < 0.01, "{got}, not {by_hand}");
        assert_eq!(upper(&sorted, 0.5, 1e-6), None);
    }

    #[test]
    fn a_p95_needs_72_values_that_are_worth_5() {
        assert!(carries(95.0, 72, 4.5) && !carries(95.0, 71, 71.0) && !carries(95.0, 500, 4.4));
        assert_eq!(values_needed(95.0, 1.0), 72.0);
        assert_eq!(values_needed(95.0, 0.01), 450.0);
    }
}
