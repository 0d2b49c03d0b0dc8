//! What the OpenAI-shaped dialects have in common: the envelope of an event, usage and errors.

use serde::Deserialize;
use serde_json::Value;

use super::event::{Counts, Piece, Told};
use super::wire::{Count, Few, Text, error_text};

/// One event, whatever the shape of its choices.
#[derive(Deserialize)]
#[serde(bound(deserialize = "C: Deserialize<'de>"))]
pub(super) struct Envelope<'a, C> {
    #[serde(default)]
    choices: Few<C>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    timings: Option<Timings>,
    #[serde(default)]
    error: Option<Value>,
    #[serde(default, borrow)]
    object: Text<'a>,
    #[serde(default, borrow)]
    message: Text<'a>,
}

/// A choice, as each dialect has it.
pub(super) trait Choice {
    fn index(&self) -> u32;
    fn pieces(&self, on: &mut dyn FnMut(Piece<'_>));
    fn finish_reason(&self) -> &str;
}

impl<C: Choice> Envelope<'_, C> {
    pub(super) fn tell(self, on: &mut dyn FnMut(Piece<'_>)) -> Told {
        let Self {
            choices,
            usage,
            timings,
            error,
            object,
            message,
        } = self;
        let mut told = Told {
            usage: usage.map(Counts::from),
            engine: timings.map(Counts::from),
            error: error.as_ref().and_then(error_text),
            ..Told::default()
        };
        if told.error.is_none() && object.0 == "error" {
            told.error = Some(message.0.into_owned());
        }
        for choice in choices.iter() {
            choice.pieces(on);
            told.choices.add(choice.index());
            let reason = choice.finish_reason();
            if !reason.is_empty() {
                told.finish_reason = Some(reason.to_owned());
                told.finished.add(choice.index());
            }
        }
        told
    }
}

/// The usage object.
#[derive(Clone, Copy, Default, Deserialize)]
pub(super) struct Usage {
    #[serde(default)]
    prompt_tokens: Count,
    #[serde(default)]
    completion_tokens: Count,
    #[serde(default)]
    prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Clone, Copy, Default, Deserialize)]
struct PromptDetails {
    #[serde(default)]
    cached_tokens: Count,
}

impl From<Usage> for Counts {
    fn from(usage: Usage) -> Self {
        Self {
            output: usage.completion_tokens.0,
            prompt: usage.prompt_tokens.0,
            cached: usage
                .prompt_tokens_details
                .and_then(|details| details.cached_tokens.0),
        }
    }
}

/// llama.cpp's own figures.
#[derive(Clone, Copy, Default, Deserialize)]
pub(super) struct Timings {
    #[serde(default)]
    predicted_n: Count,
    #[serde(default)]
    cache_n: Count,
}

impl From<Timings> for Counts {
    fn from(timings: Timings) -> Self {
        Self {
            output: timings.predicted_n.0,
            prompt: None,
            cached: timings.cache_n.0,
        }
    }
}
