//! A curve that never rises, as near as can be to noisy values.

/// Values in order of the rate, each with its weight, become the non-increasing ones with the least weighted squared
/// distance (pooling of adjacent violators: Ayer and others, 1955): neighbours that rise are replaced by their mean.
/// One walk; each block is merged once.
pub(super) fn never_rising(values: &mut [(f64, f64)]) {
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for (value, weight) in values.iter() {
        let mut block = (*value, *weight, 1);
        while let Some(before) = blocks.pop_if(|before| before.0 < block.0) {
            let weight = before.1 + block.1;
            block = (
                (before.0 * before.1 + block.0 * block.1) / weight,
                weight,
                before.2 + block.2,
            );
        }
        blocks.push(block);
    }
    let fitted = blocks
        .into_iter()
        .flat_map(|(value, _, count)| std::iter::repeat_n(value, count));
    for (place, fitted) in values.iter_mut().zip(fitted) {
        place.0 = fitted;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(values: &[(f64, f64)], expected: &[f64]) {
        let mut fitted = values.to_vec();
        never_rising(&mut fitted);
        assert_eq!(
            fitted.iter().map(|it| it.0).collect::<Vec<_>>(),
            expected,
            "{values:?}"
        );
    }

    #[test]
    fn neighbours_that_rise_become_their_mean() {
        check(&[(3.0, 1.0), (2.0, 1.0), (1.0, 1.0)], &[3.0, 2.0, 1.0]);
        check(&[(1.0, 1.0), (3.0, 1.0)], &[2.0, 2.0]);
        check(&[(1.0, 3.0), (5.0, 1.0)], &[2.0, 2.0]);
        // The last one lifts all before it.
        check(
            &[(4.0, 1.0), (1.0, 1.0), (1.0, 1.0), (10.0, 1.0)],
            &[4.0; 4],
        );
        check(&[], &[]);
    }

    proptest! {
        #[test]
        fn the_fit_never_rises_and_keeps_the_mean(values in prop::collection::vec((-10.0f64..10.0, 0.1f64..5.0), 0..40)) {
            let mean = |values: &[(f64, f64)]| values.iter().map(|it| it.0 * it.1).sum::<f64>();
            let mut fitted = values.clone();
            never_rising(&mut fitted);
            prop_assert!(fitted.is_sorted_by(|a, b| b.0 <= a.0 + 1e-12));
            prop_assert!((mean(&fitted) - mean(&values)).abs() < 1e-9);
        }
    }
}
