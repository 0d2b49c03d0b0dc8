//! `triton.generate_stream`: `POST /v2/models/{model}/generate_stream` of Triton, before TensorRT-LLM or vLLM.
//!
//! Nothing marks the end but the end itself, and nobody counts tokens. Fields beside `text_input` are the model's own
//! inputs (TensorRT-LLM) or request parameters (vLLM): both know these.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::{Piece, Told};
use super::quirks::Quirks;
use super::wire::{Text, error_text};
use super::{Body, Message, prompt};

/// The route of a model.
pub(super) fn route(model: &str) -> String {
    format!("v2/models/{}/generate_stream", model.replace('/', "%2F"))
}

#[derive(Serialize)]
struct Fields {
    text_input: String,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    ignore_eos: Option<bool>,
}

pub(super) fn body(messages: &[Message<'_>], max_tokens: u32, quirks: Quirks) -> Body {
    serde_json::to_vec(&Fields {
        text_input: prompt(messages),
        max_tokens,
        stream: true,
        ignore_eos: quirks.ignore_eos.then_some(true),
    })
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(default, borrow)]
    text_output: Text<'a>,
    #[serde(default)]
    error: Option<Value>,
}

pub(super) fn read(data: &[u8], on: &mut dyn FnMut(Piece<'_>)) -> Result<Told, serde_json::Error> {
    let event: Event<'_> = serde_json::from_slice(data)?;
    if !event.text_output.0.is_empty() {
        on(Piece::Answer(&event.text_output.0));
    }
    Ok(Told {
        error: event.error.as_ref().and_then(error_text),
        ..Told::default()
    })
}
