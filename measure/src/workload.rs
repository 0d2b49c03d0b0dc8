//! What requests ask: length distributions and turns, validated on construction. Text is made by `load`.
//!
//! The built-in ShareGPT-shaped lengths are percentile tables of 30,731 turns of 5,054 ShareGPT conversations in
//! llama-2 tokens (project-etalon/etalon, processed from ShareGPT).

use serde::{Deserialize, Serialize};

use crate::sampling::Draws;
use crate::units::Nanos;

mod check; // is it a workload at all
mod filter; // which rows of a ShareGPT file are used
mod kind; // what a file is
mod lengths; // draws of lengths
mod trace; // recorded traffic
mod words; // a workload in one line

pub use check::MAX_TOKENS;
pub use filter::{Drop, filter_sharegpt};
pub use kind::DataKind;
pub use trace::{Trace, TraceFormat};

/// Lengths in tokens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    rename_all = "snake_case",
    tag = "kind",
    try_from = "crate::wire::LengthsText"
)]
pub enum Lengths {
    /// Every request alike: a toy, and badged so.
    Fixed {
        /// Tokens.
        tokens: u32,
    },
    /// Uniform, both ends included.
    Uniform {
        /// Fewest tokens.
        min: u32,
        /// Most tokens.
        max: u32,
    },
    /// Normal: mean and standard deviation, cut to 1..=max.
    Normal {
        /// Mean in tokens, before the cut.
        mean: u32,
        /// Standard deviation in tokens.
        deviation: f64,
        /// Most tokens.
        max: u32,
    },
    /// Each of these lengths is as likely as the next: what was observed, value by value.
    Table {
        /// Observed lengths.
        values: Vec<u32>,
    },
    /// Log-normal: median and sigma of the logarithm, cut to 1..=max.
    LogNormal {
        /// Median in tokens.
        median: u32,
        /// Standard deviation of ln(tokens).
        sigma: f64,
        /// Most tokens.
        max: u32,
    },
}

/// Which rows of a ShareGPT file are used (the field's usual limits, in tokens). See docs/glossary.md, "ShareGPT filter".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShareGptFilter {
    /// Shortest prompt kept.
    pub min_prompt: u32,
    /// Shortest answer kept.
    pub min_output: u32,
    /// Longest prompt kept.
    pub max_prompt: u32,
    /// Longest prompt and answer together.
    pub max_total: u32,
}

impl Default for ShareGptFilter {
    fn default() -> Self {
        Self {
            min_prompt: 4,
            min_output: 4,
            max_prompt: 1024,
            max_total: 2048,
        }
    }
}

/// What the history of a later turn carries as the engine's answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answers {
    /// The data set's own answer, so that every engine is asked the very same.
    #[default]
    DataSet,
    /// What the engine really answered: nearer to a chat, but no two engines are asked the same, so that such points are
    /// marked and never paired.
    Real,
}

impl Answers {
    /// Whether they are the usual ones, which JSON leaves out.
    fn are_usual(&self) -> bool {
        *self == Self::DataSet
    }
}

/// A workload, as a person states it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    rename_all = "snake_case",
    tag = "kind",
    try_from = "crate::wire::WorkloadText"
)]
pub enum Workload {
    /// Multi-turn sessions with ShareGPT's lengths and turns, lengths scaled by a factor that is always shown.
    ShareGptShaped {
        /// Factor on every length, above 0 and at most 1.
        scale: f64,
        /// Most turns of a session; 1 makes single requests.
        max_turns: u32,
        /// Pause between an answer and the next turn.
        think_ms: u64,
        /// Most tokens of context (history, question and answer); a session ends before it would exceed them.
        max_context: u32,
        /// What later turns carry as answers.
        #[serde(skip_serializing_if = "Answers::are_usual")]
        answers: Answers,
    },
    /// A ShareGPT JSON file in the server's data folder (or a path, on the command line).
    ShareGptFile {
        /// File name.
        file: String,
        /// Most turns of a session; 1 makes single requests.
        max_turns: u32,
        /// Pause between an answer and the next turn.
        think_ms: u64,
        /// Rows used.
        filter: ShareGptFilter,
        /// Tokens asked of every request, whatever the data set's answer; the limit on short answers then falls away.
        #[serde(skip_serializing_if = "Option::is_none")]
        output_tokens: Option<u32>,
        /// What later turns carry as answers.
        #[serde(skip_serializing_if = "Answers::are_usual")]
        answers: Answers,
        /// Whether rows may be used again when there are too few; how many were is told.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        repeats: bool,
    },
    /// A JSONL file of prompts: a line is `{"prompt": "..."}` or `{"messages": [...]}`, perhaps with `output_tokens`.
    PromptFile {
        /// File name.
        file: String,
        /// Tokens asked where a line says nothing of it.
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<Lengths>,
        /// Whether lines may be used again when there are too few; how many were is told.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        repeats: bool,
    },
    /// Single requests of made-up text.
    Synthetic {
        /// Input lengths.
        input: Lengths,
        /// Output lengths.
        output: Lengths,
    },
    /// Single requests of made-up text that begin alike in families, as those behind one system prompt do.
    SharedPrefix {
        /// How many prefixes there are.
        families: u32,
        /// Tokens of each.
        prefix_tokens: u32,
        /// Share of the requests that begin with a family's prefix; the others begin with as many tokens of their own.
        share: f64,
        /// Input lengths behind the prefix.
        input: Lengths,
        /// Output lengths.
        output: Lengths,
    },
    /// Recorded traffic.
    Trace(Trace),
}

/// One turn of a session, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnLengths {
    /// Tokens the user adds in this turn.
    pub user: u32,
    /// Tokens asked of the engine, and the length of the data set's own answer in the history of later turns.
    pub answer: u32,
    /// Pause before this turn after the answer before it; zero for the first.
    pub think: Nanos,
}

/// What is wrong with a workload, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{field}: {message}")]
pub struct WorkloadError {
    /// The field, as a path below `workload`.
    pub field: &'static str,
    /// What is wrong, and the mend.
    pub message: String,
}

impl Workload {
    /// Whether rates count sessions rather than single requests.
    pub fn is_multi_turn(&self) -> bool {
        match self {
            Self::ShareGptShaped { max_turns, .. } | Self::ShareGptFile { max_turns, .. } => {
                *max_turns > 1
            }
            _ => false,
        }
    }

    /// Fixed lengths make a toy: real traffic is never so even.
    pub fn is_toy(&self) -> bool {
        let fixed = |lengths: &Lengths| matches!(lengths, Lengths::Fixed { .. });
        match self {
            Self::Synthetic { input, output } | Self::SharedPrefix { input, output, .. } => {
                fixed(input) || fixed(output)
            }
            _ => false,
        }
    }

    /// Whether later turns carry what the engine really answered, so that no two engines are asked the same.
    pub fn has_real_answers(&self) -> bool {
        match self {
            Self::ShareGptShaped { answers, .. } | Self::ShareGptFile { answers, .. } => {
                *answers == Answers::Real
            }
            _ => false,
        }
    }

    /// The file that its requests come from.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::ShareGptFile { file, .. } | Self::PromptFile { file, .. } => Some(file),
            Self::Trace(trace) => Some(&trace.file),
            _ => None,
        }
    }

    /// The lengths of the next session; `None` for a file, whose sessions come from its rows.
    pub fn next_session(&self, draws: &mut Draws) -> Option<Vec<TurnLengths>> {
        match self {
            Self::ShareGptShaped {
                scale,
                max_turns,
                think_ms,
                max_context,
                answers: _,
            } => {
                let limits = lengths::Limits {
                    scale: *scale,
                    max_turns: *max_turns,
                    max_context: *max_context,
                };
                let think = Nanos::from_millis(*think_ms);
                Some(lengths::sharegpt_session(&limits, think, draws))
            }
            Self::Synthetic { input, output } => Some(single(0, input, output, draws)),
            Self::SharedPrefix {
                prefix_tokens,
                input,
                output,
                ..
            } => Some(single(*prefix_tokens, input, output, draws)),
            Self::ShareGptFile { .. } | Self::PromptFile { .. } | Self::Trace(_) => None,
        }
    }

    /// Sessions until they hold at least `requests` requests and at least `sessions` sessions; `None` for a file.
    pub fn sessions(
        &self,
        seed: u64,
        sessions: usize,
        requests: usize,
    ) -> Option<Vec<Vec<TurnLengths>>> {
        let mut draws = Draws::new(seed);
        let mut made = Vec::new();
        let mut held = 0;
        while made.len() < sessions || held < requests {
            let session = self.next_session(&mut draws)?;
            held += session.len();
            made.push(session);
        }
        Some(made)
    }

    /// The pause between an answer and the next turn.
    pub fn think(&self) -> Nanos {
        match self {
            Self::ShareGptShaped { think_ms, .. } | Self::ShareGptFile { think_ms, .. } => {
                Nanos::from_millis(*think_ms)
            }
            _ => Nanos::ZERO,
        }
    }

    /// Requests of a session on average, over a fixed sample; for a file a guess, since its rows are not known here.
    pub fn requests_per_session(&self) -> f64 {
        match self {
            Self::ShareGptFile { max_turns, .. } => f64::from((*max_turns).clamp(1, 4)),
            Self::ShareGptShaped { .. } => self.mean(|session| session.len() as f64),
            _ => 1.0,
        }
    }

    /// Tokens asked for by a session on average; a guess for a file.
    pub(crate) fn answer_tokens_per_session(&self) -> f64 {
        match self.file() {
            Some(_) => 200.0 * self.requests_per_session(),
            None => self.mean(|session| session.iter().map(|turn| f64::from(turn.answer)).sum()),
        }
    }

    fn mean(&self, of: impl Fn(&[TurnLengths]) -> f64) -> f64 {
        const SAMPLE: usize = 500;
        let sessions = self.sessions(0, SAMPLE, 0).unwrap_or_default();
        sessions.iter().map(|session| of(session)).sum::<f64>() / SAMPLE as f64
    }
}

/// A session of one request, whose input is drawn on top of `ahead` tokens.
fn single(ahead: u32, input: &Lengths, output: &Lengths, draws: &mut Draws) -> Vec<TurnLengths> {
    let (user, answer) = (input.draw(draws), output.draw(draws));
    vec![TurnLengths {
        user: user.saturating_add(ahead),
        answer,
        think: Nanos::ZERO,
    }]
}

#[cfg(test)]
mod tests;
