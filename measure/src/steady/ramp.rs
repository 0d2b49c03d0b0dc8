//! Where a ramp ends: the marginal standard error rule of White (1997), on batches of five.

/// Values averaged into one before the rule is applied.
const BATCH: usize = 5;

/// How many values to leave out at the start, so that the mean of the rest is known best: of batch means y, the d with the
/// least sum over i >= d of (y(i) - mean)^2 / (m - d)^2. `None` where that lies in the second half: the series is too short,
/// or never settles.
pub(super) fn end(values: &[f64]) -> Option<usize> {
    let means: Vec<f64> = values
        .chunks_exact(BATCH)
        .map(|batch| batch.iter().sum::<f64>() / BATCH as f64)
        .collect();
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    let mut best: Option<(f64, usize)> = None;
    for (place, mean) in means.iter().enumerate().rev() {
        count += 1.0;
        sum += mean;
        squares += mean * mean;
        // The last few agree by chance.
        if means.len() < place + BATCH {
            continue;
        }
        let error = (squares - sum * sum / count).max(0.0) / (count * count);
        if best.is_none_or(|(least, _)| error <= least) {
            best = Some((error, place));
        }
    }
    let (_, place) = best?;
    (place <= means.len() / 2).then_some(place * BATCH)
}

#[cfg(test)]
mod tests {
    use super::end;
    use crate::sampling::Draws;

    fn noisy(level: impl Fn(usize) -> f64, count: usize) -> Vec<f64> {
        let mut draws = Draws::new(3);
        (0..count).map(|i| level(i) + draws.normal()).collect()
    }

    #[test]
    fn a_ramp_is_left_out_and_a_level_is_not() {
        let ramp = end(&noisy(|i| (i as f64 / 10.0).min(20.0), 1000)).expect("settles");
        assert!((150..=250).contains(&ramp), "{ramp}");
        let level = end(&noisy(|_| 20.0, 1000)).expect("settles");
        assert!(level <= 100, "{level}");
    }

    #[test]
    fn what_climbs_to_the_end_has_no_steady_part() {
        assert_eq!(end(&noisy(|i| i as f64, 1000)), None);
        assert_eq!(end(&[]), None);
    }
}
