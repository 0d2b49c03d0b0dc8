//! The ends of a percentile of requests that queue behind each other.
//!
//! A percentile is a share turned round: at what latencies could the share of slower requests be the one asked for? The
//! share swings as a share of *fewer* requests would, those that the sample is worth.

use super::dependence::{Memory, freedom};
use super::student::student;
use super::whole::Whole;
use super::{needed_for, percentile_linear};

/// How much farther the upper end of pooled gaps lies, and how much nearer the lower one, for each unit of the error.
const HALF: f64 = 0.5;

/// Coarser looks at the memory count where they find so many times that of finer ones.
const FARTHER: [f64; 2] = [2.5, 2.5];
/// Exceedances that a base of the excesses leaves at least.
const FEWEST_ABOVE: f64 = 5.0;
/// A base that so many times as many requests exceed as the percentile.
const BASE: f64 = 8.0;
/// How much of Student's step counts, how much farther the upper end lies, and how much nearer the lower one, for each unit
/// of the share's relative error. Set, as all constants of these ends, on queues and autoregressions like those of the
/// coverage test, with other seeds and parameters and with a look at its own.
const STEP: f64 = 0.87;
const UPWARDS: f64 = 0.42;
const DOWNWARDS: f64 = 0.69;
/// By which power of e the ends lie farther where memory grows with the level: a calm sample has both a low percentile and a
/// short memory. The second of each is for the part of the sample that one memory takes.
const FARTHER_UP: f64 = 0.62;
const FARTHER_UP_BY_PART: f64 = 20.0;
const FARTHER_DOWN: f64 = 0.24;
const FARTHER_DOWN_BY_PART: f64 = 4.0;
/// The same up where the body of the sample says the rest.
const FARTHER_UP_BESIDE_BODY: f64 = 0.4;
/// The share above an upper end is smaller by this power of e at most.
const FARTHEST: f64 = 5.4;
/// By which power the memory of logarithms stands in for that of the excesses where memory grows with the level.
const LOGS: f64 = 0.65;
/// A dependent sample must be worth at least this part of what independent requests would need.
const WORTH_NEEDED: f64 = 1.0 / 16.0;

/// What a sample is worth for the share above a level: the memory of how far requests exceed a lower level, beyond which
/// eight times as many lie. Where memory grows with the level, that of the logarithms stands in for much of it (a geometric
/// mean): it goes far less by the highest stretch.
/// Not where a coarser look found what finer ones, those of logarithms too, do not see.
pub(super) fn time(in_order: &[f64], sorted: &[f64], above: f64, whole: &Whole) -> f64 {
    let share = BASE * above.max(FEWEST_ABOVE / sorted.len() as f64);
    let excesses = excesses(in_order, sorted, share.min(1.0));
    let fine = Memory::of(&excesses).time;
    let time = Memory::of_noisy(&excesses, &FARTHER).time;
    if time == 1.0 || fine < time {
        return time;
    }
    time * (whole.logs / time).powf(LOGS * whole.grows)
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

/// Values in order of arrival, what is infinite twice as far as the largest finite one.
pub(super) fn far(in_order: &[f64]) -> Vec<f64> {
    let finite = in_order.iter().copied().filter(|value| value.is_finite());
    let most = finite.fold(0.0, f64::max);
    let of = |value: &f64| value.min(2.0 * most + 1.0);
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
    shares(
        above,
        step * (1.0 + HALF * error),
        step / (1.0 + HALF * error),
    )
}

/// The same of a sample of requests that is remembered so; less far up where its [`Body`](super::body::Body) says how far.
pub(super) fn swing_of(above: f64, effective: f64, whole: &Whole, has_body: bool) -> Above {
    let error = (effective * above * (1.0 - above)).sqrt().recip();
    let step = STEP * student(freedom(effective)) * error;
    let farther = |all: f64, by_part: f64| (whole.grows * (all + by_part * whole.part)).exp();
    let farther_up = if has_body {
        farther(FARTHER_UP_BESIDE_BODY, 0.0)
    } else {
        farther(FARTHER_UP, FARTHER_UP_BY_PART)
    };
    let up = step * (1.0 + UPWARDS * error) * farther_up;
    let down = step / (1.0 + DOWNWARDS * error) * farther(FARTHER_DOWN, FARTHER_DOWN_BY_PART);
    shares(above, up / (1.0 + (up / FARTHEST).powi(2)).sqrt(), down)
}

/// Shares so far below and above on the scale of log odds.
fn shares(above: f64, up: f64, down: f64) -> Above {
    let odds = above / (1.0 - above);
    let share = |odds: f64| odds / (1.0 + odds);
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
    fn requests_of_a_queue_reach_farther_up() {
        let of = |grows, part, has_body| {
            let logs = 1.0;
            swing_of(0.05, 100.0, &Whole { logs, grows, part }, has_body)
        };
        // Of Student's step 0.87: 0.8017. Up 0.8017 x 1.1927 = 0.9562, bent to 0.9416; down 0.8017 / 1.3166 = 0.6089.
        let Above { most, least } = of(0.0, 0.02, false);
        assert!(
            (most - 0.0882).abs() < 2e-4 && (least - 0.0201).abs() < 2e-4,
            "{most} {least}"
        );
        // Up by e^(0.62 + 20 x 0.02): 2.6517, bent to 2.3802. Down by e^(0.24 + 4 x 0.02): 0.8385.
        let Above { most, least } = of(1.0, 0.02, false);
        assert!(
            (most - 0.1085).abs() < 2e-4 && (least - 0.004_85).abs() < 2e-5,
            "{most} {least}"
        );
        // With a body up by e^0.4: 1.4265, bent to 1.3792.
        let beside = of(1.0, 0.02, true);
        assert!(
            beside.most == most && (beside.least - 0.013_08).abs() < 2e-5,
            "{beside:?}"
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
