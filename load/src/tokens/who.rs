//! Who counts the tokens of prompts: the one decision, for single runs and for studies.

use measure::study::Endpoint;
use serde::{Deserialize, Serialize};

use super::{Counter, calibrate};
use crate::dialect::Quirks;
use crate::plan::{LengthSource, Made};
use crate::{Engine, Wire};

/// Who counts, and what the chat template adds.
#[derive(Default)]
pub struct Counting {
    /// Counts; `None` takes a word for a token.
    pub counter: Option<Counter>,
    /// Tokens that the chat template adds to a prompt of one message, where the engine tells.
    pub template_tokens: Option<u32>,
}

/// Who counted, as it is kept: what follows for prompts that are planned later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// Who.
    pub source: LengthSource,
    /// Tokens of a word, where they were estimated from the engine's usage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_word: Option<f64>,
}

impl Counting {
    /// Finds out who can count: the tokenizer given, else the engine, else words by a factor that its usage gives. An
    /// engine that tells nothing leaves words as they are; what is wrong with it the run itself will say.
    pub async fn find(
        engine: &Engine,
        (endpoint, wire): (&Endpoint, &Wire),
        quirks: Quirks,
        local: Option<Counter>,
    ) -> Self {
        let counter = match local {
            Some(local) => Some(local),
            None => Counter::of_engine(endpoint, wire).await,
        };
        let found = calibrate(engine, endpoint, quirks, counter.as_ref()).await;
        let words = found.map(|found| Counter::Words {
            per_word: found.per_word,
        });
        Self {
            counter: counter.or(words),
            template_tokens: found.map(|found| found.template_tokens),
        }
    }

    /// Finds the same again, perhaps at another engine: who counted stays, only the template's share is asked anew. There
    /// is no counter where the engine is the one to count and this one does not.
    pub async fn again(
        counted: Counted,
        engine: &Engine,
        (endpoint, wire): (&Endpoint, &Wire),
        quirks: Quirks,
        local: Option<Counter>,
    ) -> Self {
        let counter = match counted.source {
            LengthSource::Tokenizer => local,
            LengthSource::Engine => Counter::of_engine(endpoint, wire).await,
            LengthSource::CalibratedEstimate => {
                counted.per_word.map(|per_word| Counter::Words { per_word })
            }
            LengthSource::Estimate => None,
        };
        let found = calibrate(engine, endpoint, quirks, counter.as_ref()).await;
        Self {
            counter,
            template_tokens: found.map(|found| found.template_tokens),
        }
    }

    /// What is to be kept of it.
    pub fn counted(&self) -> Counted {
        Counted {
            source: self
                .counter
                .as_ref()
                .map(Counter::source)
                .unwrap_or_default(),
            per_word: match &self.counter {
                Some(Counter::Words { per_word }) => Some(*per_word),
                _ => None,
            },
        }
    }

    /// Says beside what prompts were made of what the template adds.
    pub fn tell(&self, made: Made) -> Made {
        Made {
            template_tokens: self.template_tokens,
            ..made
        }
    }
}
