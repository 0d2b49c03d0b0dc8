//! `openai.chat`: `POST /v1/chat/completions`.

use serde::{Deserialize, Serialize};

use super::event::{Piece, Told};
use super::openai::{Choice, Envelope};
use super::quirks::{Quirks, Wish};
use super::wire::{Count, Few, Text};
use super::{Body, Message};

pub(super) const ROUTE: &str = "v1/chat/completions";

#[derive(Serialize)]
struct Fields<'a> {
    model: &'a str,
    messages: &'a [Message<'a>],
    #[serde(flatten)]
    wish: Wish,
}

pub(super) fn body(model: &str, messages: &[Message<'_>], max_tokens: u32, quirks: Quirks) -> Body {
    let wish = Wish { max_tokens, quirks };
    serde_json::to_vec(&Fields {
        model,
        messages,
        wish,
    })
}

pub(super) fn read(data: &[u8], on: &mut dyn FnMut(Piece<'_>)) -> Result<Told, serde_json::Error> {
    Ok(serde_json::from_slice::<Envelope<'_, ChatChoice<'_>>>(data)?.tell(on))
}

#[derive(Deserialize)]
struct ChatChoice<'a> {
    #[serde(default)]
    index: Count,
    #[serde(default, borrow)]
    delta: Option<Delta<'a>>,
    #[serde(default, borrow)]
    finish_reason: Text<'a>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(default, borrow)]
    content: Text<'a>,
    #[serde(default, borrow)]
    reasoning_content: Text<'a>,
    #[serde(default, borrow)]
    reasoning: Text<'a>,
    #[serde(default, borrow)]
    thinking: Text<'a>,
    #[serde(default, borrow)]
    tool_calls: Few<ToolCall<'a>>,
    #[serde(default, borrow)]
    function_call: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(default)]
    index: Count,
    #[serde(default, borrow)]
    function: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(default, borrow)]
    name: Text<'a>,
    #[serde(default, borrow)]
    arguments: Text<'a>,
}

impl Choice for ChatChoice<'_> {
    fn index(&self) -> u32 {
        self.index.0.unwrap_or(0)
    }

    fn pieces(&self, on: &mut dyn FnMut(Piece<'_>)) {
        let Some(delta) = &self.delta else { return };
        // Some servers send the same thinking under two names: the first that is not empty stands for all.
        let thinking = [&delta.reasoning_content, &delta.reasoning, &delta.thinking];
        if let Some(text) = thinking.iter().find(|text| !text.0.is_empty()) {
            on(Piece::Reasoning(&text.0));
        }
        if !delta.content.0.is_empty() {
            on(Piece::Answer(&delta.content.0));
        }
        let listed = delta.tool_calls.iter().enumerate();
        let listed = listed.filter_map(|(place, call)| {
            Some((
                call.index.0.unwrap_or(place as u32),
                call.function.as_ref()?,
            ))
        });
        for (index, function) in
            listed.chain(delta.function_call.iter().map(|function| (0, function)))
        {
            if !function.name.0.is_empty() || !function.arguments.0.is_empty() {
                on(Piece::ToolCall(
                    index,
                    &function.name.0,
                    &function.arguments.0,
                ));
            }
        }
    }

    fn finish_reason(&self) -> &str {
        &self.finish_reason.0
    }
}
