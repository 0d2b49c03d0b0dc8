//! How far runs of the same lie apart.

use crate::compare::student::from_normal;
use crate::quantile::normal_quantile;

use super::{Change, Entry, FEWEST};

/// One run in a hundred of the same lies outside, on both sides together.
const OUTSIDE: f64 = 0.01;
/// The normal deviate of 80 %.
const SEEN: f64 = 0.841_621_233_572_914_3;
/// Makes the median distance from the median a standard deviation, for a normal distribution.
const MAD: f64 = 1.482_602_218_505_602;
/// One in a hundred series of runs of the same has a run that stands aside.
const ASIDE: f64 = 0.01;

/// The centre of runs of the same, and what a run differs from it by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// The mean of the logarithms.
    pub centre: f64,
    /// Their standard deviation: what one run differs by, as a share.
    pub deviation: f64,
    /// Runs that it rests on, less one.
    pub freedom: f64,
}

/// The band of runs without a change between them; `None` for fewer than [`FEWEST`]. Runs far out stand aside, a fifth of them at
/// most: where more do, they are no exceptions.
pub fn band(entries: &[Entry]) -> Option<Band> {
    if entries.len() < FEWEST {
        return None;
    }
    let logs: Vec<f64> = entries.iter().map(|entry| entry.value.ln()).collect();
    let centre = median(logs.clone());
    let off = |log: &f64| (log - centre).abs();
    let far = aside(logs.len()) * MAD * median(logs.iter().map(off).collect());
    let near: Vec<f64> = logs.iter().copied().filter(|log| off(log) <= far).collect();
    let kept = if 5 * near.len() < 4 * logs.len() {
        logs
    } else {
        near
    };
    let count = kept.len() as f64;
    let mean = kept.iter().sum::<f64>() / count;
    let squares: f64 = kept.iter().map(|log| (log - mean).powi(2)).sum();
    // No steadier than the requests of its runs can tell.
    let own = median(entries.iter().map(|entry| entry.error).collect());
    Some(Band {
        centre: mean,
        deviation: (squares / (count - 1.0)).sqrt().max(own),
        freedom: count - 1.0,
    })
}

/// A run so many robust standard deviations from the median stands aside. The first term is where the farthest of so many
/// normal runs lies once in a hundred times; the others are what the median distance of few runs is short by, fitted to 40,000
/// series of 5 to 200 runs each. The usual 3.5 (Iglewicz and Hoaglin 1993) sets one aside in a fifth of series of 5, and what is
/// left looks steadier than it is.
fn aside(runs: usize) -> f64 {
    let runs = runs as f64;
    normal_quantile(1.0 - ASIDE / (2.0 * runs)) + 36.0 / runs + 500.0 / runs.powi(3)
}

impl Band {
    /// A new run against the band: the prediction interval of one more run, which is `t * s * sqrt(1 + 1 / n)` wide each way; a
    /// run of fewer requests counts with its own error where that is larger than s. Of so many judged `together` one in a hundred
    /// times any lies outside.
    pub fn change(&self, new: Entry, together: usize) -> Change {
        let value = new.value.ln() - self.centre;
        let variance =
            self.deviation.powi(2) / (self.freedom + 1.0) + self.deviation.max(new.error).powi(2);
        let outside = OUTSIDE / together.max(1) as f64;
        let deviate = normal_quantile(1.0 - outside / 2.0);
        let (error, wide) = (variance.sqrt(), from_normal(deviate, self.freedom));
        Change {
            relative: value.exp_m1(),
            lo: (value - wide * error).exp_m1(),
            hi: (value + wide * error).exp_m1(),
            smallest_seen: ((wide + SEEN) * error).exp_m1(),
        }
    }
}

/// The middle value, or the mean of the two; 0 of none.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        count if count % 2 == 1 => values[middle],
        _ => (values[middle - 1] + values[middle]) / 2.0,
    }
}
