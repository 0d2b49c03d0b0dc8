//! How long bad stretches last, seen from how close every request came to its threshold.

use super::dependence::{LANES, Memory};

/// Margins are counted in so many classes between 0 and 1, so that no sorting is needed.
const CLASSES: usize = 256;
/// The base of the excesses leaves so many times the bad requests above itself, and at least this share of all.
const TIMES: f64 = 3.6;
const LEAST: f64 = 0.18;
/// Coarser looks at the memory count where they find so many times that of finer ones.
const FARTHER: [f64; 2] = [2.5, 2.5];
/// By how many standard errors of its own the memory is lengthened before it is shortened by the reach: that of a sample
/// worth m is known to about one part in the root of m.
const NOISE: f64 = 2.0;

/// Requests that come to one independent answer to "was it good". `margins` lie between 0 and 1, the worse the higher, in
/// order of arrival, a half at the bound; `bad` of them were not good. The memory is that of the excesses over a margin that
/// at least 3.6 times as many requests exceed: where all are good the answers themselves would say nothing, however long a
/// queue remembers. Shortened by [`reach`] where all are.
pub fn worst_time(margins: &[f64], bad: usize) -> f64 {
    let count = margins.len() as f64;
    if margins.is_empty() {
        return 1.0;
    }
    let above = (TIMES * bad as f64 / count).max(LEAST);
    let base = base(margins, (above * count) as usize);
    let over = |margin: &f64| if *margin < base { base } else { *margin };
    let excesses: Vec<f64> = margins.iter().map(over).collect();
    let time = Memory::of_noisy(&excesses, &FARTHER).time;
    if 0 < bad {
        return time;
    }
    let unsure = 1.0 + NOISE * (time / count).sqrt();
    (time * (reach(margins) * unsure).min(1.0)).max(1.0)
}

/// The part of its bound that the worst request used: 1 at the bound. The share of requests beyond a latency falls at least
/// as fast as that latency grows wherever the tail has a mean (x times the share beyond x falls to nothing), so that requests
/// none of which used more than a third of the bound say of the bound what three times as many would that just reached it.
fn reach(margins: &[f64]) -> f64 {
    let mut most = [0.0; LANES];
    // Side by side: one after another each comparison would wait for the one before.
    let larger = |most: &mut f64, margin: &f64| {
        if *most < *margin {
            *most = *margin;
        }
    };
    let (few, rest) = margins.as_chunks::<LANES>();
    for [a, b, c, d] in few {
        larger(&mut most[0], a);
        larger(&mut most[1], b);
        larger(&mut most[2], c);
        larger(&mut most[3], d);
    }
    rest.iter().for_each(|margin| larger(&mut most[0], margin));
    let most = most.into_iter().fold(0.0, f64::max);
    (most / (1.0 - most)).min(1.0)
}

/// The highest beginning of a class that at least so many margins reach.
fn base(margins: &[f64], above: usize) -> f64 {
    // Counted by turns in two rows: neighbours are often alike, and adding to the same count waits for the one before.
    let mut counts = [[0_u32; 2]; CLASSES];
    let class = |margin: f64| ((margin * CLASSES as f64) as u32 as usize).min(CLASSES - 1);
    let (pairs, rest) = margins.as_chunks::<2>();
    for [one, other] in pairs {
        counts[class(*one)][0] += 1;
        counts[class(*other)][1] += 1;
    }
    for margin in rest {
        counts[class(*margin)][0] += 1;
    }
    let mut reached = 0;
    let class = counts.iter().rposition(|[one, other]| {
        reached += (one + other) as usize;
        above <= reached
    });
    class.unwrap_or(0) as f64 / CLASSES as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_leaves_enough_above() {
        let margins: Vec<f64> = (0..100).map(|i| f64::from(i) / 100.0).collect();
        let base = base(&margins, 20);
        assert!(0.79 < base && base <= 0.8, "{base}");
        assert_eq!(super::base(&margins, 101), 0.0);
        assert_eq!(super::base(&[1.0; 3], 1), 255.0 / 256.0);
    }

    #[test]
    fn a_slow_wave_is_remembered_though_all_were_good() {
        let wave: Vec<f64> = (0..500)
            .map(|i| 0.3 + 0.1 * (f64::from(i) / 40.0).sin())
            .collect();
        assert!(20.0 < worst_time(&wave, 0), "{}", worst_time(&wave, 0));
        assert_eq!(worst_time(&[], 0), 1.0);
    }

    #[test]
    fn far_from_the_bound_requests_are_worth_more() {
        // An autoregression of 0.9 on the logarithm, its worst latency at a tenth of the bound or at nine tenths.
        let mut draws = crate::sampling::Draws::new(5);
        let mut state = draws.normal();
        let mut next = || {
            state = 0.9 * state + 0.19f64.sqrt() * draws.normal();
            (0.5 * state).exp()
        };
        let latencies: Vec<f64> = (0..500).map(|_| next()).collect();
        let most = latencies.iter().copied().fold(0.0, f64::max);
        let of = |part: f64| -> Vec<f64> {
            let margins = latencies.iter().map(|x| part * x / most);
            margins.map(|ratio| ratio / (1.0 + ratio)).collect()
        };
        let (near, far) = (worst_time(&of(0.9), 0), worst_time(&of(0.1), 0));
        assert!(5.0 < near && far < near / 4.0, "{near} {far}");
        // One that was not good: the memory of the worst alone.
        assert!(5.0 < worst_time(&of(0.1), 1));
    }

    #[test]
    fn the_reach_is_the_part_of_the_bound_that_was_used() {
        assert!((reach(&[0.1, 0.25, 0.2]) - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(reach(&[0.5, 0.4]), 1.0);
        assert_eq!(reach(&[0.0, 0.0]), 0.0);
    }

    #[test]
    fn a_wave_within_batches_does_not_hide_what_lies_under_it() {
        // A slow wave under a saw of eight steps.
        let margins: Vec<f64> = (0..800)
            .map(|i| 0.2 + 0.02 * f64::from(i % 8) + 0.1 * (f64::from(i) / 50.0).sin())
            .collect();
        assert!(
            20.0 < worst_time(&margins, 1),
            "{}",
            worst_time(&margins, 1)
        );
    }
}
