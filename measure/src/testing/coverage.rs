//! Do 95 % intervals cover what they promise to? The truth of a process is found by repetition.

use crate::quantile::{Sample, percentile_linear};
use crate::sampling::derive;
use crate::score::Score;
use crate::slo::{Slo, goodput, judge};
use crate::summary::{Discipline, Failures, Summary, summarize};
use crate::units::Nanos;

use super::processes::{Process, duration};
use super::rows::Row;

/// Of so many intervals that were given, how many cover; how wide they are beside an oracle's; how many were not given.
#[derive(Clone, Copy, Debug)]
pub struct Covered {
    pub of: usize,
    pub told: usize,
    pub covered: usize,
    /// Median width over the central 95 % range of the estimate itself.
    pub width: f64,
}

/// What is estimated.
pub const FIGURES: [&str; 4] = ["p95 of TTFT", "p95 of TPOT", "attainment", "goodput"];

/// Truth and oracle of each figure for runs of n requests.
pub struct Truth {
    process: Process,
    n: usize,
    slo: Slo,
    /// The process's own value over the horizon: pooled over all runs.
    values: [f64; 4],
    /// Widths of the central 95 % of the estimates.
    oracle: [f64; 4],
}

impl Truth {
    /// From so many runs, none of which is used again. The SLO's threshold is the true p95 of TTFT.
    pub fn of(process: Process, n: usize, runs: usize) -> Self {
        let runs: Vec<Vec<Score>> = (0..runs as u64)
            .map(|run| process.run(n, derive(1, &[n as u64, run])))
            .collect();
        let [ttft, tpot] = [ttft, tpot].map(|metric| {
            let mut all: Vec<f64> = runs.iter().flatten().map(metric).collect();
            all.sort_unstable_by(f64::total_cmp);
            percentile_linear(&all, 95.0).expect("values")
        });
        let threshold = Nanos(ttft as u64);
        let slo: Slo = format!("ttft:p95<{}us", threshold.0 / 1000)
            .parse()
            .expect("an SLO");
        let estimates: Vec<[f64; 4]> = runs.iter().map(|run| estimates(run, &slo)).collect();
        let mean = |of: &dyn Fn(&[Score]) -> f64| runs.iter().map(|run| of(run)).sum::<f64>();
        let good = mean(&|run| tokens(run, &slo));
        let time = mean(&|run| duration(run).as_secs_f64());
        let share = estimates.iter().map(|e| e[2]).sum::<f64>() / runs.len() as f64;
        Self {
            process,
            n,
            values: [ttft, tpot, share, good / time],
            oracle: std::array::from_fn(|figure| central(&estimates, figure)),
            slo,
        }
    }

    /// Tries so many runs.
    fn coverage(&self, runs: usize) -> [Covered; 4] {
        let intervals: Vec<[Option<(f64, f64)>; 4]> = (0..runs as u64)
            .map(|run| {
                let seed = derive(2, &[self.n as u64, run]);
                intervals(&self.process.run(self.n, seed), &self.slo)
            })
            .collect();
        std::array::from_fn(|figure| {
            let told = || intervals.iter().filter_map(|it| it[figure]);
            let truth = self.values[figure];
            let mut widths: Vec<f64> = told().map(|(lo, hi)| hi - lo).collect();
            widths.sort_unstable_by(f64::total_cmp);
            Covered {
                of: runs,
                told: widths.len(),
                covered: told()
                    .filter(|(lo, hi)| *lo <= truth && truth <= *hi)
                    .count(),
                width: percentile_linear(&widths, 50.0).unwrap_or(0.0) / self.oracle[figure],
            }
        })
    }

    /// The rows of a table.
    pub fn rows(&self, runs: usize) -> Vec<Row> {
        let row = |(figure, covered): (&str, Covered)| {
            let Covered {
                of,
                told,
                covered,
                width,
            } = covered;
            let share = 100.0 * covered as f64 / told.max(1) as f64;
            let untold = 100.0 * (of - told) as f64 / of as f64;
            Row {
                name: format!("{figure}, n {:04}, {}", self.n, self.process.name()),
                count: of,
                figure: format!("covers {share:.1} %, width {width:.2}, cannot tell {untold:.1} %"),
                bar: "93 %, 1.3, 10 %".to_owned(),
                kept: 93.0 <= share && width <= 1.3 && untold <= 10.0,
            }
        };
        FIGURES
            .into_iter()
            .zip(self.coverage(runs))
            .map(row)
            .collect()
    }
}

fn ttft(score: &Score) -> f64 {
    score.ttft.map_or(0.0, |nanos| nanos.0 as f64)
}

fn tpot(score: &Score) -> f64 {
    score.tpot.map_or(0.0, |nanos| nanos.0 as f64)
}

/// Tokens of good requests.
fn tokens(run: &[Score], slo: &Slo) -> f64 {
    let good = |score: &&Score| slo.judge_request(score) == crate::slo::Good::Yes;
    run.iter()
        .filter(good)
        .filter_map(|score| score.n)
        .map(f64::from)
        .sum()
}

/// A summary that knows how long the run took, which is all that goodput asks of it.
fn summary(run: &[Score]) -> Summary {
    Summary {
        duration: duration(run),
        ..summarize(&[], Discipline::OpenLoop, Failures::AsInfinity)
    }
}

fn estimates(run: &[Score], slo: &Slo) -> [f64; 4] {
    let p95 = |metric: fn(&Score) -> f64| {
        let mut values: Vec<f64> = run.iter().map(metric).collect();
        values.sort_unstable_by(f64::total_cmp);
        percentile_linear(&values, 95.0).expect("values")
    };
    let good = run
        .iter()
        .filter(|score| slo.judge_request(score) == crate::slo::Good::Yes)
        .count();
    let share = good as f64 / run.len() as f64;
    let rate = tokens(run, slo) / duration(run).as_secs_f64();
    [p95(ttft), p95(tpot), share, rate]
}

/// The intervals that the studio shows; `None` where it has none with two ends.
fn intervals(run: &[Score], slo: &Slo) -> [Option<(f64, f64)>; 4] {
    let sample = |metric: fn(&Score) -> f64| Sample::new(run.iter().map(metric).collect());
    let p95 = |sample: Sample| {
        let (estimate, _) = sample.estimate(95.0)?;
        Some((estimate.lo?.0 as f64, estimate.hi?.0 as f64))
    };
    let summary = summary(run);
    let attainment = judge(run, &summary, slo).attainment;
    let rate = goodput(run, &summary, slo).tokens;
    [
        p95(sample(ttft)),
        p95(sample(tpot).beside(sample(ttft))),
        attainment.map(|share| (share.lo, share.hi)),
        rate.map(|rate| (rate.lo, rate.hi)),
    ]
}

/// Width of the central 95 % of one figure's estimates.
fn central(estimates: &[[f64; 4]], figure: usize) -> f64 {
    let mut values: Vec<f64> = estimates.iter().map(|of| of[figure]).collect();
    values.sort_unstable_by(f64::total_cmp);
    let at = |p| percentile_linear(&values, p).expect("values");
    at(97.5) - at(2.5)
}

/// Runs of the full count.
const RUNS: usize = 1000;
const RUNS_FOR_TRUTH: usize = 4000;
/// So few of 100 intervals cover less than once in 2,000 times where 93 of 100 do: 93 less 3.5 standard errors.
const FEWEST_OF_100: usize = 84;
/// The central 95 % of the estimates of fewer runs are known too badly to hold a width to.
const RUNS_FOR_SMALL_TRUTH: usize = 1000;

fn full(process: Process) {
    for n in [500, 2000] {
        let truth = Truth::of(process, n, RUNS_FOR_TRUTH);
        truth.rows(RUNS).iter().for_each(Row::print);
    }
}

#[track_caller]
fn small(process: Process) {
    let covered = Truth::of(process, 500, RUNS_FOR_SMALL_TRUTH).coverage(100);
    for (figure, covered) in FIGURES.into_iter().zip(covered) {
        let enough = FEWEST_OF_100 * covered.told <= 100 * covered.covered && 80 <= covered.told;
        assert!(enough && covered.width < 1.5, "{figure}: {covered:?}");
    }
}

macro_rules! each_process {
    ($($covers:ident, $statistics:ident: $process:expr;)*) => {
        $(
            #[test]
            fn $covers() {
                small($process);
            }

            #[test]
            #[ignore = "the full count, by cargo xtask bench --statistics"]
            fn $statistics() {
                full($process);
            }
        )*
    };
}

each_process! {
    independent_values_are_covered, statistics_intervals_independent: Process::Autoregressive(0.0);
    short_memories_are_covered, statistics_intervals_autoregression_050: Process::Autoregressive(0.5);
    long_memories_are_covered, statistics_intervals_autoregression_090: Process::Autoregressive(0.9);
    one_server_at_50_is_covered, statistics_intervals_one_by_one_050: Process::OneByOne(0.5);
    one_server_at_70_is_covered, statistics_intervals_one_by_one_070: Process::OneByOne(0.7);
    one_server_at_85_is_covered, statistics_intervals_one_by_one_085: Process::OneByOne(0.85);
    slots_at_50_are_covered, statistics_intervals_slots_050: Process::Slots(4, 0.5);
    slots_at_70_are_covered, statistics_intervals_slots_070: Process::Slots(4, 0.7);
    slots_at_85_are_covered, statistics_intervals_slots_085: Process::Slots(4, 0.85);
}
