//! The noise between runs: what repeats of one comparison differ by, beyond what their requests explain.

use super::Measured;
use super::dependence::Spread;

/// How much two runs of one and the same configuration differ, as history knows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Standard deviation of ln(percentile) between runs.
    pub deviation: f64,
    /// Runs behind it, less one.
    pub freedom: f64,
}

/// What repeats of one metric at several levels differ by beyond their requests, as a variance of a level's difference;
/// `None` without repeats. A level counts as much as its requests are sure of it.
///
/// The moment estimate of DerSimonian and Laird (1986): s^2 / R is what repeats say of the variance of a mean of R, v what
/// requests say; their weighted mean difference, at least nothing, is the excess.
pub(super) fn excess<'a>(levels: impl Iterator<Item = &'a Measured>) -> Option<Spread> {
    let (mut weights, mut sum, mut scale, mut doubt) = (0.0, 0.0, 0.0, 0.0);
    for level in levels {
        let count = level.repeats.len() as f64;
        if count < 2.0 {
            continue;
        }
        let v = level.error().powi(2).max(1e-18);
        let weight = (count - 1.0) / (v * v);
        weights += weight;
        sum += weight * (variance(&level.repeats) / count - v);
        scale += weight * v;
        doubt += (weight * v).powi(2) / (count - 1.0);
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
pub(super) fn variance(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0)
}

impl Measured {
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
            if let Some(excess) = excess {
                spread = spread.plus(excess);
                self.learned = restless || 0.0 < excess.variance;
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
