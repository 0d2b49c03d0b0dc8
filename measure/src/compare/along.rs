//! Levels of a curve taken together.

use super::{Learned, Measured};

/// The mean over levels, each counting as much as it is sure (the inverse of its variance); `None` without any.
pub(super) fn weighted(levels: &[Measured]) -> Option<Measured> {
    let weight = |one: &Measured| 1.0 / one.error().powi(2).max(1e-18);
    let weights: f64 = levels.iter().map(weight).sum();
    let mean = |of: fn(&Measured) -> f64| {
        let of = levels.iter().map(|one| weight(one) * of(one));
        of.sum::<f64>() / weights
    };
    // Noise between runs was learned from all of them together, so they add nothing to each other.
    let learned = levels.iter().any(|one| one.learned == Learned::Together);
    // Levels whose errors came out too small weigh too much (Meier 1953).
    let doubt = |one: &Measured| {
        let share = weight(one) / weights;
        4.0 * share * (1.0 - share) / one.freedom
    };
    let wider = if learned {
        1.0
    } else {
        1.0 + levels.iter().map(doubt).sum::<f64>()
    };
    let swing = |of: fn(&Measured) -> f64| {
        let of = levels.iter().map(|one| (weight(one) * of(one)).powi(2));
        (wider * of.sum::<f64>()).sqrt() / weights
    };
    let freedoms = levels.iter().map(|one| one.freedom);
    let freedom = if learned {
        freedoms.reduce(f64::min)?
    } else {
        let doubt = levels.iter().map(|one| weight(one).powi(2) / one.freedom);
        weights * weights / doubt.sum::<f64>()
    };
    (0.0 < weights).then(|| Measured {
        value: mean(|one| one.value),
        below: swing(|one| one.below),
        above: swing(|one| one.above),
        bias: mean(|one| one.bias),
        freedom,
        pairs: levels.iter().map(|one| one.pairs).sum(),
        repeats: Vec::new(),
        learned: if learned {
            Learned::Together
        } else {
            Learned::Nothing
        },
    })
}

/// Whether the levels differ from their mean beyond chance: Cochran's Q against three of its standard deviations.
pub(super) fn is_uneven(levels: &[Measured], together: &Measured) -> bool {
    let off = |one: &Measured| ((one.value - together.value) / one.error().max(1e-9)).powi(2);
    let q: f64 = levels.iter().map(off).sum();
    let freedom = levels.len().saturating_sub(1) as f64;
    freedom + 3.0 * (2.0 * freedom).sqrt() < q
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(value: f64, error: f64) -> Measured {
        Measured {
            value,
            below: error,
            above: error,
            bias: 0.0,
            freedom: 100.0,
            pairs: 10,
            repeats: Vec::new(),
            learned: Learned::Nothing,
        }
    }

    #[test]
    fn a_level_counts_as_much_as_it_is_sure() {
        let levels = [level(0.1, 0.01), level(0.4, 0.02)];
        let both = weighted(&levels).expect("two");
        // Weights 4 to 1.
        assert!((both.value - 0.16).abs() < 1e-12);
        // Of whose errors 100 degrees of freedom tell: 2 x 4 x 0.8 x 0.2 / 100 more.
        assert!((both.error() - 0.01 * (0.8f64 * 1.0128).sqrt()).abs() < 1e-12);
        // Welch: 5^2 / (4^2 + 1^2) of 100.
        assert!((both.freedom - 2500.0 / 17.0).abs() < 1e-9);
        let shared = levels.map(|level| Measured {
            learned: Learned::Together,
            ..level
        });
        assert_eq!(weighted(&shared).map(|it| it.freedom), Some(100.0));
        assert!(is_uneven(&[level(0.1, 0.01), level(0.4, 0.02)], &both));
        assert!(!is_uneven(&[level(0.1, 0.01)], &level(0.1, 0.01)));
        assert!(weighted(&[]).is_none());
    }
}
