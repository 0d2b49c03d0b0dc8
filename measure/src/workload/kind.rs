//! What a file of the data folder is.

use serde::{Deserialize, Serialize};

use super::TraceFormat;

/// What a file of the data folder is, by its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataKind {
    /// ShareGPT conversations: one JSON array.
    ShareGpt,
    /// Prompts, one JSON object a line.
    Prompts,
    /// An Azure trace.
    Azure,
    /// A BurstGPT trace.
    BurstGpt,
    /// A Mooncake trace.
    Mooncake,
    /// A trace in the studio's own JSONL.
    Jsonl,
    /// A model's `tokenizer.json`.
    Tokenizer,
}

impl DataKind {
    /// How it is written, where it is a trace.
    pub fn trace(self) -> Option<TraceFormat> {
        match self {
            Self::Azure => Some(TraceFormat::Azure),
            Self::BurstGpt => Some(TraceFormat::BurstGpt),
            Self::Mooncake => Some(TraceFormat::Mooncake),
            Self::Jsonl => Some(TraceFormat::Jsonl),
            Self::ShareGpt | Self::Prompts | Self::Tokenizer => None,
        }
    }

    /// What its rows are: `12 prompts`.
    pub fn rows(self) -> &'static str {
        match self {
            Self::ShareGpt => "conversations",
            Self::Prompts => "prompts",
            Self::Azure | Self::BurstGpt | Self::Mooncake | Self::Jsonl => "requests",
            Self::Tokenizer => "tokens",
        }
    }
}
