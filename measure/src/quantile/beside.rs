//! Memory that lies under the noise of single requests, seen in what they waited.
//!
//! How fast a request is served may go by how many others are, and vary besides. A series of such paces shows little of the
//! queue behind it; the same requests' waits show all of it.

/// The class of the longest waits holds at least so many requests.
const FEWEST: usize = 8;

/// Which part of the variance of "is it above" goes by what requests waited, 0 to 1. They are classed by wait: the shorter
/// half, of the longer half the shorter half, and so on; what classes differ by is that part, less what they would by chance.
/// `waits` and `above` in the same order, `sorted` the waits from the shortest on.
pub(super) fn explained(waits: &[f64], sorted: &[f64], above: &[bool]) -> f64 {
    let begins = begins(sorted);
    let mut classes = vec![(0.0, 0.0); begins.len() + 1];
    for (wait, above) in waits.iter().zip(above) {
        let class = begins.iter().take_while(|begin| *begin <= wait).count();
        classes[class].0 += 1.0;
        classes[class].1 += f64::from(u8::from(*above));
    }
    let (count, yes) = classes
        .iter()
        .fold((0.0, 0.0), |all, class| (all.0 + class.0, all.1 + class.1));
    let share = yes / count;
    let some = || classes.iter().filter(|(count, _)| 0.0 < *count);
    let between: f64 = some()
        .map(|(of, yes)| of / count * (yes / of - share).powi(2))
        .sum();
    let variance = share * (1.0 - share);
    // All are above, or none.
    if variance.is_nan() || variance <= 0.0 {
        return 0.0;
    }
    let chance = (some().count() as f64 - 1.0) * variance / count;
    ((between - chance) / variance).clamp(0.0, 1.0)
}

/// The waits from which half, a quarter, an eighth ... are as long.
fn begins(sorted: &[f64]) -> Vec<f64> {
    let mut begins = Vec::new();
    let mut longer = sorted.len() / 2;
    while FEWEST <= longer {
        begins.push(sorted[sorted.len() - longer]);
        longer /= 2;
    }
    begins
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained_of(waits: &[f64], above: &[bool]) -> f64 {
        let mut sorted = waits.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        explained(waits, &sorted, above)
    }

    #[test]
    fn what_goes_by_waits_is_explained_by_them() {
        // The 25 longest of 400 waits: classes of 200, 100, 50, 25, 12 and 13 requests.
        let waits: Vec<f64> = (0..400).map(|i| f64::from(i * 7 % 400)).collect();
        let above: Vec<bool> = waits.iter().map(|wait| 375.0 <= *wait).collect();
        // All but chance: 5 / 400.
        assert!((explained_of(&waits, &above) - 0.9875).abs() < 1e-12);
    }

    #[test]
    fn what_does_not_is_not() {
        let waits: Vec<f64> = (0..400).map(|i| f64::from(i * 7 % 400)).collect();
        let above: Vec<bool> = (0..400).map(|i| i % 20 == 0).collect();
        assert!(explained_of(&waits, &above) < 0.02);
        for none in [vec![false; 400], vec![true; 400]] {
            assert_eq!(explained_of(&waits, &none), 0.0);
        }
        assert_eq!(explained_of(&[], &[]), 0.0);
        // One wait for all.
        assert_eq!(explained_of(&[3.0; 400], &above), 0.0);
    }
}
