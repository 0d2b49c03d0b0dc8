//! When sessions start: an arrival process and a level become a list of offsets.

use serde::{Deserialize, Serialize};

use crate::sampling::Draws;
use crate::summary::Discipline;
use crate::units::{Level, Nanos};

/// How starts are spread over time at a given rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// Exponential gaps: what independent users look like.
    #[default]
    Poisson,
    /// Equal gaps.
    Constant,
}

/// Offsets of `count` starts from the start of the point, in order; the first lies one gap after the start for Poisson and
/// at zero for constant. `inf` and closed loops start everything at zero (a closed loop waits for its slots instead).
pub fn starts(arrival: Arrival, level: Level, count: usize, seed: u64) -> Vec<Nanos> {
    let Some(rate) = level.rate() else {
        return vec![Nanos::ZERO; count];
    };
    let mut draws = Draws::new(seed);
    let mut at = 0.0;
    (0..count)
        .map(|index| match arrival {
            Arrival::Constant => Nanos::from_secs_f64(index as f64 / rate),
            Arrival::Poisson => {
                at += draws.exponential(rate);
                Nanos::from_secs_f64(at)
            }
        })
        .collect()
}

/// How a level's requests come.
pub fn discipline(level: Level) -> Discipline {
    match level {
        Level::Rate(_) => Discipline::OpenLoop,
        Level::Inf => Discipline::AllAtOnce,
        Level::Concurrency(_) => Discipline::ClosedLoop,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn level(text: &str) -> Level {
        text.parse().expect("level")
    }

    #[test]
    fn a_seed_means_the_same_starts_for_ever() {
        let millis: Vec<u64> = starts(Arrival::Poisson, level("10"), 8, 42)
            .iter()
            .map(|at| at.0 / 1_000_000)
            .collect();
        insta::assert_snapshot!(format!("{millis:?}"), @"[168, 206, 619, 740, 898, 986, 1000, 1093]");
    }

    #[test]
    fn poisson_gaps_have_mean_and_spread_of_an_exponential() {
        let starts = starts(Arrival::Poisson, level("10"), 50_000, 1);
        let gaps: Vec<f64> = starts
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).as_secs_f64())
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean - 0.1).abs() < 0.002, "{mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "{variance}");
    }

    #[test]
    fn the_same_seed_at_twice_the_rate_is_the_same_shape() {
        let (slow, fast) = (
            starts(Arrival::Poisson, level("2"), 100, 7),
            starts(Arrival::Poisson, level("4"), 100, 7),
        );
        assert!(
            slow.iter()
                .zip(&fast)
                .all(|(slow, fast)| slow.0.abs_diff(2 * fast.0) <= 2)
        );
    }

    #[test]
    fn constant_gaps_do_not_drift() {
        let starts = starts(Arrival::Constant, level("3"), 3_000_001, 0);
        assert_eq!(
            (starts[0], starts[3_000_000]),
            (Nanos::ZERO, Nanos::from_millis(1_000_000_000))
        );
    }

    #[test]
    fn inf_and_closed_loops_start_at_once() {
        for text in ["inf", "c=4"] {
            assert_eq!(
                starts(Arrival::Poisson, level(text), 3, 1),
                [Nanos::ZERO; 3]
            );
        }
    }

    #[test]
    fn levels_have_their_discipline() {
        let of = |text| discipline(level(text));
        assert_eq!(
            [of("2"), of("inf"), of("c=2")],
            [
                Discipline::OpenLoop,
                Discipline::AllAtOnce,
                Discipline::ClosedLoop
            ]
        );
    }

    proptest! {
        #[test]
        fn starts_are_in_order(rate in 0.01f64..10_000.0, count in 0usize..200, seed: u64, constant: bool) {
            let arrival = if constant { Arrival::Constant } else { Arrival::Poisson };
            let starts = starts(arrival, level(&rate.to_string()), count, seed);
            prop_assert_eq!(starts.len(), count);
            prop_assert!(starts.is_sorted());
        }
    }
}
