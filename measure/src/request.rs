//! One request, from its slot in the schedule to its last token, and the latencies that follow from it.
//!
//! All instants count from the start of the point (see [`Nanos`]). A record is made for every scheduled
//! request, whatever became of it; what has no value is `None`, never zero.

use serde::{Deserialize, Serialize};

use crate::quantile::percentile_linear;
use crate::units::Nanos;

mod chunks; // many events in little room

pub use chunks::Chunks;

/// What a token-bearing event carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChunkKind {
    /// Text of the answer (`content`, `text`).
    #[default]
    Answer,
    /// Thinking (`reasoning`, `reasoning_content`, `thinking`).
    Reasoning,
    /// A tool call's name or arguments.
    ToolCall,
}

/// One token-bearing event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// When the bytes that completed it were read from the socket.
    pub at: Nanos,
    /// When the kernel received them, where it says so. Never later than `at`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_kernel: Option<Nanos>,
    /// What it carried.
    pub kind: ChunkKind,
    /// Tokens in it, where the engine said so.
    pub tokens: Option<u32>,
}

impl Chunk {
    /// When it arrived: by the kernel's clock reading where there is one, else by our own.
    pub fn arrived(&self) -> Nanos {
        self.at_kernel.unwrap_or(self.at)
    }

    /// How long it lay in the kernel before it was read.
    pub fn read_lag(&self) -> Option<Nanos> {
        Some(self.at.since(self.at_kernel?))
    }
}

/// Where the number of output tokens comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenSource {
    /// The stream's usage object.
    Usage,
    /// The engine's own final count, where there is no usage.
    EngineFinal,
    /// A tokenizer, after the run.
    Tokenizer,
    /// Nobody counted.
    #[default]
    None,
}

/// Why a request failed (docs/metrics.md, "Outcome").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// A status outside 2xx that is not a refusal for load.
    HttpStatus,
    /// 429, or 503 with Retry-After.
    RateLimited,
    /// The stream carried an error object.
    InBandError,
    /// The engine gave the request up (`finish_reason: "abort"`).
    Aborted,
    /// The stream ended politely before its end mark.
    Truncated,
    /// The connection broke.
    ConnectionReset,
    /// Silence for longer than the idle timeout.
    StallTimeout,
    /// A complete stream without one token-bearing event.
    EmptyStream,
    /// 2xx, but the body is no stream.
    NotAStream,
    /// An event that cannot be read.
    MalformedEvent,
    /// No connection.
    ConnectFailed,
    /// Given up by us: a stop, or the end of the drain.
    Cancelled,
    /// No connection, because this machine allowed the client none: open files, local ports, memory for sockets. The
    /// engine never heard of the request.
    ClientLimit,
}

impl ErrorKind {
    /// Every kind, in the order in which tables list them. New ones come last: places in it are stored.
    pub const ALL: [Self; 13] = [
        Self::HttpStatus,
        Self::RateLimited,
        Self::InBandError,
        Self::Aborted,
        Self::Truncated,
        Self::ConnectionReset,
        Self::StallTimeout,
        Self::EmptyStream,
        Self::NotAStream,
        Self::MalformedEvent,
        Self::ConnectFailed,
        Self::Cancelled,
        Self::ClientLimit,
    ];

    /// The name used in JSON, columns and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::HttpStatus => "http_status",
            Self::RateLimited => "rate_limited",
            Self::InBandError => "in_band_error",
            Self::Aborted => "aborted",
            Self::Truncated => "truncated",
            Self::ConnectionReset => "connection_reset",
            Self::StallTimeout => "stall_timeout",
            Self::EmptyStream => "empty_stream",
            Self::NotAStream => "not_a_stream",
            Self::MalformedEvent => "malformed_event",
            Self::ConnectFailed => "connect_failed",
            Self::Cancelled => "cancelled",
            Self::ClientLimit => "client_limit",
        }
    }
}

/// How a request ended. `Ok` needs 2xx, a complete stream, no in-band error and a token-bearing event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It succeeded.
    Ok,
    /// It failed, and why.
    Error(ErrorKind),
}

/// One scheduled request and everything that was seen of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestRecord {
    /// Also sent as header `x-request-id`.
    pub request_id: String,
    /// Index of the session within the point.
    pub session: u32,
    /// Index of the turn within the session.
    pub turn: u32,
    /// The intended start. In a closed loop: when the slot came free.
    pub scheduled: Nanos,
    /// Just before the request was handed to the connection; `None` when it never was.
    pub sent: Option<Nanos>,
    /// When the response's headers had been read. Never called TTFT.
    pub headers: Option<Nanos>,
    /// The token-bearing events, in order.
    pub chunks: Chunks,
    /// When the event with the finish reason arrived.
    pub finish: Option<Nanos>,
    /// When the stream ended, or the failure was noticed.
    pub end: Option<Nanos>,
    /// How it ended.
    pub outcome: Outcome,
    /// For people: what exactly went wrong, bounded in length.
    pub error_detail: Option<String>,
    /// The response's status.
    pub http_status: Option<u16>,
    /// The response's Retry-After, a date in seconds from the response's own.
    pub retry_after: Option<String>,
    /// Why the engine stopped.
    pub finish_reason: Option<String>,
    /// Input tokens as the engine counted them.
    pub prompt_tokens: Option<u32>,
    /// Those of them that came from its prefix cache, where it says so.
    pub cached_tokens: Option<u32>,
    /// Output tokens n; see [`TokenSource`].
    pub output_tokens: Option<u32>,
    /// Who counted the output tokens.
    pub token_source: TokenSource,
    /// Input tokens the workload meant to send (an estimate without a tokenizer).
    pub input_tokens_planned: u32,
    /// Output tokens asked for.
    pub output_tokens_asked: u32,
    /// How long opening a connection for it took; `None` when one was open. It lies between `scheduled` and `sent`.
    pub connect: Option<Nanos>,
    /// Reads that carried more than one token-bearing event.
    pub coalesced_reads: u32,
    /// Oddities that are not failures: `missing_done`, `missing_finish_reason`, `unframed_line`, `content_type`.
    pub warnings: Vec<String>,
    /// The answer, when it was asked to be kept.
    pub text: Option<String>,
    /// The thinking, when it was asked to be kept.
    pub reasoning_text: Option<String>,
}

impl RequestRecord {
    /// Whether the request succeeded.
    pub fn is_ok(&self) -> bool {
        self.outcome == Outcome::Ok
    }

    /// Sent - scheduled: what the client itself added.
    pub fn dispatch_lag(&self) -> Option<Nanos> {
        Some(self.sent?.since(self.scheduled))
    }

    /// TTFT: first token-bearing event - sent. Thinking counts.
    pub fn ttft(&self) -> Option<Nanos> {
        Some(self.chunks.first()?.arrived().since(self.sent?))
    }

    /// TTFT as our own reading saw it, however late that was.
    pub fn read_ttft(&self) -> Option<Nanos> {
        Some(self.chunks.first()?.at.since(self.sent?))
    }

    /// TTFA: first token-bearing event that is not thinking - sent.
    pub fn ttfa(&self) -> Option<Nanos> {
        let first = self
            .chunks
            .iter()
            .find(|chunk| chunk.kind != ChunkKind::Reasoning)?;
        Some(first.arrived().since(self.sent?))
    }

    /// Scheduled TTFT: first token-bearing event - scheduled.
    pub fn scheduled_ttft(&self) -> Option<Nanos> {
        Some(self.chunks.first()?.arrived().since(self.scheduled))
    }

    /// Scheduled TTFA: first token-bearing event that is not thinking - scheduled.
    pub fn scheduled_ttfa(&self) -> Option<Nanos> {
        self.since_due(self.ttfa()?)
    }

    /// Scheduled E2E: the end as of [`RequestRecord::e2e`] - scheduled.
    pub fn scheduled_e2e(&self) -> Option<Nanos> {
        self.since_due(self.e2e()?)
    }

    /// A latency from the sending, counted from when the request was due.
    fn since_due(&self, latency: Nanos) -> Option<Nanos> {
        Some((self.sent? + latency).since(self.scheduled))
    }

    /// E2E: later of the last token-bearing event and the event with the finish reason, - sent.
    pub fn e2e(&self) -> Option<Nanos> {
        let last = self.chunks.last()?.arrived();
        Some(last.max(self.finish.unwrap_or(last)).since(self.sent?))
    }

    /// TPOT = (E2E - TTFT) / (n - 1). No value when n is unknown or below 2, or when all came in one burst.
    pub fn tpot(&self) -> Option<Nanos> {
        let n = self.output_tokens.filter(|n| *n >= 2)?;
        let decode = self.e2e()?.since(self.ttft()?);
        if decode == Nanos::ZERO {
            return None;
        }
        Some(Nanos((decode.0 as f64 / f64::from(n - 1)).round() as u64))
    }

    /// Gaps between token-bearing events, in order; `chunks - 1` of them.
    pub fn gaps(&self) -> impl Iterator<Item = Nanos> + '_ {
        let mut arrivals = self.chunks.arrivals();
        let mut before = arrivals.next().unwrap_or_default();
        arrivals.map(move |now| now.since(std::mem::replace(&mut before, now)))
    }

    /// The longest gap within the request. No value when several tokens came in one burst.
    pub fn stall(&self) -> Option<Nanos> {
        if self.is_single_burst() {
            return None;
        }
        self.gaps().max()
    }

    /// The request's own p95 gap. No value when several tokens came in one burst.
    pub fn itl_p95(&self) -> Option<Nanos> {
        if self.is_single_burst() {
            return None;
        }
        let mut gaps: Vec<f64> = self.gaps().map(|gap| gap.0 as f64).collect();
        gaps.sort_by(f64::total_cmp);
        percentile_linear(&gaps, 95.0).map(|gap| Nanos(gap.round() as u64))
    }

    /// Several tokens, all read at one moment: no pace is measurable.
    pub fn is_single_burst(&self) -> bool {
        let (Some(first), Some(last)) = (self.chunks.first(), self.chunks.last()) else {
            return false;
        };
        first.arrived() == last.arrived() && self.output_tokens.is_none_or(|n| n >= 2)
    }
}

#[cfg(test)]
mod tests;
