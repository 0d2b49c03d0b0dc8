//! Turns a list of finished requests into the numbers of one point on a curve.
//!
//! A [`Summary`] never looks at a clock and never drops a request: failures are counted, late sends are
//! counted, and every percentile carries the number of samples behind it. How a point is *judged* against a
//! promise is the business of [`crate::slo`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::quantile::Distribution;
use crate::request::{ErrorKind, RequestRecord};
use crate::slo::Metric;
use crate::units::Nanos;

/// Did the engine keep up with the arrivals?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
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
}

impl Summary {
    /// The distribution of a metric.
    pub fn of(&self, metric: Metric) -> &Distribution {
        match metric {
            Metric::Ttft => &self.ttft,
            Metric::Ttfa => &self.ttfa,
            Metric::ScheduledTtft => &self.scheduled_ttft,
            Metric::Tpot => &self.tpot,
            Metric::Itl => &self.itl,
            Metric::Stall => &self.stall,
            Metric::E2e => &self.e2e,
        }
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
    /// Arrivals do not wait for the engine.
    OpenLoop,
    /// Everything at the start.
    AllAtOnce,
    /// A fixed number of streams.
    ClosedLoop,
}

/// The numbers of one point from its records (warm-up left out), in schedule order.
pub fn summarize(records: &[RequestRecord], discipline: Discipline, failures: Failures) -> Summary {
    let _ = (records, discipline, failures);
    todo!("measure helper")
}
