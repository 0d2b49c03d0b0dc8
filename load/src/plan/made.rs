//! What a point's prompts were made of: told beside its numbers, so that nobody has to guess.

use std::collections::BTreeMap;

use measure::units::Nanos;
use serde::Serialize;

/// How the planned lengths were counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LengthSource {
    /// By a local `tokenizer.json`.
    Tokenizer,
    /// By the engine's own `/tokenize`.
    Engine,
    /// Estimated from words, with a factor that the engine's usage gave.
    CalibratedEstimate,
    /// Estimated from words.
    #[default]
    Estimate,
}

impl LengthSource {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Tokenizer => "counted by the tokenizer given",
            Self::Engine => "counted by the engine's /tokenize",
            Self::CalibratedEstimate => "estimated from words, calibrated by the engine's usage",
            Self::Estimate => "estimated from words",
        }
    }
}

/// The rows of a file: which were used, and why the others were not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rows {
    /// Rows that pass the rules, in the part of the file that was read.
    pub usable: usize,
    /// Different rows that the point uses.
    pub used: usize,
    /// Sessions that use a row for the second time or more: they may hit the prefix cache.
    pub repeats: usize,
    /// Later turns of the used rows that were not used, because sessions are shorter than the conversations.
    pub turns_left_out: usize,
    /// Rows left out, by reason.
    pub dropped: BTreeMap<String, usize>,
}

/// What the prompts were made of.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Made {
    /// How the planned lengths were counted.
    pub length_source: LengthSource,
    /// Tokens that the chat template adds to a prompt of one message, where that was measured. Never part of the planned
    /// lengths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template_tokens: Option<u32>,
    /// Rows of the file, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<Rows>,
    /// Whether later turns carry the engine's own answers: never to be paired with another point.
    pub real_answers: bool,
    /// The part of the point in which load is steady, where its beginning or end is left out of the figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steady_ns: Option<(Nanos, Nanos)>,
}
