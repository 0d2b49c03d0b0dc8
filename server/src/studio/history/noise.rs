//! What history knows of the noise between runs, for comparisons.

use measure::compare::Noise;
use measure::history::{self, Entry, Figure, current};
use measure::slo::Metric;
use measure::units::Level;
use uuid::Uuid;

use super::figures::LATENCIES;
use super::kept::{self, catch_up_a_little};
use super::same::{digest, facts};
use crate::store::{Store, StoreError, StoredConfiguration};
use crate::studio::views::Model;

/// What one level, metric and percentile of a configuration is known to differ by, and by how many runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::studio) struct Known {
    pub of: (Level, Metric, f64),
    pub noise: Noise,
    pub runs: usize,
}

/// What is known of a configuration's noise from runs before those that are compared, which are of the studies named.
pub(in crate::studio) async fn of_side(
    store: &Store,
    (model, stored): (&Model, &StoredConfiguration),
    (compared, before_ms): (&[Uuid], i64),
) -> Result<Vec<Known>, StoreError> {
    if model.study.imported.is_some() {
        return Ok(Vec::new());
    }
    catch_up_a_little(store).await?;
    let facts = facts(model, stored);
    let mut levels: Vec<Level> = Vec::new();
    for point in &model.points {
        if point.configuration == stored.ordinal && !levels.contains(&point.level) {
            levels.push(point.level);
        }
    }
    let mut known = Vec::new();
    for level in levels {
        for figure in LATENCIES {
            let same = digest(&facts, Some(level), figure);
            let earlier = kept::earlier(store, (&same, before_ms), compared).await?;
            let entries: Vec<Entry> = earlier.iter().map(super::entry).collect();
            let noise = history::noise(&entries);
            if let (Some(noise), Figure::Latency(metric, percentile)) = (noise, figure) {
                known.push(Known {
                    of: (level, metric, percentile),
                    noise,
                    runs: current(&entries).len(),
                });
            }
        }
    }
    Ok(known)
}
