//! `ollama.chat`: `POST /api/chat` of Ollama, one JSON object a line.
//!
//! `done: true` is the end mark, and its line has the counts; a count of the prompt is missing when it was cached. There
//! is no field that makes it go on past the end of sequence. A prompt longer than its context is cut without a word.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::{Counts, Piece, Told};
use super::wire::{Count, Few, Flag, Text, error_text};
use super::{Body, Message};

pub(super) const ROUTE: &str = "api/chat";

#[derive(Serialize)]
struct Fields<'a> {
    model: &'a str,
    messages: &'a [Message<'a>],
    stream: bool,
    options: Options,
}

#[derive(Serialize)]
struct Options {
    num_predict: u32,
    temperature: f32,
    seed: u32,
}

pub(super) fn body(model: &str, messages: &[Message<'_>], max_tokens: u32) -> Body {
    serde_json::to_vec(&Fields {
        model,
        messages,
        stream: true,
        options: Options {
            num_predict: max_tokens,
            temperature: 0.0,
            seed: 0,
        },
    })
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(default, borrow)]
    message: Option<Said<'a>>,
    /// What `/api/generate` says instead of a message.
    #[serde(default, borrow)]
    response: Text<'a>,
    #[serde(default)]
    done: Flag,
    #[serde(default, borrow)]
    done_reason: Text<'a>,
    #[serde(default)]
    prompt_eval_count: Count,
    #[serde(default)]
    eval_count: Count,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Said<'a> {
    #[serde(default, borrow)]
    content: Text<'a>,
    #[serde(default, borrow)]
    thinking: Text<'a>,
    #[serde(default, borrow)]
    tool_calls: Few<ToolCall<'a>>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(default, borrow)]
    function: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(default, borrow)]
    name: Text<'a>,
    #[serde(default)]
    index: Count,
    /// An object, whole.
    #[serde(default)]
    arguments: Option<Value>,
}

pub(super) fn read(data: &[u8], on: &mut dyn FnMut(Piece<'_>)) -> Result<Told, serde_json::Error> {
    let line: Line<'_> = serde_json::from_slice(data)?;
    if let Some(said) = &line.message {
        said.pieces(on);
    }
    if !line.response.0.is_empty() {
        on(Piece::Answer(&line.response.0));
    }
    let counts = Counts {
        output: line.eval_count.0,
        prompt: line.prompt_eval_count.0,
        cached: None,
    };
    let reason = line.done_reason.0;
    Ok(Told {
        finish_reason: (line.done.0 && !reason.is_empty()).then(|| reason.into_owned()),
        engine: line.done.0.then_some(counts),
        error: line.error.as_ref().and_then(error_text),
        end: line.done.0,
        ..Told::default()
    })
}

impl Said<'_> {
    fn pieces(&self, on: &mut dyn FnMut(Piece<'_>)) {
        if !self.thinking.0.is_empty() {
            on(Piece::Reasoning(&self.thinking.0));
        }
        if !self.content.0.is_empty() {
            on(Piece::Answer(&self.content.0));
        }
        for (place, call) in self.tool_calls.iter().enumerate() {
            let Some(function) = &call.function else {
                continue;
            };
            let arguments = function.arguments.as_ref().map(Value::to_string);
            let arguments = arguments.filter(|text| text != "null" && text != "\"\"");
            if !function.name.0.is_empty() || arguments.is_some() {
                let index = function.index.0.unwrap_or(place as u32);
                on(Piece::ToolCall(
                    index,
                    &function.name.0,
                    &arguments.unwrap_or_default(),
                ));
            }
        }
    }
}
