//! How long bad stretches last, seen from how close every request came to its threshold.

use super::dependence::Memory;

/// Margins are counted in so many classes between 0 and 1, so that no sorting is needed.
const CLASSES: usize = 256;
/// The base of the excesses leaves so many times the bad requests above itself, and at least this share of all.
const TIMES: f64 = 4.0;
const LEAST: f64 = 0.2;

/// Requests that come to one independent answer to "was it good". `margins` lie between 0 and 1, the worse the higher, in
/// order of arrival; `bad` of them were not good. The memory is that of the excesses over a margin that at least four times
/// as many requests exceed: where all are good the answers themselves would say nothing, however long a queue remembers.
pub fn worst_time(margins: &[f64], bad: usize) -> f64 {
    if margins.is_empty() {
        return 1.0;
    }
    let above = (TIMES * bad as f64 / margins.len() as f64).max(LEAST);
    let base = base(margins, (above * margins.len() as f64) as usize);
    let excesses: Vec<f64> = margins.iter().map(|margin| margin.max(base)).collect();
    Memory::of(&excesses).time
}

/// The highest beginning of a class that at least so many margins reach.
fn base(margins: &[f64], above: usize) -> f64 {
    let mut counts = [0usize; CLASSES];
    for margin in margins {
        let class = (margin * CLASSES as f64) as usize;
        counts[class.min(CLASSES - 1)] += 1;
    }
    let mut reached = 0;
    let class = counts.iter().rposition(|count| {
        reached += count;
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
}
