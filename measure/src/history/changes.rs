//! Change points: where a series of runs moves to another level and stays there.

use super::Entry;
use super::band::median;

/// Runs of a level at least: one odd run, or two, are no new level.
const SHORTEST: usize = 3;
/// Distances count up to so many standard deviations: a run far out weighs no more than one at this distance.
const BOUNDED: f64 = 3.0;
/// Makes the median distance between neighbours a standard deviation, for a normal distribution: 1.4826 / sqrt(2).
const BETWEEN: f64 = 1.048_358_12;
/// Each further level must explain so many times ln(n) squared standard deviations. Twice that is Schwarz's; runs are few and
/// their noise is estimated, which takes more.
const PRICE: f64 = 5.0;

/// The places at which a new level begins, in order; none for fewer than twice [`SHORTEST`].
///
/// The cheapest way to cut the series into levels, found exactly (optimal partitioning, Jackson and others 2005): a level costs
/// its runs' squared distances from its median in standard deviations, each bounded (Fearnhead and Rigaill 2019), and a price
/// for every level more. The standard deviation comes from distances between neighbours, which a few changes hardly touch.
pub fn changes(entries: &[Entry]) -> Vec<usize> {
    let logs: Vec<f64> = entries.iter().map(|entry| entry.value.ln()).collect();
    let count = logs.len();
    if count < 2 * SHORTEST {
        return Vec::new();
    }
    let deviation = deviation(&logs, entries);
    let price = PRICE * (count as f64).ln();
    // The least cost of the first so many, and where their last level begins.
    let mut best = vec![(f64::INFINITY, 0); count + 1];
    best[0] = (-price, 0);
    for from in 0..=count - SHORTEST {
        let before = best[from].0;
        if before.is_finite() {
            extend(&logs, deviation, (from, before + price), &mut best);
        }
    }
    let mut places = Vec::new();
    let mut at = best[count].1;
    while 0 < at {
        places.push(at);
        at = best[at].1;
    }
    places.reverse();
    places
}

/// Tries one level from `from` on, run by run.
fn extend(logs: &[f64], deviation: f64, (from, before): (usize, f64), best: &mut [(f64, usize)]) {
    let mut sorted: Vec<f64> = Vec::with_capacity(logs.len() - from);
    for (to, log) in logs.iter().enumerate().skip(from) {
        sorted.insert(sorted.partition_point(|other| other < log), *log);
        if sorted.len() < SHORTEST {
            continue;
        }
        let cost = before + cost(&sorted, deviation);
        if cost < best[to + 1].0 {
            best[to + 1] = (cost, from);
        }
    }
}

fn cost(sorted: &[f64], deviation: f64) -> f64 {
    let middle = sorted.len() / 2;
    let centre = if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        (sorted[middle - 1] + sorted[middle]) / 2.0
    };
    let off = |log: &f64| ((log - centre) / deviation).abs().min(BOUNDED).powi(2);
    sorted.iter().map(off).sum()
}

/// What one run differs by, at least what its own requests tell, and never nothing.
fn deviation(logs: &[f64], entries: &[Entry]) -> f64 {
    let between = logs.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    let own = median(entries.iter().map(|entry| entry.error).collect());
    (BETWEEN * median(between.collect())).max(own).max(1e-9)
}
