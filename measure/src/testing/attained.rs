//! Attainment's interval near a bound and far from it: does it cover, is a promise that is just broken called kept, and is
//! one that is kept by far called so?

use crate::quantile::{Proportion, percentile_linear, worst_time};
use crate::sampling::derive;

use super::processes::Process;
use super::rows::Row;

/// What an SLO asks for.
const TARGET: f64 = 0.95;
/// Shares of requests that bounds near the target let through.
const NEAR: [f64; 6] = [0.93, 0.94, 0.95, 0.96, 0.97, 0.98];
/// Utilisations of the queues.
const LOADS: [f64; 4] = [0.5, 0.7, 0.85, 0.95];
/// Bounds far away, in true 99th percentiles.
const FAR: [f64; 2] = [3.0, 10.0];

/// Bounds on TTFT for runs of n requests, with the share that truly keeps each.
struct Bounds {
    process: Process,
    n: usize,
    near: Vec<(f64, f64)>,
    far: Vec<(f64, f64)>,
}

/// TTFT in order of arrival.
fn run(process: Process, n: usize, seed: u64) -> Vec<f64> {
    let scores = process.run(n, seed);
    let ttft = scores.iter().filter_map(|score| score.ttft);
    ttft.map(|nanos| nanos.0 as f64).collect()
}

fn attainment(ttft: &[f64], bound: f64) -> Proportion {
    let good = ttft.iter().filter(|value| **value <= bound).count();
    let margins: Vec<f64> = ttft.iter().map(|value| value / (value + bound)).collect();
    let time = worst_time(&margins, ttft.len() - good);
    Proportion::dependent(good, ttft.len(), time).expect("requests")
}

impl Bounds {
    fn of(process: Process, n: usize, runs: usize) -> Self {
        let seeds = (0..runs as u64).map(|run| derive(3, &[n as u64, run]));
        let mut all: Vec<f64> = seeds.flat_map(|seed| run(process, n, seed)).collect();
        all.sort_unstable_by(f64::total_cmp);
        let at = |p| percentile_linear(&all, p).expect("values");
        let share = |bound: f64| {
            let within = all.partition_point(|value| *value <= bound);
            (bound, within as f64 / all.len() as f64)
        };
        Self {
            process,
            n,
            near: NEAR.iter().map(|of| share(at(100.0 * of))).collect(),
            far: FAR.iter().map(|times| share(times * at(99.0))).collect(),
        }
    }

    fn tried(&self, runs: usize) -> Tried {
        let mut tried = Tried::default();
        for seed in (0..runs as u64).map(|run| derive(4, &[self.n as u64, run])) {
            let ttft = run(self.process, self.n, seed);
            let near = self.near.iter().map(|(bound, _)| attainment(&ttft, *bound));
            for (place, (got, (_, truth))) in near.zip(&self.near).enumerate() {
                tried.covered[place] += usize::from(got.lo <= *truth && *truth <= got.hi);
                tried.false_sure[place] += usize::from(TARGET <= got.lo && *truth < TARGET);
            }
            let far = self.far.iter().map(|(bound, _)| attainment(&ttft, *bound));
            for (place, got) in far.enumerate() {
                tried.sure[place] += usize::from(TARGET <= got.lo);
            }
        }
        tried
    }
}

/// Counts over runs.
#[derive(Debug, Default)]
struct Tried {
    /// For each bound near the target: how many intervals hold the true share.
    covered: [usize; NEAR.len()],
    /// How many call it surely kept though it is not.
    false_sure: [usize; NEAR.len()],
    /// For each bound far away: how many call it surely kept.
    sure: [usize; FAR.len()],
}

impl Tried {
    /// The least of a hundred intervals that hold the true share, over all bounds near the target.
    fn least_covered(&self) -> usize {
        self.covered.iter().copied().min().unwrap_or(0)
    }

    fn most_false(&self) -> usize {
        self.false_sure.iter().copied().max().unwrap_or(0)
    }

    fn row(&self, (process, n): (Process, usize), runs: usize) -> Row {
        let part = |count: usize| 100.0 * count as f64 / runs as f64;
        let (covers, wrong) = (part(self.least_covered()), part(self.most_false()));
        let [near, far] = self.sure.map(part);
        Row {
            name: format!("attainment kept by far, n {n:04}, {}", process.name()),
            count: runs,
            figure: format!(
                "covers {covers:.1} %, broken called kept {wrong:.1} %, kept by far called so {near:.0} and {far:.0} %"
            ),
            bar: "93 %, 2.5 %".to_owned(),
            kept: 93.0 <= covers && wrong <= 2.5,
        }
    }
}

/// Runs of the full count.
const RUNS: usize = 1000;
const RUNS_FOR_TRUTH: usize = 2000;

fn full(process: Process) {
    for n in [500, 2000] {
        let tried = Bounds::of(process, n, RUNS_FOR_TRUTH).tried(RUNS);
        tried.row((process, n), RUNS).print();
    }
}

#[test]
#[ignore = "the full count, by cargo xtask bench --statistics"]
fn statistics_attainment_autoregressions() {
    [0.0, 0.5, 0.9]
        .map(Process::Autoregressive)
        .into_iter()
        .for_each(full);
}

#[test]
#[ignore = "the full count, by cargo xtask bench --statistics"]
fn statistics_attainment_one_by_one() {
    LOADS.map(Process::OneByOne).into_iter().for_each(full);
}

#[test]
#[ignore = "the full count, by cargo xtask bench --statistics"]
fn statistics_attainment_slots() {
    LOADS
        .map(|load| Process::Slots(4, load))
        .into_iter()
        .for_each(full);
}

#[test]
#[ignore = "the full count, by cargo xtask bench --statistics"]
fn statistics_attainment_batches() {
    LOADS.map(Process::Batches).into_iter().for_each(full);
}

#[test]
fn a_queue_that_keeps_its_promise_by_far_is_said_to() {
    for process in [Process::OneByOne(0.5), Process::Batches(0.5)] {
        let tried = Bounds::of(process, 500, 100).tried(50);
        assert!(45 <= tried.sure[1], "{process:?}: {tried:?}");
    }
}

#[test]
fn a_queue_near_its_capacity_is_not_called_sure_after_a_calm_run() {
    for process in [Process::OneByOne(0.95), Process::Slots(4, 0.95)] {
        // 2.5 of 100 may be; eleven are about once in 20,000 times.
        let tried = Bounds::of(process, 500, 200).tried(100);
        assert!(tried.most_false() <= 10, "{process:?}: {tried:?}");
    }
}
