//! What requests ask: length distributions and turns, validated on construction. Text is made by `load`.
//!
//! The built-in ShareGPT-shaped lengths are percentile tables of 30,731 turns of 5,054 ShareGPT conversations in
//! llama-2 tokens (project-etalon/etalon, processed from ShareGPT).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::sampling::Draws;
use crate::units::Nanos;

mod check; // is it a workload at all
mod filter; // which rows of a ShareGPT file are used
mod lengths; // draws of lengths

pub use check::MAX_TOKENS;
pub use filter::{Drop, filter_sharegpt};

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
    },
    /// Single requests of made-up text.
    Synthetic {
        /// Input lengths.
        input: Lengths,
        /// Output lengths.
        output: Lengths,
    },
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
            Self::Synthetic { .. } => false,
        }
    }

    /// Fixed lengths make a toy: real traffic is never so even.
    pub fn is_toy(&self) -> bool {
        matches!(
            self,
            Self::Synthetic {
                input: Lengths::Fixed { .. },
                ..
            } | Self::Synthetic {
                output: Lengths::Fixed { .. },
                ..
            }
        )
    }

    /// The lengths of the next session; `None` for a file, whose sessions come from its rows.
    pub fn next_session(&self, draws: &mut Draws) -> Option<Vec<TurnLengths>> {
        match self {
            Self::ShareGptShaped {
                scale,
                max_turns,
                think_ms,
                max_context,
            } => {
                let limits = lengths::Limits {
                    scale: *scale,
                    max_turns: *max_turns,
                    max_context: *max_context,
                };
                Some(lengths::sharegpt_session(
                    &limits,
                    Nanos::from_millis(*think_ms),
                    draws,
                ))
            }
            Self::Synthetic { input, output } => {
                let (user, answer) = (input.draw(draws), output.draw(draws));
                Some(vec![TurnLengths {
                    user,
                    answer,
                    think: Nanos::ZERO,
                }])
            }
            Self::ShareGptFile { .. } => None,
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
            Self::Synthetic { .. } => Nanos::ZERO,
        }
    }

    /// Requests of a session on average, over a fixed sample; for a file a guess, since its rows are not known here.
    pub fn requests_per_session(&self) -> f64 {
        match self {
            Self::ShareGptFile { max_turns, .. } => f64::from((*max_turns).clamp(1, 4)),
            Self::Synthetic { .. } => 1.0,
            Self::ShareGptShaped { .. } => self.mean(|session| session.len() as f64),
        }
    }

    /// Tokens asked for by a session on average; a guess for a file.
    pub(crate) fn answer_tokens_per_session(&self) -> f64 {
        match self {
            Self::ShareGptFile { .. } => 200.0 * self.requests_per_session(),
            _ => self.mean(|session| session.iter().map(|turn| f64::from(turn.answer)).sum()),
        }
    }

    fn mean(&self, of: impl Fn(&[TurnLengths]) -> f64) -> f64 {
        const SAMPLE: usize = 500;
        let sessions = self.sessions(0, SAMPLE, 0).unwrap_or_default();
        sessions.iter().map(|session| of(session)).sum::<f64>() / SAMPLE as f64
    }
}

impl fmt::Display for Workload {
    /// One line that names the length distribution: `ShareGPT-shaped sessions, lengths x 0.25, up to 6 turns`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let turns = |turns: u32| {
            if turns == 1 {
                "single requests".to_owned()
            } else {
                format!("up to {turns} turns")
            }
        };
        match self {
            Self::ShareGptShaped {
                scale, max_turns, ..
            } => {
                write!(
                    f,
                    "ShareGPT-shaped sessions, lengths x {scale}, {}",
                    turns(*max_turns)
                )
            }
            Self::ShareGptFile {
                file, max_turns, ..
            } => write!(f, "ShareGPT file {file}, {}", turns(*max_turns)),
            Self::Synthetic { input, output } => write!(
                f,
                "synthetic single requests, input {input}, output {output}"
            ),
        }
    }
}

impl fmt::Display for Lengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed { tokens: 1 } => f.write_str("1 token each"),
            Self::Fixed { tokens } => write!(f, "{tokens} tokens each"),
            Self::Uniform { min, max } => write!(f, "uniform {min} to {max} tokens"),
            Self::LogNormal { median, sigma, max } => {
                write!(
                    f,
                    "log-normal around {median} tokens (sigma {sigma}, at most {max})"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests;
