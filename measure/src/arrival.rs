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
