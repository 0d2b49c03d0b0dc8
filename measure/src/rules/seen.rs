//! One request as another tool sees it: whether it is a success, and its moments by that tool's clock.

use super::Tool;
use super::percentile::Values;
use crate::request::{ErrorKind, Outcome, RequestRecord};
use crate::units::Nanos;

/// A success in a tool's eyes.
pub(super) struct Seen<'a> {
    pub tool: Tool,
    pub record: &'a RequestRecord,
    /// Where its clock starts.
    pub start: Nanos,
    /// The first token.
    pub first: Nanos,
    /// The last event of its pace.
    pub last: Nanos,
    /// Where its clock ends.
    pub end: Nanos,
    /// Output tokens as it counts them.
    pub n: Option<u32>,
}

impl<'a> Seen<'a> {
    /// `None` where the tool has it for a failure.
    pub fn of(tool: Tool, record: &'a RequestRecord) -> Option<Self> {
        let start = start(tool, record)?;
        let chunks = &record.chunks;
        // SGLang takes a stream without a token for a success whose first token took no time.
        let empty =
            tool == Tool::Sglang && record.outcome == Outcome::Error(ErrorKind::EmptyStream);
        if !empty && (chunks.is_empty() || !is_success(tool, record.outcome)) {
            return None;
        }
        let first = chunks.first().map_or(start, |chunk| chunk.at);
        let last = chunks.last().map_or(start, |chunk| chunk.at);
        // Any event with choices moves vLLM's clock on, so that of the finish reason does.
        let last = match tool {
            Tool::Vllm => last.max(record.finish.unwrap_or(last)),
            _ => last,
        };
        let end = match tool {
            Tool::Vllm | Tool::Aiperf => last,
            Tool::Sglang | Tool::Guidellm | Tool::Mlperf => record.end.unwrap_or(last),
        };
        Some(Self {
            tool,
            record,
            start,
            first,
            last,
            end,
            n: tokens(tool, record),
        })
    }

    /// Nanoseconds.
    pub fn ttft(&self) -> f64 {
        self.first.since(self.start).0 as f64
    }

    /// Nanoseconds.
    pub fn e2e(&self) -> f64 {
        self.end.since(self.start).0 as f64
    }

    /// Time per output token after the first, in nanoseconds; `None` below two tokens.
    pub fn pace(&self) -> Option<f64> {
        let after_first = self.n.filter(|n| 2 <= *n)? - 1;
        let end = match self.tool {
            Tool::Guidellm => self.last,
            _ => self.end,
        };
        let decode = end.since(self.first).0;
        Some(match self.tool {
            // In whole nanoseconds.
            Tool::Mlperf => (decode / u64::from(after_first)) as f64,
            _ => decode as f64 / f64::from(after_first),
        })
    }

    /// What the tool calls time per output token. guidellm's has the first token in it and weighs by tokens.
    pub fn tpot(&self, values: &mut Values) {
        match (self.tool, self.n) {
            (Tool::Guidellm, Some(n)) if 0 < n => {
                let all = self.last.since(self.start).0 as f64;
                values.push(all / f64::from(n), n);
            }
            (Tool::Guidellm, _) => {}
            _ => {
                if let Some(pace) = self.pace() {
                    values.push(pace, 1);
                }
            }
        }
    }

    /// What the tool calls inter-token latency: gaps between events, but guidellm's is a pace that weighs by tokens.
    pub fn itl(&self, values: &mut Values) {
        match self.tool {
            Tool::Mlperf => {}
            Tool::Guidellm => {
                if let (Some(pace), Some(n)) = (self.pace(), self.n) {
                    values.push(pace, n - 1);
                }
            }
            _ => self.gaps(values),
        }
    }

    fn gaps(&self, values: &mut Values) {
        let mut before = None;
        let events = self.record.chunks.iter().map(|chunk| chunk.at);
        let beyond = (self.tool == Tool::Vllm).then_some(self.last);
        let beyond =
            beyond.filter(|last| self.record.chunks.last().is_some_and(|it| it.at < *last));
        for at in events.chain(beyond) {
            if let Some(before) = before.replace(at) {
                values.push(at.since(before).0 as f64, 1);
            }
        }
    }
}

/// Where the clock starts. vLLM, SGLang and aiperf ask for a connection only then.
fn start(tool: Tool, record: &RequestRecord) -> Option<Nanos> {
    let sent = record.sent?;
    Some(match tool {
        Tool::Mlperf => record.scheduled,
        Tool::Guidellm => sent,
        Tool::Vllm | Tool::Sglang | Tool::Aiperf => sent.since(record.connect.unwrap_or_default()),
    })
}

/// A stream that ended politely before its end mark, or because the engine gave up, is a success everywhere but in MLPerf;
/// vLLM does not look for errors inside the stream.
fn is_success(tool: Tool, outcome: Outcome) -> bool {
    match outcome {
        Outcome::Ok => true,
        Outcome::Error(ErrorKind::Truncated | ErrorKind::Aborted) => tool != Tool::Mlperf,
        Outcome::Error(ErrorKind::InBandError) => tool == Tool::Vllm,
        Outcome::Error(_) => false,
    }
}

/// Where nobody counted, each makes up a number of its own.
fn tokens(tool: Tool, record: &RequestRecord) -> Option<u32> {
    let counted = record.output_tokens;
    match tool {
        Tool::Vllm => counted.filter(|n| 0 < *n).or(Some(1)),
        Tool::Sglang => counted.or(Some(record.output_tokens_asked)),
        Tool::Guidellm => counted.or(Some(record.chunks.len() as u32)),
        Tool::Aiperf | Tool::Mlperf => counted,
    }
}
