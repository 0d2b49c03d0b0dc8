//! `tgi.generate_stream`: `POST /generate_stream` of Text Generation Inference.
//!
//! One event a token; the last one has the whole text and the counts, which is the end mark. Special tokens (`</s>`) are
//! counted by the engine but are no text. There is no field that makes it go on past the end of sequence.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::{Counts, Piece, Told};
use super::wire::{Count, Flag, Text, error_text};
use super::{Body, Message, prompt};

pub(super) const ROUTE: &str = "generate_stream";

#[derive(Serialize)]
struct Fields {
    inputs: String,
    parameters: Parameters,
}

#[derive(Serialize)]
struct Parameters {
    max_new_tokens: u32,
    do_sample: bool,
    details: bool,
}

pub(super) fn body(messages: &[Message<'_>], max_tokens: u32) -> Body {
    serde_json::to_vec(&Fields {
        inputs: prompt(messages),
        parameters: Parameters {
            max_new_tokens: max_tokens,
            do_sample: false,
            details: true,
        },
    })
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(default, borrow)]
    token: Option<Token<'a>>,
    #[serde(default)]
    generated_text: Option<Value>,
    #[serde(default, borrow)]
    details: Option<Details<'a>>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Token<'a> {
    #[serde(default, borrow)]
    text: Text<'a>,
    #[serde(default)]
    special: Flag,
}

#[derive(Deserialize)]
struct Details<'a> {
    #[serde(default, borrow)]
    finish_reason: Text<'a>,
    #[serde(default)]
    generated_tokens: Count,
    #[serde(default)]
    input_length: Count,
}

pub(super) fn read(data: &[u8], on: &mut dyn FnMut(Piece<'_>)) -> Result<Told, serde_json::Error> {
    let event: Event<'_> = serde_json::from_slice(data)?;
    if let Some(token) = event.token
        && !token.special.0
        && !token.text.0.is_empty()
    {
        on(Piece::Answer(&token.text.0));
    }
    let mut told = Told {
        error: event.error.as_ref().and_then(error_text),
        end: event.generated_text.is_some(),
        ..Told::default()
    };
    if let Some(details) = event.details {
        told.finish_reason = Some(details.finish_reason.0.into_owned()).filter(|it| !it.is_empty());
        told.engine = Some(Counts {
            output: details.generated_tokens.0,
            prompt: details.input_length.0,
            cached: None,
        });
    }
    Ok(told)
}
