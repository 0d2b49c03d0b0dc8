//! A point under the rules of other tools: the same requests, each figure as that tool would have computed it.
//!
//! The studio's own rules (docs/metrics.md) are the default and are always named. What a tool prints differs from them in
//! where its clock starts and ends, what it divides by, what it leaves out, and how it picks a percentile; [`differences`]
//! says which. Tests hold every figure to the tools' own functions (tests/data/rules).

use std::fmt;
use std::str::FromStr;

use crate::request::RequestRecord;
use crate::slo::Slo;
use crate::units::Nanos;

mod differences; // what they say beside what we say, and why
mod good; // which requests keep a promise
mod over_time; // what a rate divides by
mod percentile; // of values that may weigh differently
mod reasons; // why they differ
mod seen; // one request as a tool sees it

pub use differences::{Figures, Row, Table, differences};

use percentile::Values;
use seen::Seen;

/// What holds of every figure by another tool's rules.
pub const NOTE: &str = "Rules are changed, not eyes: moments are those at which this client read the bytes, where its own figures go by the kernel's. Another client adds delays of its own";

/// Another tool that makes load on serving engines and says how fast they were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// `vllm bench serve`.
    Vllm,
    /// SGLang's `bench_serving`.
    Sglang,
    /// guidellm.
    Guidellm,
    /// NVIDIA's aiperf.
    Aiperf,
    /// MLPerf's LoadGen, scenario Server with token latencies.
    Mlperf,
}

impl Tool {
    /// Every tool, in the order in which tables list them.
    pub const ALL: [Self; 5] = [
        Self::Vllm,
        Self::Sglang,
        Self::Guidellm,
        Self::Aiperf,
        Self::Mlperf,
    ];

    /// As it is typed and stands in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vllm => "vllm",
            Self::Sglang => "sglang",
            Self::Guidellm => "guidellm",
            Self::Aiperf => "aiperf",
            Self::Mlperf => "mlperf",
        }
    }

    /// What it is called, and in which version its rules are these.
    pub fn title(self) -> &'static str {
        match self {
            Self::Vllm => "vllm bench serve 0.32",
            Self::Sglang => "SGLang bench_serving 0.5.23",
            Self::Guidellm => "guidellm 0.8.1",
            Self::Aiperf => "aiperf 0.13",
            Self::Mlperf => "MLPerf LoadGen 6.0, Server",
        }
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Not the name of a tool whose rules are known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be vllm, sglang, guidellm, aiperf or mlperf, got {0:?}")]
pub struct UnknownTool(String);

impl FromStr for Tool {
    type Err = UnknownTool;
    fn from_str(text: &str) -> Result<Self, UnknownTool> {
        let named = Self::ALL.into_iter().find(|tool| tool.name() == text);
        named.ok_or_else(|| UnknownTool(text.to_owned()))
    }
}

/// p50, p95 and p99 in milliseconds; `None` where the tool has no value (some print a zero then).
pub type Percentiles = [Option<f64>; 3];

/// What a tool says of a point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Requests that are successes in its eyes.
    pub completed: u32,
    /// Those that are not.
    pub failed: u32,
    /// Its request throughput.
    pub requests_per_s: Option<f64>,
    /// Its output throughput.
    pub output_tokens_per_s: Option<f64>,
    /// Its goodput in requests, where it has one and its bounds can say what was promised.
    pub good_requests_per_s: Option<f64>,
    /// Its share of good requests, 0 to 1.
    pub attainment: Option<f64>,
    /// Its time to first token.
    pub ttft: Percentiles,
    /// Its time per output token.
    pub tpot: Percentiles,
    /// Its inter-token latency.
    pub itl: Percentiles,
    /// Its request latency.
    pub e2e: Percentiles,
}

/// A point's records (warm-up left out, in any order) as a tool reads them.
///
/// `began` is when the measurement began: zero for a whole point, the window's beginning for a part of it.
pub fn read(tool: Tool, records: &[RequestRecord], slo: Option<&Slo>, began: Nanos) -> Reading {
    let seen: Vec<Seen<'_>> = records
        .iter()
        .filter_map(|record| Seen::of(tool, record))
        .collect();
    let rates = over_time::rates(tool, records, &seen, began);
    let good = slo.and_then(|slo| good::good(tool, records, &seen, slo, began));
    let percentiles = |of: &dyn Fn(&Seen<'_>, &mut Values)| {
        let mut values = Values::default();
        seen.iter().for_each(|it| of(it, &mut values));
        values.percentiles(tool)
    };
    Reading {
        completed: seen.len() as u32,
        failed: (records.len() - seen.len()) as u32,
        requests_per_s: rates.requests,
        output_tokens_per_s: rates.tokens,
        good_requests_per_s: good.and_then(|good| good.per_s),
        attainment: good.and_then(|good| good.share),
        ttft: percentiles(&|it, values| values.push(it.ttft(), 1)),
        tpot: percentiles(&|it, values| it.tpot(values)),
        itl: percentiles(&|it, values| it.itl(values)),
        e2e: percentiles(&|it, values| values.push(it.e2e(), 1)),
    }
}

#[cfg(test)]
mod tests;
