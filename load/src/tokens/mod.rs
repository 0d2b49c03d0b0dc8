//! How long is a text, in the engine's own tokens?
//!
//! Asked before the clock starts and never while it runs: by a local `tokenizer.json`, else by the engine's own
//! `/tokenize`, else by a guess from words that the engine's usage calibrates. Which of them it was is told.

use std::path::{Path, PathBuf};

use crate::plan::LengthSource;

mod calibrate; // what usage tells
mod remote; // the engine's own
mod tape; // what a counter said, kept
mod who; // who counts

pub use calibrate::{Calibration, calibrate};
pub use tape::{Recorder, Replay};
pub use who::{Counted, Counting};

use remote::Remote;

/// Texts counted by one thread at a time.
const SHARE: usize = 64;

/// The largest `tokenizer.json`, in bytes: those of real models have 2 to 35 MB.
pub const LARGEST_TOKENIZER: u64 = 128 << 20;

/// Counts tokens.
pub enum Counter {
    /// By a tokenizer on this machine.
    Local(Box<tokenizers::Tokenizer>),
    /// By the engine.
    Engine(Box<Remote>),
    /// From words: so many tokens each, as the engine's usage said.
    Words {
        /// Tokens of a word.
        per_word: f64,
    },
    /// By another counter, keeping what it says.
    Recording(Box<Recorder>),
    /// As another counter did before.
    Replaying(Box<Replay>),
}

/// Why nothing can be counted.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The tokenizer's file.
    #[error("the tokenizer {} cannot be used ({why}); give the tokenizer.json of the model that is served", path.display())]
    Tokenizer {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A text that it cannot take.
    #[error("the tokenizer failed at a prompt ({why})")]
    Encode {
        /// What it said.
        why: String,
    },
    /// What was counted before was counted for other prompts.
    #[error(
        "the prompts are made otherwise than when they were counted, by another version of goodput or from another file; launch the study anew"
    )]
    OtherPrompts,
    /// The engine.
    #[error("the engine's /tokenize failed ({why}); give the model's tokenizer.json instead")]
    Engine {
        /// What it said.
        why: String,
    },
}

impl Counter {
    /// By a model's `tokenizer.json`.
    pub fn local(path: &Path) -> Result<Self, TokenError> {
        let refuse = |why: String| TokenError::Tokenizer {
            path: path.to_owned(),
            why,
        };
        let bytes = std::fs::read(path).map_err(|error| refuse(error.to_string()))?;
        Self::read(&bytes, path)
    }

    /// By the bytes of a model's `tokenizer.json`, which is called `named` where something is wrong with it.
    pub fn read(bytes: &[u8], named: &Path) -> Result<Self, TokenError> {
        let tokenizer = tokenizers::Tokenizer::from_bytes(bytes);
        let tokenizer = tokenizer.map_err(|error| TokenError::Tokenizer {
            path: named.to_owned(),
            why: error.to_string(),
        })?;
        Ok(Self::Local(Box::new(tokenizer)))
    }

    /// How many tokens its tokenizer knows; 0 where it has none.
    pub(crate) fn vocabulary(&self) -> u64 {
        match self {
            Self::Local(tokenizer) => tokenizer.get_vocab_size(true) as u64,
            _ => 0,
        }
    }

    /// By the engine behind an endpoint; `None` where it has no `/tokenize`.
    pub async fn of_engine(
        endpoint: &measure::study::Endpoint,
        wire: &crate::Wire,
    ) -> Option<Self> {
        Remote::of(endpoint, wire)
            .await
            .map(|remote| Self::Engine(Box::new(remote)))
    }

    /// What the counts rest on.
    pub fn source(&self) -> LengthSource {
        match self {
            Self::Local(_) => LengthSource::Tokenizer,
            Self::Engine(_) => LengthSource::Engine,
            Self::Words { .. } => LengthSource::CalibratedEstimate,
            Self::Recording(recorder) => recorder.source(),
            Self::Replaying(replay) => replay.source(),
        }
    }

    /// Whether texts can be counted one by one, so that their length can be made right.
    pub(crate) fn is_exact(&self) -> bool {
        !matches!(self, Self::Words { .. })
    }

    /// The tokens of each text, without any that begin or end a prompt. Blocks: never call it on a runtime's thread.
    pub fn count(&self, texts: &[String]) -> Result<Vec<u32>, TokenError> {
        match self {
            Self::Local(tokenizer) => count_locally(tokenizer, texts),
            Self::Engine(remote) => remote.count(texts),
            Self::Recording(recorder) => recorder.count(texts),
            Self::Replaying(replay) => replay.count(texts),
            Self::Words { per_word } => {
                let words = texts.iter().map(|text| text.split_whitespace().count());
                Ok(words
                    .map(|words| (words as f64 * per_word).round() as u32)
                    .collect())
            }
        }
    }
}

/// On all cores: a long trace has megabytes of text.
fn count_locally(
    tokenizer: &tokenizers::Tokenizer,
    texts: &[String],
) -> Result<Vec<u32>, TokenError> {
    let one = |text: &String| {
        let encoded = tokenizer.encode_fast(text.as_str(), false);
        let encoded = encoded.map_err(|error| TokenError::Encode {
            why: error.to_string(),
        })?;
        Ok(encoded.get_ids().len() as u32)
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = texts.len().div_ceil(threads).max(SHARE);
    let counted = std::thread::scope(|scope| {
        let shares: Vec<_> = texts
            .chunks(share)
            .map(|share| {
                scope.spawn(move || share.iter().map(one).collect::<Result<Vec<u32>, _>>())
            })
            .collect();
        let joined = shares.into_iter().map(|share| {
            share.join().unwrap_or_else(|_| {
                Err(TokenError::Encode {
                    why: "it gave up".into(),
                })
            })
        });
        joined.collect::<Result<Vec<Vec<u32>>, TokenError>>()
    });
    Ok(counted?.concat())
}

#[cfg(test)]
pub(crate) mod tests;
