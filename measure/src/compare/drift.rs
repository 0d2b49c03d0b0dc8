//! Did the machine drift? The baseline's own two halves tell, where it ran more than once.

use serde::{Deserialize, Serialize};

use crate::slo::Metric;

use super::along::weighted;
use super::noise::unrest;
use super::sessions::{Session, Sides};
use super::together::Scale;
use super::{Difference, LevelRuns, Measured, Run, Verdict, latency};

/// The metrics whose medians are looked at; both together are wrong about a steady machine in 1 of 100 studies.
const WATCHED: [Metric; 2] = [Metric::Ttft, Metric::Tpot];
/// The normal deviate of 0.5 % on both sides together.
const SURE: f64 = 2.807_033_768_343_811;

/// What the baseline's second half was against its first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum Drift {
    /// Nobody can tell: the baseline ran but once at each level, or too little of it can be compared.
    Unknown {
        /// It ran more than once at some level.
        #[serde(default)]
        repeated: bool,
    },
    /// The halves do not differ as far as can be seen.
    Steady {
        /// The smallest change of any median that could have been seen.
        smallest_seen: f64,
        /// Median by median.
        #[serde(default)]
        watched: Vec<Watched>,
    },
    /// No trend, but runs of one and the same configuration differ beyond what their requests explain.
    Restless {
        /// By how much a side's halves differ, as a root mean square over levels.
        deviation: f64,
    },
    /// The halves differ.
    Drifted {
        /// The metric whose median changed most surely.
        metric: Metric,
        /// By how much, second half over first - 1.
        change: Difference,
    },
}

/// A median that drift is looked for in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Watched {
    /// Of this metric.
    pub metric: Metric,
    /// The smallest change of it that could have been seen, as a share; `None` where it could not be judged: too few requests, or such
    /// as hang together too long.
    pub smallest_seen: Option<f64>,
}

impl Drift {
    /// How much further apart than touching two ceilings must lie to be told apart: a study's ends are twice as far apart as
    /// the middles of its halves.
    pub fn apart(&self) -> f64 {
        match self {
            Self::Drifted { change, .. } => 2.0 * change.relative.abs(),
            Self::Restless { deviation } => 2.0 * deviation,
            Self::Unknown { .. } | Self::Steady { .. } => 0.0,
        }
    }
}

/// What became of medians from the first half of a side's runs to the second.
pub(super) struct Halves {
    /// Of the baseline, over all levels.
    found: Vec<(Metric, Measured)>,
    /// Whether it ran more than once at some level.
    repeated: bool,
    /// By how much runs of one and the same configuration differ, where that is beyond what their requests explain.
    unrest: Option<f64>,
}

impl Halves {
    /// Halves by when runs started; of an odd number the middle one is left out.
    pub fn of(levels: &[LevelRuns<'_>]) -> Self {
        let mut halves = Self {
            found: Vec::new(),
            repeated: levels.iter().any(|it| 1 < it.baseline.len()),
            unrest: None,
        };
        for metric in WATCHED {
            let mut both = changes(levels, metric, |level| &level.baseline);
            halves
                .found
                .extend(weighted(&both).map(|all| (metric, all)));
            both.extend(changes(levels, metric, |level| &level.candidate));
            let both = [halves.unrest, unrest(&both)];
            halves.unrest = both.into_iter().flatten().reduce(f64::max);
        }
        halves
    }

    /// What can be said of it.
    pub fn drift(&self) -> Drift {
        let surest = self
            .found
            .iter()
            .max_by(|(_, a), (_, b)| a.sureness().total_cmp(&b.sureness()));
        let Some((metric, change)) = surest else {
            let repeated = self.repeated;
            return Drift::Unknown { repeated };
        };
        let (difference, verdict) = change.judged(Scale::Latency, SURE);
        match verdict {
            Verdict::Better | Verdict::Worse => Drift::Drifted {
                metric: *metric,
                change: difference,
            },
            _ => self
                .unrest
                .map_or_else(|| self.steady(), |deviation| Drift::Restless { deviation }),
        }
    }

    /// Whether runs of one side differ beyond what their requests explain.
    pub fn is_restless(&self) -> bool {
        self.unrest.is_some()
    }

    /// The finest of the metrics, and each of them: one that could not be judged may have changed by anything.
    fn steady(&self) -> Drift {
        let watched = WATCHED.map(|metric| {
            let change = self.found.iter().find(|(of, _)| *of == metric);
            let smallest = |(_, change): &(Metric, Measured)| change.smallest(Scale::Latency, SURE);
            Watched {
                metric,
                smallest_seen: change.map(smallest),
            }
        });
        let seen = watched.iter().filter_map(|it| it.smallest_seen);
        Drift::Steady {
            smallest_seen: seen.fold(f64::INFINITY, f64::min),
            watched: watched.to_vec(),
        }
    }

    /// How much of a difference a steady drift of the size seen would make, given when the two sides ran: nothing where each
    /// ran as early as the other, as in A B B A. As a logarithm.
    pub fn bias(&self, level: &LevelRuns<'_>, metric: Metric) -> f64 {
        let change = self.found.iter().find(|(of, _)| *of == metric);
        let Some((_, change)) = change.filter(|(_, change)| SURE < change.sureness()) else {
            return 0.0;
        };
        let Some((first, second)) = halves(&level.baseline) else {
            return 0.0;
        };
        let apart = middle(&second) - middle(&first);
        let late = middle(&by_start(&level.candidate)) - middle(&by_start(&level.baseline));
        if apart <= 0.0 {
            return 0.0;
        }
        change.value.abs() * (late / apart).abs()
    }
}

type Side = for<'r, 'a> fn(&'r LevelRuns<'a>) -> &'r [Run<'a>];

/// One side's change at each level.
fn changes(levels: &[LevelRuns<'_>], metric: Metric, side: Side) -> Vec<Measured> {
    levels
        .iter()
        .filter(|level| level.no_latencies.is_none() && level.nothing.is_none())
        .filter_map(|level| change(side(level), metric))
        .collect()
}

fn change(runs: &[Run<'_>], metric: Metric) -> Option<Measured> {
    let (first, second) = halves(runs)?;
    latency::of_halves(sessions(&first), sessions(&second), metric, SURE).ok()
}

fn sessions<'a>(runs: &[&Run<'a>]) -> Vec<Vec<Session<'a>>> {
    runs.iter().map(|run| Sides::in_order(run)).collect()
}

type Half<'r, 'a> = Vec<&'r Run<'a>>;

fn halves<'r, 'a>(runs: &'r [Run<'a>]) -> Option<(Half<'r, 'a>, Half<'r, 'a>)> {
    let mut runs = by_start(runs);
    let half = runs.len() / 2;
    let second = runs.split_off(runs.len() - half);
    runs.truncate(half);
    (0 < half).then_some((runs, second))
}

fn by_start<'r, 'a>(runs: &'r [Run<'a>]) -> Half<'r, 'a> {
    let mut runs: Half<'r, 'a> = runs.iter().collect();
    runs.sort_by_key(|run| run.started_ms);
    runs
}

/// When runs started in the middle, in milliseconds after the first of all clocks.
fn middle(runs: &[&Run<'_>]) -> f64 {
    let sum: f64 = runs.iter().map(|run| run.started_ms as f64).sum();
    sum / runs.len().max(1) as f64
}
