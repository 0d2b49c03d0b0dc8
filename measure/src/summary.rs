//! Turns a list of finished requests into the numbers of one point on a curve.
//!
//! A [`Summary`] never looks at a clock and never drops a request: failures are counted, late sends are
//! counted, and every percentile carries the number of samples behind it. How a point is *judged* against a
//! promise is the business of [`crate::slo`].

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::fidelity;
use crate::quantile::{Distribution, FAILED, Pool, Sample};
use crate::request::{ErrorKind, Outcome, RequestRecord};
use crate::slo::{Metric, Ready};
use crate::units::Nanos;

mod capacity; // did the engine keep up
mod failures; // what went wrong first
mod per; // what it comes to for one user, one GPU
mod throughput; // how sure its rates are

pub use failures::FirstFailure;
pub use per::{gpus, tokens_per_user};
pub use throughput::Throughput;

/// Did the engine keep up with the arrivals?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    rename_all = "snake_case",
    tag = "state",
    try_from = "crate::wire::CapacityText"
)]
pub enum Capacity {
    /// Nothing speaks against it.
    Within,
    /// Latencies grow with the length of the run: no value, only a direction. `why` is for people.
    Above {
        /// The evidence, in one sentence.
        why: String,
    },
    /// Not an open-loop point, or too few requests.
    Unknown,
}

/// The numbers of one point. Rates are per second; `None` where a duration is zero or nothing is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// D: first scheduled request to the end of the last one.
    pub duration: Nanos,
    /// Requests in the schedule.
    pub scheduled: u32,
    /// Requests handed to a connection.
    pub sent: u32,
    /// Requests that succeeded.
    pub completed: u32,
    /// Requests that did not.
    pub failed: u32,
    /// Failures by kind.
    pub failures: BTreeMap<ErrorKind, u32>,
    /// The first failure of each kind, in order of arrival.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub first_failures: BTreeMap<ErrorKind, FirstFailure>,
    /// Sessions in the schedule.
    pub sessions: u32,
    /// Arrivals of the realised schedule over its length: sessions/s for sessions, requests/s else.
    pub offered_rate: Option<f64>,
    /// The same of what was really sent.
    pub sent_rate: Option<f64>,
    /// Requests completed / D.
    pub completed_per_s: Option<f64>,
    /// Output tokens counted (of every request whose count is known).
    pub output_tokens: u64,
    /// Requests that completed without a known count.
    pub output_unknown: u32,
    /// Input tokens, as the engine counted them where it did, else as planned.
    pub input_tokens: u64,
    /// Input tokens that came from the engine's prefix cache, where it says so.
    pub cached_tokens: Option<u64>,
    /// Output throughput.
    pub output_tokens_per_s: Option<f64>,
    /// Prefill throughput.
    pub input_tokens_per_s: Option<f64>,
    /// Most requests in flight at one time (intervals half open).
    pub max_in_flight: u32,
    /// Tokens per token-bearing event; above 1, ITL is a chunk gap and must be labelled so.
    pub tokens_per_chunk: Option<f64>,
    /// Time to first token.
    pub ttft: Distribution,
    /// Time to first answer token.
    pub ttfa: Distribution,
    /// First token - scheduled.
    pub scheduled_ttft: Distribution,
    /// First answer token - scheduled. Empty in points that were stored before it was kept: see [`Summary::is_from_before`].
    #[serde(default)]
    pub scheduled_ttfa: Distribution,
    /// End - scheduled. Empty in points that were stored before it was kept.
    #[serde(default)]
    pub scheduled_e2e: Distribution,
    /// Time per output token.
    pub tpot: Distribution,
    /// Gaps pooled over requests.
    pub itl: Distribution,
    /// Longest gap within a request.
    pub stall: Distribution,
    /// End to end.
    pub e2e: Distribution,
    /// Whether the engine kept up.
    pub capacity: Capacity,
    /// What the engine did otherwise than asked, a sentence each: see [`crate::fidelity`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

impl Summary {
    /// The distribution of a metric.
    pub fn of(&self, metric: Metric) -> &Distribution {
        match metric {
            Metric::Ttft => &self.ttft,
            Metric::Ttfa => &self.ttfa,
            Metric::ScheduledTtft => &self.scheduled_ttft,
            Metric::ScheduledTtfa => &self.scheduled_ttfa,
            Metric::ScheduledE2e => &self.scheduled_e2e,
            Metric::Tpot => &self.tpot,
            Metric::Itl => &self.itl,
            Metric::Stall => &self.stall,
            Metric::E2e => &self.e2e,
        }
    }

    /// Whether it was stored before TTFA and E2E were counted from the schedule as well.
    pub fn is_from_before(&self) -> bool {
        self.scheduled_e2e.count == 0 && 0 < self.e2e.count
    }

    /// As it was stored then.
    pub fn as_before(self) -> Self {
        Self {
            scheduled_ttfa: Distribution::default(),
            scheduled_e2e: Distribution::default(),
            ..self
        }
    }

    /// Adds what was not kept when it was stored, from the point's requests (with failures as infinity).
    pub fn completed_by(&mut self, requests: &Ready) {
        self.scheduled_ttfa = requests.distribution(Metric::ScheduledTtfa);
        self.scheduled_e2e = requests.distribution(Metric::ScheduledE2e);
    }
}

/// How failures stand in percentiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failures {
    /// As plus infinity (the default).
    AsInfinity,
    /// Left out: the named alternative.
    SuccessesOnly,
}

/// How the requests came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Discipline {
    /// Arrivals do not wait for the engine, and one process brings them all along.
    OpenLoop,
    /// Arrivals do not wait for the engine, but their rate changes over the point: a ramp, recorded traffic. Waits that grow
    /// are then no sign of a rate that is too high.
    Changing,
    /// Everything at the start.
    AllAtOnce,
    /// A fixed number of streams.
    ClosedLoop,
}

/// The numbers of one point from its records (warm-up left out), in any order.
pub fn summarize(records: &[RequestRecord], discipline: Discipline, failures: Failures) -> Summary {
    let mut arrived: Vec<&RequestRecord> = records.iter().collect();
    arrived.sort_by_key(|record| record.scheduled);
    let waited = each(&arrived, RequestRecord::ttft);
    let of = |value: Value| {
        let values = each(&arrived, value);
        sample(&arrived, failures, (&values, &values)).distribution()
    };
    let beside_waits = |value: Value| {
        let values = each(&arrived, value);
        let waits = sample(&arrived, failures, (&values, &waited));
        let values = sample(&arrived, failures, (&values, &values));
        values.beside(waits).distribution()
    };
    let Counts {
        sent,
        completed,
        failures: by_kind,
    } = count(records);
    let tokens = tokens(records);
    let duration = duration(records);
    let per_second =
        |amount: f64| (duration != Nanos::ZERO).then(|| amount / duration.as_secs_f64());
    let (offered_rate, sent_rate) = rates(&arrived);
    Summary {
        duration,
        scheduled: records.len() as u32,
        sent,
        completed,
        failed: records.len() as u32 - completed,
        failures: by_kind,
        first_failures: first_failures(&arrived),
        sessions: arrived
            .iter()
            .map(|record| record.session)
            .collect::<BTreeSet<_>>()
            .len() as u32,
        offered_rate,
        sent_rate,
        completed_per_s: per_second(f64::from(completed)),
        output_tokens: tokens.output,
        output_unknown: tokens.output_unknown,
        input_tokens: tokens.input,
        cached_tokens: tokens.cached,
        // Where nobody counted, there is no throughput, rather than none.
        output_tokens_per_s: per_second(tokens.output as f64)
            .filter(|_| tokens.output_counted || tokens.output_unknown == 0),
        input_tokens_per_s: per_second(tokens.input as f64),
        max_in_flight: max_in_flight(records),
        tokens_per_chunk: tokens.per_chunk,
        ttft: of(RequestRecord::ttft),
        ttfa: of(RequestRecord::ttfa),
        scheduled_ttft: of(RequestRecord::scheduled_ttft),
        scheduled_ttfa: of(RequestRecord::scheduled_ttfa),
        scheduled_e2e: beside_waits(RequestRecord::scheduled_e2e),
        tpot: beside_waits(RequestRecord::tpot),
        itl: pooled_gaps(&arrived, failures),
        stall: beside_waits(RequestRecord::stall),
        e2e: beside_waits(RequestRecord::e2e),
        capacity: capacity::capacity(&arrived, discipline),
        remarks: fidelity::remarks(records),
    }
}

type Value = fn(&RequestRecord) -> Option<Nanos>;

/// The value of each request: some take a walk over all of its events.
fn each(arrived: &[&RequestRecord], value: Value) -> Vec<Option<Nanos>> {
    arrived.iter().map(|record| value(record)).collect()
}

/// One value for each request that has one of the first kind: its value of the second. A failed request is infinite or left
/// out.
fn sample(
    arrived: &[&RequestRecord],
    failures: Failures,
    (has, value): (&[Option<Nanos>], &[Option<Nanos>]),
) -> Sample {
    let both = has.iter().zip(value);
    let values = arrived.iter().zip(both);
    let values = values.filter_map(|(record, (has, value))| match (record.is_ok(), failures) {
        (true, _) => has.map(|_| value.unwrap_or_default().0 as f64),
        (false, Failures::AsInfinity) => Some(f64::INFINITY),
        (false, Failures::SuccessesOnly) => None,
    });
    Sample::new(values.collect())
}

/// Gaps pooled over requests; a failed request is one infinite gap, or left out.
fn pooled_gaps(arrived: &[&RequestRecord], failures: Failures) -> Distribution {
    let of = |place: usize, on: &mut dyn FnMut(u64)| {
        let record = arrived[place];
        match (record.is_ok(), failures) {
            (true, _) if record.is_single_burst() => {}
            (true, _) => record.gaps().for_each(|gap| on(gap.0)),
            (false, Failures::AsInfinity) => on(FAILED),
            (false, Failures::SuccessesOnly) => {}
        }
    };
    Pool::of(arrived.len(), of).distribution()
}

struct Counts {
    sent: u32,
    completed: u32,
    failures: BTreeMap<ErrorKind, u32>,
}

fn count(records: &[RequestRecord]) -> Counts {
    let mut counts = Counts {
        sent: 0,
        completed: 0,
        failures: BTreeMap::new(),
    };
    for record in records {
        counts.sent += u32::from(record.sent.is_some());
        match record.outcome {
            Outcome::Ok => counts.completed += 1,
            Outcome::Error(kind) => *counts.failures.entry(kind).or_default() += 1,
        }
    }
    counts
}

fn first_failures(arrived: &[&RequestRecord]) -> BTreeMap<ErrorKind, FirstFailure> {
    let mut first = BTreeMap::new();
    for (kind, failure) in arrived.iter().filter_map(|it| FirstFailure::of(it)) {
        first.entry(kind).or_insert(failure);
    }
    first
}

/// D: first scheduled request to the end of the last one.
fn duration(records: &[RequestRecord]) -> Nanos {
    let first = records.iter().map(|record| record.scheduled).min();
    let last = records
        .iter()
        .filter_map(|record| record.end.or(record.sent))
        .max();
    last.unwrap_or_default().since(first.unwrap_or_default())
}

/// Offered and sent arrivals per second: of n session starts, the n - 1 gaps over the time between first and last.
/// No rate where everything starts at once.
fn rates(arrived: &[&RequestRecord]) -> (Option<f64>, Option<f64>) {
    let starts = || arrived.iter().filter(|record| record.turn == 0);
    let offered = rate(starts().map(|record| record.scheduled));
    (
        offered,
        offered.and_then(|_| rate(starts().filter_map(|record| record.sent))),
    )
}

pub(crate) fn rate(instants: impl Iterator<Item = Nanos> + Clone) -> Option<f64> {
    let (first, last) = (instants.clone().min()?, instants.clone().max()?);
    let seconds = last.since(first).as_secs_f64();
    (0.0 < seconds).then(|| (instants.count() - 1) as f64 / seconds)
}

/// What went in and came out, in tokens.
struct Tokens {
    output: u64,
    output_counted: bool,
    output_unknown: u32,
    input: u64,
    cached: Option<u64>,
    per_chunk: Option<f64>,
}

fn tokens(records: &[RequestRecord]) -> Tokens {
    let known = || records.iter().filter_map(|record| record.output_tokens);
    let streamed = || {
        records
            .iter()
            .filter(|record| record.is_ok() && record.output_tokens.is_some())
    };
    let chunks: usize = streamed().map(|record| record.chunks.len()).sum();
    let in_chunks: u64 = streamed()
        .filter_map(|record| record.output_tokens)
        .map(u64::from)
        .sum();
    let cached = || records.iter().filter_map(|record| record.cached_tokens);
    Tokens {
        output: known().map(u64::from).sum(),
        output_counted: known().next().is_some(),
        output_unknown: records
            .iter()
            .filter(|record| record.is_ok() && record.output_tokens.is_none())
            .count() as u32,
        input: records
            .iter()
            .map(|record| u64::from(throughput::input(record)))
            .sum(),
        cached: cached().next().map(|_| cached().map(u64::from).sum()),
        per_chunk: (0 < chunks).then(|| in_chunks as f64 / chunks as f64),
    }
}

/// Most intervals [sent, end) that overlap.
fn max_in_flight(records: &[RequestRecord]) -> u32 {
    let intervals = || {
        records
            .iter()
            .filter_map(|record| Some((record.sent?, record.end?)))
    };
    // An end sorts before a start at the same instant: half open.
    let mut steps: Vec<(Nanos, i32)> = intervals()
        .flat_map(|(sent, end)| [(sent, 1), (end, -1)])
        .collect();
    steps.sort_unstable();
    let mut now = 0;
    steps
        .iter()
        .map(|(_, step)| {
            now += step;
            now
        })
        .max()
        .unwrap_or(0)
        .max(0) as u32
}

#[cfg(test)]
mod tests;
