//! `llamacpp.completion`: `POST /completion` of llama.cpp's server.
//!
//! `stop: true` is the end mark; every event has the running count of tokens.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::{Counts, Piece, Told};
use super::quirks::Quirks;
use super::wire::{Count, Flag, Text, error_text};
use super::{Body, Message, prompt};

pub(super) const ROUTE: &str = "completion";

#[derive(Serialize)]
struct Fields<'a> {
    model: &'a str,
    prompt: String,
    n_predict: u32,
    temperature: f32,
    seed: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    ignore_eos: Option<bool>,
    stream: bool,
}

pub(super) fn body(model: &str, messages: &[Message<'_>], max_tokens: u32, quirks: Quirks) -> Body {
    serde_json::to_vec(&Fields {
        model,
        prompt: prompt(messages),
        n_predict: max_tokens,
        temperature: 0.0,
        seed: 0,
        ignore_eos: quirks.ignore_eos.then_some(true),
        stream: true,
    })
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(default, borrow)]
    content: Text<'a>,
    #[serde(default)]
    stop: Flag,
    #[serde(default, borrow)]
    stop_type: Text<'a>,
    #[serde(default)]
    tokens_predicted: Count,
    #[serde(default)]
    timings: Option<Timings>,
    #[serde(default)]
    error: Option<Value>,
    // Before there was `stop_type`.
    #[serde(default)]
    stopped_eos: Flag,
    #[serde(default)]
    stopped_limit: Flag,
    #[serde(default)]
    stopped_word: Flag,
}

#[derive(Deserialize)]
struct Timings {
    #[serde(default)]
    cache_n: Count,
}

pub(super) fn read(data: &[u8], on: &mut dyn FnMut(Piece<'_>)) -> Result<Told, serde_json::Error> {
    let event: Event<'_> = serde_json::from_slice(data)?;
    if !event.content.0.is_empty() {
        on(Piece::Answer(&event.content.0));
    }
    let finish_reason = event.stop.0.then(|| event.reason()).flatten();
    Ok(Told {
        finish_reason,
        engine: Some(Counts {
            output: event.tokens_predicted.0,
            prompt: None,
            cached: event.timings.and_then(|timings| timings.cache_n.0),
        }),
        error: event.error.as_ref().and_then(error_text),
        end: event.stop.0,
        ..Told::default()
    })
}

impl Event<'_> {
    fn reason(&self) -> Option<String> {
        let older = [
            (self.stopped_eos, "eos"),
            (self.stopped_limit, "limit"),
            (self.stopped_word, "word"),
        ];
        let named = Some(self.stop_type.0.as_ref()).filter(|name| !name.is_empty());
        let older = || older.iter().find(|(set, _)| set.0).map(|(_, name)| *name);
        named.or_else(older).map(str::to_owned)
    }
}
