//! Which requests keep a promise, in each tool's eyes.

use super::Tool;
use super::over_time::{duration, ended, window};
use super::seen::Seen;
use crate::request::{ErrorKind, Outcome, RequestRecord};
use crate::slo::{Metric, Slo};
use crate::units::Nanos;

#[derive(Clone, Copy)]
pub(super) struct Good {
    pub per_s: Option<f64>,
    pub share: Option<f64>,
}

/// Thresholds in nanoseconds.
struct Limits {
    ttft: Option<f64>,
    tpot: Option<f64>,
    e2e: Option<f64>,
}

impl Limits {
    /// `None` where the SLO bounds what the tools cannot, or nothing.
    fn of(slo: &Slo) -> Option<Self> {
        let mut limits = Self {
            ttft: None,
            tpot: None,
            e2e: None,
        };
        for bound in &slo.bounds {
            let limit = match bound.metric {
                Metric::Ttft => &mut limits.ttft,
                Metric::Tpot => &mut limits.tpot,
                Metric::E2e => &mut limits.e2e,
                Metric::Ttfa
                | Metric::ScheduledTtft
                | Metric::ScheduledTtfa
                | Metric::ScheduledE2e
                | Metric::Itl
                | Metric::Stall => return None,
            };
            *limit = Some(bound.at_most.0 as f64);
        }
        (!slo.bounds.is_empty()).then_some(limits)
    }

    /// Whether a request keeps them; `None` where that is not decided.
    fn are_kept(&self, it: &Seen<'_>) -> Option<bool> {
        let within = |limit: Option<f64>, value: f64| limit.is_none_or(|limit| value <= limit);
        let others = within(self.ttft, it.ttft()) && within(self.e2e, it.e2e());
        match (it.pace(), it.tool) {
            _ if self.tpot.is_none() => Some(others),
            (Some(pace), _) => Some(others && within(self.tpot, pace)),
            (None, Tool::Guidellm) => None,
            // Without a pace it fails aiperf's bound, and keeps vLLM's and SGLang's as if it were nothing.
            (None, tool) => Some(others && tool != Tool::Aiperf),
        }
    }
}

/// `None` for MLPerf, which has a verdict on the whole run instead, and where the SLO cannot be said to the tool.
pub(super) fn good(
    tool: Tool,
    records: &[RequestRecord],
    seen: &[Seen<'_>],
    slo: &Slo,
    began: Nanos,
) -> Option<Good> {
    let limits = Limits::of(slo).filter(|_| tool != Tool::Mlperf)?;
    let verdicts = || seen.iter().map(|it| (it, limits.are_kept(it)));
    let good = || verdicts().filter(|(_, kept)| *kept == Some(true));
    let count = good().count() as f64;
    let per_s = match tool {
        Tool::Guidellm => {
            let ends = good().map(|(it, _)| it.end.0 as f64).collect();
            Some(count / window(ends, (began, ended(records))))
        }
        _ => {
            let over = duration(tool, records, seen, began).map(Nanos::as_secs_f64);
            over.filter(|seconds| 0.0 < *seconds)
                .map(|seconds| count / seconds)
        }
    };
    let of = match tool {
        Tool::Vllm | Tool::Mlperf => 0,
        Tool::Sglang | Tool::Aiperf => records.len(),
        // What is not decided counts nowhere, and neither does what the client gave up.
        Tool::Guidellm => {
            let decided = verdicts().filter(|(_, kept)| kept.is_some()).count();
            let given_up = records.iter().filter(|it| is_given_up(it)).count();
            decided + records.len() - seen.len() - given_up
        }
    };
    Some(Good {
        per_s,
        share: (0 < of).then(|| count / of as f64),
    })
}

fn is_given_up(record: &RequestRecord) -> bool {
    record.outcome == Outcome::Error(ErrorKind::Cancelled)
}
