//! The noise between runs: what repeats of one comparison differ by, beyond what their requests explain.

use super::dependence::Spread;
use super::{Learned, Measured};

/// How much two runs of one and the same configuration differ, as history knows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Standard deviation of ln(percentile) between runs.
    pub deviation: f64,
    /// Runs behind it, less one.
    pub freedom: f64,
}

/// Repeats from which a difference can be judged whose requests cannot tell how sure they are.
pub(super) const FEWEST_REPEATS: usize = 5;
/// By so much two repeats at one, two and three levels are taken to differ more than they do.
const TWO_REPEATS: [f64; 3] = [3.5, 1.4, 1.1];
/// So often the excess weighs levels anew.
const ROUNDS: usize = 4;

/// What repeats of one metric at several levels differ by beyond their requests, as a variance of a level's difference;
/// `None` without repeats. A level counts as much as its repeats are sure of it, given what was found before.
///
/// The moment estimate of DerSimonian and Laird (1986): s^2 / R is what repeats say of the variance of a mean of R, v what
/// requests say; their weighted mean difference, at least nothing, is the excess. Levels weigh (R - 1) / (v + excess)^2,
/// from no excess on (as in the two-step estimate of DerSimonian and Kacker 2007). Two repeats at few levels agree by chance too
/// often to take their word for it: see [`cautious`].
pub(super) fn excess<'a>(levels: impl Iterator<Item = &'a Measured>) -> Option<Spread> {
    let mut levels: Vec<Level> = levels.filter_map(Level::of).collect();
    cautious(&mut levels);
    let mut found = beyond(&levels, 0.0)?;
    for _ in 1..ROUNDS {
        found = beyond(&levels, found.variance)?;
    }
    Some(found)
}

/// What requests and repeats say of one level.
struct Level {
    by_requests: f64,
    by_repeats: f64,
    freedom: f64,
}

impl Level {
    fn of(one: &Measured) -> Option<Self> {
        let count = one.repeats.len() as f64;
        (2.0 <= count && one.learned == Learned::Nothing).then(|| Self {
            by_requests: one.error().powi(2).max(1e-18),
            by_repeats: variance(&one.repeats) / count,
            freedom: count - 1.0,
        })
    }
}

/// Where no level has a third repeat and there are three levels at most, what repeats differ by counts for more. A machine whose
/// runs differ by much then gives about 6 to 7 % of studies a false alarm, however much that is: worked out for normal
/// differences, of which 12, 9 and 7 % would without it.
fn cautious(levels: &mut [Level]) {
    let Some(times) = levels
        .len()
        .checked_sub(1)
        .and_then(|at| TWO_REPEATS.get(at))
    else {
        return;
    };
    if levels.iter().all(|level| level.freedom < 2.0) {
        levels
            .iter_mut()
            .for_each(|level| level.by_repeats *= times);
    }
}

fn beyond(levels: &[Level], excess: f64) -> Option<Spread> {
    let (mut weights, mut sum, mut scale, mut doubt) = (0.0, 0.0, 0.0, 0.0);
    for level in levels {
        let all = level.by_requests + excess;
        let weight = level.freedom / (all * all);
        weights += weight;
        sum += weight * (level.by_repeats - level.by_requests);
        scale += weight * all;
        doubt += (weight * all).powi(2) / level.freedom;
    }
    (0.0 < weights).then(|| Spread {
        variance: (sum / weights).max(0.0),
        freedom: scale * scale / doubt,
        worth: f64::INFINITY,
    })
}

/// The normal deviate of 1 %.
const ONE_IN_HUNDRED: f64 = 2.326_347_874_040_841;

/// By how much runs change beyond what their own errors explain, as a share; `None` where they do not. Their squared sureness
/// together is held against chi-square by the cube root of Wilson and Hilferty (1931), at 1 %.
pub(super) fn unrest(changes: &[Measured]) -> Option<f64> {
    let count = changes.len() as f64;
    let squares: f64 = changes.iter().map(|one| one.sureness().powi(2)).sum();
    if changes.is_empty() || squares <= often(count) {
        return None;
    }
    let beyond = changes
        .iter()
        .map(|one| one.value.powi(2) - one.error().powi(2));
    Some((beyond.sum::<f64>() / count).max(0.0).sqrt().exp_m1())
}

/// What chi-square with so many degrees of freedom exceeds once in a hundred times.
fn often(freedom: f64) -> f64 {
    let spread = 2.0 / (9.0 * freedom);
    freedom * (1.0 - spread + ONE_IN_HUNDRED * spread.sqrt()).powi(3)
}

/// Of values around their mean, two at least.
fn variance(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0)
}

impl Measured {
    /// Judged by its repeats alone, each of them one value: their mean, and how far it swings. `None` where there are too few,
    /// not all of its `runs` have a value, or all have the same.
    pub fn by_repeats(self, runs: usize) -> Option<Self> {
        if self.repeats.len() < FEWEST_REPEATS.max(runs) {
            return None;
        }
        let count = self.repeats.len() as f64;
        let error = (variance(&self.repeats) / count).sqrt();
        (1e-9 < error).then(|| Self {
            value: self.repeats.iter().sum::<f64>() / count,
            below: error,
            above: error,
            freedom: count - 1.0,
            learned: Learned::Alone,
            ..self
        })
    }

    /// Widened by what repeats differ by, and to no less than what history knows of two means of so many runs. On a `restless`
    /// machine the errors are known no better than repeats tell them.
    pub fn widened(&mut self, excess: Option<Spread>, known: Option<Noise>, restless: bool) {
        let runs = self.repeats.len().max(1) as f64;
        for error in [&mut self.below, &mut self.above] {
            let mut spread = Spread {
                variance: error.powi(2),
                freedom: self.freedom,
                worth: f64::INFINITY,
            };
            if let Some(excess) = excess.filter(|_| self.learned != Learned::Alone) {
                spread = spread.plus(excess);
                if restless || 0.0 < excess.variance {
                    self.learned = Learned::Together;
                }
                if restless {
                    spread.freedom = spread.freedom.min(excess.freedom);
                }
            }
            if 1.0 < runs {
                spread = spread.or_disagreeing(variance(&self.repeats) / runs, runs - 1.0);
            }
            if let Some(known) = known {
                let least = 2.0 * known.deviation.powi(2) / runs;
                if spread.variance < least {
                    spread = Spread {
                        variance: least,
                        freedom: known.freedom,
                        ..spread
                    };
                }
            }
            *error = spread.variance.sqrt();
            self.freedom = self.freedom.min(spread.freedom);
        }
    }
}

impl Spread {
    /// Where the repeats of this very difference disagree as they would once in a hundred times, only they say how sure it is.
    fn or_disagreeing(self, variance: f64, freedom: f64) -> Self {
        if variance * freedom <= often(freedom) * self.variance {
            return self;
        }
        Self {
            variance,
            freedom,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(error: f64, repeats: &[f64]) -> Measured {
        Measured {
            value: 0.0,
            below: error,
            above: error,
            bias: 0.0,
            freedom: 200.0,
            pairs: 100,
            repeats: repeats.to_vec(),
            learned: Learned::Nothing,
        }
    }

    #[test]
    fn the_excess_of_one_level_is_worked_out_by_hand() {
        // Repeats 0.1 and 0.3: s^2 = 0.02, over 2 is 0.01, as one level 3.5 times that; requests say 0.05^2 = 0.0025.
        let found = excess([level(0.05, &[0.1, 0.3])].iter()).expect("repeats");
        assert!((found.variance - 0.0325).abs() < 1e-12);
        assert!((found.freedom - 1.0).abs() < 1e-12);
        assert!(excess([level(0.05, &[])].iter()).is_none());
    }

    #[test]
    fn where_runs_differ_much_levels_count_alike() {
        // Requests of the second level know little; with repeats that differ by far more, it says as much as the first.
        let levels = [level(0.01, &[-0.3, 0.3]), level(0.05, &[-0.3, 0.3])];
        let found = excess(levels.iter()).expect("repeats");
        assert!(
            (found.variance - (1.4 * 0.09 - 0.0013)).abs() < 1e-4,
            "{found:?}"
        );
        assert!(1.99 < found.freedom, "{found:?}");
        // Where they differ by no more than their requests say, the surer level counts almost alone.
        let levels = [level(0.01, &[-0.008, 0.008]), level(0.05, &[-0.04, 0.04])];
        let found = excess(levels.iter()).expect("repeats");
        assert!(found.variance < 1e-9 && found.freedom < 1.1, "{found:?}");
    }

    #[test]
    fn a_third_repeat_or_a_fourth_level_is_taken_at_its_word() {
        // s^2 = 0.0075 over 3 is 0.0025, as requests say.
        let three = [level(
            0.05,
            &[
                0.1,
                0.1 + 0.075f64.sqrt() / 10f64.sqrt(),
                0.1 - 0.075f64.sqrt() / 10f64.sqrt(),
            ],
        )];
        assert!(excess(three.iter()).expect("repeats").variance < 1e-12);
        let of = |count| {
            let levels = vec![level(0.05, &[0.05, 0.15]); count];
            excess(levels.iter()).expect("repeats").variance
        };
        let told: Vec<f64> = (1..=4).map(of).collect();
        for (got, times) in told.iter().zip([3.5, 1.4, 1.1, 1.0]) {
            assert!((got - 0.0025 * (times - 1.0)).abs() < 1e-12, "{told:?}");
        }
    }

    #[test]
    fn five_repeats_judge_alone_and_four_do_not() {
        let repeats = [0.08, 0.1, 0.12, 0.09, 0.11];
        let one = level(0.001, &repeats).by_repeats(5).expect("five");
        // s^2 = 0.00025, over 5 is 0.00005.
        assert!((one.value - 0.1).abs() < 1e-12 && (one.error() - 0.00005f64.sqrt()).abs() < 1e-12);
        assert_eq!((one.freedom, one.learned), (4.0, Learned::Alone));
        assert_eq!(level(0.02, &[0.1; 5]).by_repeats(5), None);
        assert_eq!(level(0.001, &repeats[..4]).by_repeats(4), None);
        assert_eq!(level(0.001, &repeats).by_repeats(6), None);
    }

    #[test]
    fn what_repeats_judged_alone_teaches_no_other_level_and_learns_of_none() {
        let repeats = [0.08, 0.1, 0.12, 0.09, 0.11];
        let mut one = level(0.001, &repeats).by_repeats(5).expect("five");
        assert!(excess([one.clone()].iter()).is_none());
        let before = one.clone();
        let large = excess([level(0.05, &[-1.0, 1.0])].iter());
        one.widened(large, None, false);
        assert_eq!(one.error(), before.error());
    }
}
