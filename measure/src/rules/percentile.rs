//! Percentiles of values that may weigh differently, in each tool's own way.

use super::{Percentiles, Tool};
use crate::quantile::percentile_linear;

/// Shares, and the same in percent: some tools multiply by the one, some divide by the other.
const WANTED: [(f64, f64); 3] = [(0.50, 50.0), (0.95, 95.0), (0.99, 99.0)];
/// Nanoseconds in a millisecond.
const MS: f64 = 1e6;

/// Values in nanoseconds and how much each weighs.
#[derive(Default)]
pub(super) struct Values(Vec<(f64, u32)>);

impl Values {
    pub fn push(&mut self, value: f64, weight: u32) {
        self.0.push((value, weight));
    }

    /// p50, p95 and p99 in milliseconds.
    pub fn percentiles(mut self, tool: Tool) -> Percentiles {
        self.0.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
        let plain = || -> Vec<f64> { self.0.iter().map(|(value, _)| *value).collect() };
        let found = match tool {
            Tool::Guidellm => WANTED.map(|(share, _)| step(&self.0, share)),
            Tool::Mlperf => WANTED.map(|(share, _)| at_index(&plain(), share)),
            Tool::Vllm | Tool::Sglang | Tool::Aiperf => {
                let sorted = plain();
                WANTED.map(|(_, percent)| percentile_linear(&sorted, percent))
            }
        };
        found.map(|value| value.map(|nanos| nanos / MS))
    }
}

/// The first value at which the weights so far make up the share: a value that was seen.
///
/// Summed value by value, equal ones together, as the tool does: whether 95 of 100 reach 0.95 depends on it.
fn step(sorted: &[(f64, u32)], share: f64) -> Option<f64> {
    let all: f64 = sorted.iter().map(|(_, weight)| f64::from(*weight)).sum();
    let mut so_far = 0.0;
    for equal in sorted.chunk_by(|a, b| a.0 == b.0) {
        let weight: f64 = equal.iter().map(|(_, weight)| f64::from(*weight)).sum();
        so_far += weight / all;
        if share <= so_far {
            return Some(equal[0].0);
        }
    }
    sorted.last().map(|(value, _)| *value)
}

/// The value at place n * share, counted from zero and rounded down: never between two.
fn at_index(sorted: &[f64], share: f64) -> Option<f64> {
    let place = sorted.len() as f64 * share;
    sorted.get(place as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// p50, p95 and p99 of 1 to `most` milliseconds.
    #[track_caller]
    fn check(tool: Tool, most: u32, expected: [f64; 3]) {
        let mut values = Values::default();
        (1..=most).for_each(|ms| values.push(f64::from(ms) * MS, 1));
        let found = values
            .percentiles(tool)
            .map(|value| value.expect("a value"));
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found - expected).abs() < 1e-9,
                "{tool}: {found}, not {expected}"
            );
        }
    }

    #[test]
    fn of_twenty_values_the_tools_pick_different_ones() {
        check(Tool::Vllm, 20, [10.5, 19.05, 19.81]);
        // Ten times 0.05 is a little less than 0.5, and it is the sum that counts.
        check(Tool::Guidellm, 20, [11.0, 19.0, 20.0]);
        check(Tool::Mlperf, 20, [11.0, 20.0, 20.0]);
    }

    #[test]
    fn of_nothing_there_is_no_percentile() {
        for tool in Tool::ALL {
            assert_eq!(Values::default().percentiles(tool), [None; 3], "{tool}");
        }
    }

    #[test]
    fn a_value_counts_as_often_as_it_weighs() {
        let mut values = Values::default();
        for (ms, weight) in [(1.0, 98), (2.0, 1), (3.0, 1)] {
            values.push(ms * MS, weight);
        }
        assert_eq!(
            values.percentiles(Tool::Guidellm),
            [1.0, 1.0, 2.0].map(Some)
        );
    }
}
