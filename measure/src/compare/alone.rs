//! One difference by itself, of pairs alone: for whoever asks about that one and no other.

use super::sessions::Sides;
use super::together::Scale;
use super::{Difference, LevelRuns, Run, latency};
use crate::score::Score;
use crate::slo::Metric;
use crate::units::Level;

/// The normal deviate of 95 %, on both sides together.
const ALONE: f64 = 1.959_963_984_540_054;

/// How much higher a percentile is on the other side, as candidate / baseline - 1 with its 95 % interval, pair by pair; `None` where sessions
/// did not start alike, or do not suffice.
pub fn paired_difference(
    level: Level,
    [baseline, candidate]: [&[Score]; 2],
    (metric, p): (Metric, f64),
) -> Option<Difference> {
    let run = |scores| {
        vec![Run {
            repeat: 0,
            started_ms: 0,
            scores,
        }]
    };
    let runs = LevelRuns {
        level,
        baseline: run(baseline),
        candidate: run(candidate),
        no_latencies: None,
        nothing: None,
    };
    let sides = Sides::of(&runs, true).ok().filter(|it| it.paired)?;
    let found = latency::measured(&sides, metric, p, ALONE).ok()?;
    Some(found.judged(Scale::Latency, ALONE).0)
}
