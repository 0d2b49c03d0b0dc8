//! What the adaptive sweep is held to: on queues whose ceiling is known, how often its interval holds it, how wide it is,
//! and how often a resolved answer misses.
//!
//! The truth is that of the finite run: the share of good requests after the warm-up, from many long replications, crossed
//! with the target by halving. The long-run formulas (M/M/c, M/D/1) check it.

use crate::curve::Ceiling;
use crate::quantile::{percentile_linear, worst_time};
use crate::sampling::derive;

use super::queue::{Queue, Service};
use super::{Evidence, Next, Probe, Probed, Search, Stop};

/// One line of a table of bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What is counted.
    pub name: String,
    /// Over how many simulated searches.
    pub count: u32,
    /// What was found.
    pub figure: f64,
    /// What it is held to; `None` for what is only told.
    pub bar: Option<Bar>,
}

/// A limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bar {
    /// At least this.
    AtLeast(f64),
    /// At most this.
    AtMost(f64),
}

impl Row {
    /// One line of the table: `statistics | name | count | figure | bar | kept`.
    pub fn line(&self) -> String {
        let Self {
            name,
            count,
            figure,
            ..
        } = self;
        let bar = match self.bar {
            Some(Bar::AtLeast(least)) => format!("at least {least}"),
            Some(Bar::AtMost(most)) => format!("at most {most}"),
            None => "none".to_owned(),
        };
        let kept = if self.passes() { "kept" } else { "missed" };
        format!("statistics | {name} | {count} | {figure:.4} | {bar} | {kept}")
    }

    /// Whether the figure keeps its bar.
    pub fn passes(&self) -> bool {
        match self.bar {
            Some(Bar::AtLeast(least)) => least <= self.figure,
            Some(Bar::AtMost(most)) => self.figure <= most,
            None => true,
        }
    }
}

/// The queues: one slow server with a long bound, several, many, and one of constant pace.
pub const QUEUES: [Queue; 4] = [
    queue("M/M/1", 1, Service::Exponential, 8.0),
    queue("M/M/8", 8, Service::Exponential, 1.0),
    queue("M/M/32", 32, Service::Exponential, 0.5),
    queue("M/D/1", 1, Service::Constant, 4.0),
];

const fn queue(name: &'static str, servers: u32, service: Service, bound: f64) -> Queue {
    Queue {
        name,
        servers,
        service,
        bound,
        target: 0.95,
    }
}

/// Requests that warm a queue up before each probe.
pub const WARMUP: u32 = 500;
/// Requests of a replication for the truth: a middling probe.
const HORIZON: u32 = 16_000;
/// Probes, at most.
pub const PROBES: u32 = 15;

/// How much a search may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Requests that the budget is worth at the ceiling.
    pub requests: f64,
    /// Most requests of one rate.
    pub most: u32,
}

/// The full effort, at which the bars hold.
pub const FULL: Effort = Effort {
    requests: 300_000.0,
    most: 64_000,
};

/// The bars at so many seeds for each queue, at full effort.
pub fn rows(seeds: u32) -> Vec<Row> {
    let mut rows = Vec::new();
    for queue in QUEUES {
        let truth = truth(&queue, 200);
        if let Some(formula) = long_run(&queue) {
            let name = format!("{}: finite run's ceiling beside the formula's", queue.name);
            rows.push(row(
                name,
                200,
                (truth / formula - 1.0).abs(),
                Some(Bar::AtMost(0.01)),
            ));
        }
        rows.extend(Tally::of(&queue, truth, FULL, seeds).rows(queue.name));
    }
    rows
}

fn row(name: String, count: u32, figure: f64, bar: Option<Bar>) -> Row {
    Row {
        name,
        count,
        figure,
        bar,
    }
}

/// The ceiling of finite runs, by halving, on so many replications with the same draws at each rate.
pub fn truth(queue: &Queue, replications: u32) -> f64 {
    let seeds = || (0..replications).map(|it| derive(7, &[u64::from(it)]));
    halve(queue, |rate| {
        let good: usize = seeds()
            .map(|seed| {
                let waits = queue.run(rate, (WARMUP, HORIZON), seed);
                waits.iter().filter(|wait| **wait <= 1.0).count()
            })
            .sum();
        good as f64 / f64::from(HORIZON) / f64::from(replications)
    })
}

/// The ceiling in the long run, by formula; `None` where there is none.
pub fn long_run(queue: &Queue) -> Option<f64> {
    queue.in_the_long_run(0.5)?;
    Some(halve(queue, |rate| {
        queue.in_the_long_run(rate).unwrap_or(0.0)
    }))
}

fn halve(queue: &Queue, share: impl Fn(f64) -> f64) -> f64 {
    let (mut lo, mut hi) = (0.0, f64::from(queue.servers));
    for _ in 0..16 {
        let middle = (lo + hi) / 2.0;
        if queue.target <= share(middle) {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    (lo + hi) / 2.0
}

/// What became of many searches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Searches.
    pub searches: u32,
    /// Whose interval holds the truth, one-sided ones included.
    pub covered: u32,
    /// That gave a bracket.
    pub resolved: u32,
    /// Brackets that miss the truth.
    pub missed: u32,
    /// Relative widths; infinite without a bracket.
    pub widths: Vec<f64>,
    /// Probes of each.
    pub probes: Vec<f64>,
    /// Requests of each.
    pub requests: Vec<f64>,
}

impl Tally {
    /// Searches with the seeds from 0.
    pub fn of(queue: &Queue, truth: f64, effort: Effort, seeds: u32) -> Self {
        let mut tally = Self::default();
        for seed in 0..u64::from(seeds) {
            // The limits lie anew for each seed, so that no rate is always hit.
            let shift = 4f64.powf(crate::sampling::Draws::new(derive(seed, &[99])).uniform());
            let search = search(queue, truth, shift, effort);
            let (probed, _) = drive(&search, queue, seed);
            tally.take(&search, &probed, truth);
        }
        tally
    }

    fn take(&mut self, search: &Search, probed: &[Probed], truth: f64) {
        let ceiling = search.ceiling(probed);
        let holds = ceiling
            .interval()
            .is_some_and(|(lo, hi)| lo <= truth && truth <= hi);
        let resolved = matches!(ceiling, Ceiling::Bracket { .. });
        self.searches += 1;
        self.covered += u32::from(holds);
        self.resolved += u32::from(resolved);
        self.missed += u32::from(resolved && !holds);
        self.widths
            .push(ceiling.relative_width().unwrap_or(f64::INFINITY));
        self.probes.push(probed.len() as f64);
        let requests = probed
            .iter()
            .map(|probe| f64::from(probe.evidence.scheduled));
        self.requests.push(requests.sum());
    }

    fn rows(&self, queue: &str) -> Vec<Row> {
        let share = |part: u32, of: u32| f64::from(part) / f64::from(of.max(1));
        let named = |what: &str| format!("{queue}: {what}");
        let covered = share(self.covered, self.searches);
        let missed = share(self.missed, self.resolved);
        let (at_least, at_most) = (Bar::AtLeast, |most| Some(Bar::AtMost(most)));
        let all = self.searches;
        vec![
            row(
                named("ceiling's interval holds the truth"),
                all,
                covered,
                Some(at_least(0.93)),
            ),
            row(
                named("resolved ceilings that miss"),
                self.resolved,
                missed,
                at_most(0.07),
            ),
            row(
                named("median relative width"),
                all,
                median(&self.widths),
                at_most(0.15),
            ),
            row(
                named("most probes"),
                all,
                most(&self.probes),
                at_most(f64::from(PROBES)),
            ),
            row(named("median requests"), all, median(&self.requests), None),
        ]
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    percentile_linear(&sorted, 50.0).unwrap_or(f64::INFINITY)
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// The search for a queue's ceiling between limits of a hundredfold.
pub fn search(queue: &Queue, truth: f64, shift: f64, effort: Effort) -> Search {
    Search {
        from: truth / 20.0 * shift,
        to: truth * 5.0 * shift,
        seconds: effort.requests / truth,
        width: 0.14,
        target: queue.target,
        least: 200,
        most: effort.most,
        probes: PROBES,
        per_arrival: 1.0,
        beside: 0.0,
    }
}

/// A search on a queue: each probe is a run from empty, warmed up.
pub fn drive(search: &Search, queue: &Queue, seed: u64) -> (Vec<Probed>, Stop) {
    let mut probed = Vec::new();
    loop {
        match search.next(&probed) {
            Next::Stop(stop) => return (probed, stop),
            Next::Probe(probe) => probed.push(measured(search, queue, probe, seed)),
        }
    }
}

fn measured(search: &Search, queue: &Queue, probe: Probe, seed: u64) -> Probed {
    let place = [u64::from(probe.level), u64::from(probe.repeat)];
    let strains = queue.run(probe.rate, (WARMUP, probe.requests), derive(seed, &place));
    Probed {
        rate: probe.rate,
        offered: probe.rate,
        evidence: evidence(&strains),
        above: false,
        void: false,
        seconds: search.lasts(probe.requests, probe.rate),
    }
}

/// Waits over their bound as evidence: worth what the judge of a point would say (the margin there is the wait over itself
/// and the bound).
fn evidence(strains: &[f64]) -> Evidence {
    let margins: Vec<f64> = strains.iter().map(|it| it / (1.0 + it)).collect();
    let good = strains.iter().filter(|it| **it <= 1.0).count();
    let time = worst_time(&margins, strains.len() - good);
    Evidence {
        scheduled: strains.len() as u32,
        good: good as u32,
        effective: strains.len() as f64 / time,
    }
}
