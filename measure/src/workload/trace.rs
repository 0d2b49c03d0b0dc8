//! Recorded traffic: when requests came and how long they were.

use serde::{Deserialize, Serialize};

/// How a trace is written down. See docs/guide/workloads.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceFormat {
    /// CSV of the Azure LLM inference traces: `TIMESTAMP,ContextTokens,GeneratedTokens`.
    Azure,
    /// Mooncake's JSONL: milliseconds, lengths, and the ids of 512-token blocks that prompts share.
    Mooncake,
    /// BurstGPT's CSV: seconds, model, request and response tokens.
    BurstGpt,
    /// The studio's own JSONL: `{"at_ms", "input_tokens", "output_tokens"}`, perhaps with text and a session.
    Jsonl,
}

impl TraceFormat {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Azure, Self::Mooncake, Self::BurstGpt, Self::Jsonl];

    /// The name used on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Azure => "azure",
            Self::Mooncake => "mooncake",
            Self::BurstGpt => "burst_gpt",
            Self::Jsonl => "jsonl",
        }
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Azure => "Azure",
            Self::Mooncake => "Mooncake",
            Self::BurstGpt => "BurstGPT",
            Self::Jsonl => "JSONL",
        }
    }
}

/// A trace and the part of it that is replayed. Its level is a speed (`x2`) when its own arrivals are replayed; at a
/// rate, at `inf` or in a closed loop it gives the requests alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trace {
    /// File name.
    pub file: String,
    /// How it is written.
    pub format: TraceFormat,
    /// Where the replayed part begins, in the trace's own time after its first row.
    pub start_ms: u64,
    /// How long the part is in the trace's own time; to the end where it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length_ms: Option<u64>,
    /// Rows with more tokens, input and output together, are left out, and counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_context: Option<u32>,
}
