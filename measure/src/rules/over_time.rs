//! What each tool's rates divide by.

use super::Tool;
use super::seen::Seen;
use crate::request::RequestRecord;
use crate::units::Nanos;

/// guidellm takes events so close together for one.
const TOGETHER: f64 = 1e5;
/// And gives its last event at least so much time.
const LEAST: f64 = 1e3;

/// Per second.
pub(super) struct Rates {
    pub requests: Option<f64>,
    pub tokens: Option<f64>,
}

pub(super) fn rates(
    tool: Tool,
    records: &[RequestRecord],
    seen: &[Seen<'_>],
    began: Nanos,
) -> Rates {
    let requests = seen.len() as f64;
    let tokens: f64 = seen.iter().filter_map(|it| it.n).map(f64::from).sum();
    match tool {
        Tool::Guidellm => {
            let span = (began, ended(records));
            let ends = seen.iter().map(|it| it.end.0 as f64).collect();
            let of_tokens = seen.iter().flat_map(token_times).collect();
            Rates {
                requests: Some(requests / window(ends, span)),
                tokens: Some(tokens / window(of_tokens, span)),
            }
        }
        _ => {
            let over = duration(tool, records, seen, began).map(Nanos::as_secs_f64);
            let over = over.filter(|seconds| 0.0 < *seconds);
            // The last query is the end of the span that counts, and none of its queries.
            let counted = if tool == Tool::Mlperf {
                requests - 1.0
            } else {
                requests
            };
            Rates {
                requests: over.map(|seconds| counted / seconds),
                tokens: over.map(|seconds| tokens / seconds),
            }
        }
    }
}

/// What rates divide by, where that is one span for all of them.
pub(super) fn duration(
    tool: Tool,
    records: &[RequestRecord],
    seen: &[Seen<'_>],
    began: Nanos,
) -> Option<Nanos> {
    let scheduled = records.iter().map(|record| record.scheduled);
    Some(match tool {
        // From before the schedule's first gap.
        Tool::Vllm | Tool::Guidellm => ended(records).since(began),
        // Its first request leaves at once.
        Tool::Sglang => ended(records).since(scheduled.min()?),
        // From the first success to the last.
        Tool::Aiperf => {
            let last = seen.iter().map(|it| it.end).max()?;
            last.since(seen.iter().map(|it| it.start).min()?)
        }
        // To the answer of the query that was last to be due, whichever was last to be answered.
        Tool::Mlperf => {
            let final_query = seen.iter().max_by_key(|it| it.start)?;
            final_query.end.since(scheduled.min()?)
        }
    })
}

/// The end of the last request, however it ended.
pub(super) fn ended(records: &[RequestRecord]) -> Nanos {
    let ends = records
        .iter()
        .filter_map(|record| record.end.or(record.sent));
    ends.max().unwrap_or_default()
}

/// Seconds over which guidellm spreads events, so that its mean rate is their number over it: from the beginning to the
/// last group of events.
pub(super) fn window(mut times: Vec<f64>, (began, ended): (Nanos, Nanos)) -> f64 {
    let (began, ended) = (began.0 as f64, ended.0 as f64);
    times.extend([began, ended]);
    times.retain(|at| (began..=ended).contains(at));
    times.sort_unstable_by(f64::total_cmp);
    // A group begins with the first event that lies too far from the beginning of the one before.
    let (mut before, mut last) = (began, began);
    for at in times {
        if TOGETHER < at - last {
            (before, last) = (last, at);
        }
    }
    if last == began {
        // Nothing to spread over: its mean is nothing.
        return f64::INFINITY;
    }
    let middle = (before + last) / 2.0;
    (middle - began + (last - middle).max(LEAST)) / 1e9
}

/// When guidellm has the tokens come: the first and the last as seen, everything between evenly.
fn token_times(it: &Seen<'_>) -> Vec<f64> {
    let events = it.record.chunks.len();
    let (first, last) = (it.first.0 as f64, it.last.0 as f64);
    match (events, it.n) {
        (0 | 1, _) => vec![last],
        (_, None | Some(0 | 1)) => vec![first],
        (events, Some(_)) => {
            let step = (last - first) / (events - 1) as f64;
            (0..events)
                .map(|place| first + step * place as f64)
                .collect()
        }
    }
}
