//! What regressions promise, tried on many series whose truth is known: `cargo xtask bench --statistics history`.

use crate::sampling::{Draws, derive};
use crate::slo::Metric;
use crate::testing::bars::{Bar, Row, check, full_count, share};

use super::{Entry, Figure, Outcome, Regression, changes, judge, judge_among};

/// Standard deviation of one run.
const NOISE: f64 = 0.02;

/// Runs around levels, each so many runs long and so many standard deviations above 100; every run is a little like the one
/// before it by `alike`, and one in twenty is an odd one where `odd`.
#[derive(Clone, Copy)]
struct Series<'a> {
    levels: &'a [(usize, f64)],
    alike: f64,
    odd: bool,
}

impl<'a> Series<'a> {
    const fn of(levels: &'a [(usize, f64)]) -> Self {
        Self {
            levels,
            alike: 0.0,
            odd: false,
        }
    }

    fn runs(&self, seed: u64) -> Vec<Entry> {
        let mut draws = Draws::new(derive(seed, &[7]));
        let mut off = draws.normal();
        let levels = self.levels.iter();
        let levels = levels.flat_map(|(count, level)| std::iter::repeat_n(*level, *count));
        let run = |(level, day): (f64, i64)| {
            off = self.alike * off + (1.0 - self.alike * self.alike).sqrt() * draws.normal();
            let odd = if self.odd && draws.uniform() < 0.05 {
                20.0 * (draws.uniform() - 0.5).signum()
            } else {
                0.0
            };
            Entry {
                at_ms: day * 86_400_000,
                value: 100.0 * (NOISE * (level + off + odd)).exp(),
                error: NOISE / 2.0,
            }
        };
        levels.zip(0..).map(run).collect()
    }

    /// The last so many runs, each judged by all before it.
    fn judged(&self, last: usize, seed: u64) -> Vec<Regression> {
        let runs = self.runs(seed);
        let first = runs.len() - last;
        let figure = Figure::Latency(Metric::Tpot, 50.0);
        (first..runs.len())
            .map(|at| judge(&runs[..at], runs[at], figure, None))
            .collect()
    }
}

fn fails(judged: &[Regression]) -> bool {
    judged.iter().any(|one| one.outcome == Outcome::Fail)
}

fn cannot_tell(judged: &[Regression]) -> bool {
    let unsure = |one: &Regression| matches!(one.outcome, Outcome::Indeterminate { .. });
    judged.iter().all(unsure)
}

fn rows(count: u32) -> Vec<Row> {
    [same(count), together(count), steps(count), few(count)].concat()
}

/// Studies of many figures in which nothing changed: half of one in a hundred should fail, on the worse side.
fn together(count: u32) -> Vec<Row> {
    const LATENCY: Figure = Figure::Latency(Metric::Tpot, 50.0);
    let fails = |figures: u64, earlier: usize, seed: u64| {
        (0..figures).any(|figure| {
            let levels = [(earlier + 1, 0.0)];
            let runs = Series::of(&levels).runs(derive(seed, &[figure]));
            let (new, before) = (runs[earlier], &runs[..earlier]);
            judge_among(
                before,
                new,
                LATENCY,
                super::Bar::default(),
                figures as usize,
            )
            .outcome
                == Outcome::Fail
        })
    };
    let count = 4 * count;
    let cases = [(12, 5), (12, 8), (12, 10), (12, 20), (25, 10), (25, 20)];
    cases
        .map(|(figures, earlier)| {
            let figure = share(count, |seed| fails(figures, earlier, seed));
            let name = format!(
                "history: a study of {figures} figures of the same fails, after {earlier} runs"
            );
            Row::new(name, count, figure, Bar::AtMost(0.01))
        })
        .to_vec()
}

/// Runs of the same: of 100, one at most fails.
fn same(count: u32) -> Vec<Row> {
    let most = Bar::AtMost(0.01);
    let odd = |levels| Series {
        odd: true,
        ..Series::of(levels)
    };
    let alike = Series {
        alike: 0.3,
        ..Series::of(&[(31, 0.0)])
    };
    let rows = [
        ("after 5 runs", Series::of(&[(6, 0.0)]), most),
        ("after 10 runs", Series::of(&[(11, 0.0)]), most),
        ("after 30 runs", Series::of(&[(31, 0.0)]), most),
        ("after 100 runs", Series::of(&[(101, 0.0)]), most),
        (
            "after 30 runs, those that follow each other alike by 0.3",
            alike,
            Bar::None,
        ),
        (
            "after 20 runs and a change 10 runs ago",
            Series::of(&[(20, -6.0), (11, 0.0)]),
            most,
        ),
        (
            "after 30 runs of which 1 in 20 is odd, itself odd or not",
            odd(&[(31, 0.0)]),
            Bar::None,
        ),
    ];
    // Rare things take many series.
    let count = 10 * count;
    rows.map(|(name, series, bar)| {
        let figure = share(count, |seed| fails(&series.judged(1, seed)));
        let name = format!("history: a run of the same fails, {name}");
        Row::new(name, count, figure, bar)
    })
    .to_vec()
}

/// Changes that last.
fn steps(count: u32) -> Vec<Row> {
    const LESS: Series<'static> = Series::of(&[(20, 0.0), (3, 4.0)]);
    const FIVE: Series<'static> = Series::of(&[(20, 0.0), (5, 5.0)]);
    let judged = |series: &Series<'_>, last: usize, of: usize| {
        share(count, |seed| fails(&series.judged(last, seed)[..of]))
    };
    let row = |name: &str, figure: f64, least: f64| {
        let name = format!("history: a step after 20 runs, {name}");
        Row::new(name, count, figure, Bar::AtLeast(least))
    };
    let placed = share(count, |seed| {
        let found = changes(&FIVE.runs(seed));
        found.len() == 1 && (19..=21).contains(&found[0])
    });
    vec![
        row(
            "of 5 standard deviations, fails at once",
            judged(&FIVE, 5, 1),
            0.95,
        ),
        row(
            "of 4 standard deviations, fails within 3 runs",
            judged(&LESS, 3, 3),
            0.9,
        ),
        row(
            "of 5 standard deviations, placed after 5 runs, give or take one",
            placed,
            0.9,
        ),
    ]
}

/// Too few runs to tell.
fn few(count: u32) -> Vec<Row> {
    let series = Series::of(&[(5, 0.0)]);
    let back = Series::of(&[(20, 0.0), (4, 8.0), (1, 40.0)]);
    let row = |name: &str, figure: f64, least: f64| {
        let name = format!("history: cannot tell, {name}");
        Row::new(name, count, figure, Bar::AtLeast(least))
    };
    vec![
        row(
            "any of the first 5 runs",
            share(count, |seed| cannot_tell(&series.judged(5, seed))),
            1.0,
        ),
        row(
            "4 runs after a step of 8 standard deviations",
            share(count, |seed| cannot_tell(&back.judged(1, seed))),
            0.95,
        ),
    ]
}

#[test]
fn regressions_keep_their_promises_on_few_series() {
    check(&rows(100));
}

#[test]
#[ignore = "in release mode, by the bench of statistics"]
fn statistics_history() {
    rows(full_count()).iter().for_each(Row::print);
}
