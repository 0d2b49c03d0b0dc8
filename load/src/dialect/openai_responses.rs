//! `openai.responses`: `POST /v1/responses`, whose events say their type.
//!
//! `response.completed` and its kin are the end mark; they have usage and the status.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::{Counts, Piece, Told};
use super::quirks::Quirks;
use super::wire::{Count, Text, error_text};
use super::{Body, Message};

pub(super) const ROUTE: &str = "v1/responses";

#[derive(Serialize)]
struct Fields<'a> {
    model: &'a str,
    input: &'a [Message<'a>],
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ignore_eos: Option<bool>,
    /// Nothing is to be kept by the server.
    store: bool,
    stream: bool,
}

pub(super) fn body(model: &str, messages: &[Message<'_>], max_tokens: u32, quirks: Quirks) -> Body {
    serde_json::to_vec(&Fields {
        model,
        input: messages,
        max_output_tokens: max_tokens,
        temperature: quirks.temperature.then_some(0.0),
        ignore_eos: quirks.ignore_eos.then_some(true),
        store: false,
        stream: true,
    })
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(default, borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(default, borrow)]
    delta: Text<'a>,
    #[serde(default)]
    output_index: Count,
    #[serde(default, borrow)]
    item: Option<Item<'a>>,
    #[serde(default, borrow)]
    response: Option<Response<'a>>,
    #[serde(default)]
    error: Option<Value>,
    #[serde(default, borrow)]
    message: Text<'a>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(default, borrow)]
    name: Text<'a>,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(default, borrow)]
    status: Text<'a>,
    #[serde(default, borrow)]
    incomplete_details: Option<Incomplete<'a>>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Incomplete<'a> {
    #[serde(default, borrow)]
    reason: Text<'a>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    input_tokens: Count,
    #[serde(default)]
    output_tokens: Count,
    #[serde(default)]
    input_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: Count,
}

pub(super) fn read(data: &[u8], on: &mut dyn FnMut(Piece<'_>)) -> Result<Told, serde_json::Error> {
    let event: Event<'_> = serde_json::from_slice(data)?;
    event.pieces(on);
    Ok(event.told())
}

impl<'a> Event<'a> {
    fn pieces(&self, on: &mut dyn FnMut(Piece<'_>)) {
        let index = self.output_index.0.unwrap_or(0);
        match (self.kind.0.as_ref(), self.delta.0.as_ref(), &self.item) {
            ("response.output_item.added", _, Some(item)) if !item.name.0.is_empty() => {
                on(Piece::ToolCall(index, &item.name.0, ""));
            }
            (_, "", _) => {}
            ("response.output_text.delta" | "response.refusal.delta", text, _) => {
                on(Piece::Answer(text));
            }
            (
                "response.reasoning_text.delta" | "response.reasoning_summary_text.delta",
                text,
                _,
            ) => {
                on(Piece::Reasoning(text));
            }
            (
                "response.function_call_arguments.delta"
                | "response.mcp_call_arguments.delta"
                | "response.custom_tool_call_input.delta"
                | "response.code_interpreter_call_code.delta",
                text,
                _,
            ) => on(Piece::ToolCall(index, "", text)),
            _ => {}
        }
    }

    fn told(self) -> Told {
        let mut told = Told {
            error: self.error.as_ref().and_then(error_text),
            ..Told::default()
        };
        let kind = self.kind.0;
        if kind == "error" && told.error.is_none() {
            told.error = Some(self.message.0.into_owned());
        }
        let ended = matches!(
            kind.as_ref(),
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled"
        );
        if let Some(response) = self.response.filter(|_| ended) {
            told.end = true;
            told.response(&kind, response);
        }
        told
    }
}

impl Told {
    fn response(&mut self, kind: &str, response: Response<'_>) {
        if let Some(usage) = response.usage {
            self.usage = Some(Counts {
                output: usage.output_tokens.0,
                prompt: usage.input_tokens.0,
                cached: usage
                    .input_tokens_details
                    .and_then(|details| details.cached_tokens.0),
            });
        }
        let said = response.error.as_ref().and_then(error_text);
        if kind == "response.failed" {
            let failed = || "the engine failed (response.failed)".to_owned();
            self.error = said.or_else(|| Some(failed()));
        }
        if kind == "response.cancelled" {
            self.finish_reason = Some("abort".into());
            return;
        }
        let reason = response.incomplete_details.map(|it| it.reason.0);
        let reason = reason.filter(|reason| !reason.is_empty());
        let named = reason.unwrap_or(response.status.0).into_owned();
        self.finish_reason = Some(named).filter(|name| !name.is_empty());
    }
}
