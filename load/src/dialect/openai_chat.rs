//! `openai.chat`: `POST /v1/chat/completions`.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::openai::{Choice, Envelope, Piece, Text, Told, Wish};

pub(super) const ROUTE: &str = "chat/completions";

/// A message of a conversation.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Message<'a> {
    /// `user` or `assistant`.
    pub role: &'static str,
    /// Its text.
    pub content: &'a str,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: &'a [Message<'a>],
    #[serde(flatten)]
    wish: Wish,
}

/// The body of a request.
pub fn body(
    model: &str,
    messages: &[Message<'_>],
    max_tokens: u32,
) -> Result<Bytes, serde_json::Error> {
    serde_json::to_vec(&Body {
        model,
        messages,
        wish: Wish::new(max_tokens),
    })
    .map(Bytes::from)
}

pub(super) fn read(data: &[u8], on: &mut dyn FnMut(Piece<'_>)) -> Result<Told, serde_json::Error> {
    Ok(serde_json::from_slice::<Envelope<'_, ChatChoice<'_>>>(data)?.tell(on))
}

#[derive(Deserialize)]
struct ChatChoice<'a> {
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
    tool_calls: Option<Vec<ToolCall<'a>>>,
    #[serde(default, borrow)]
    function_call: Option<Function<'a>>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    #[serde(default)]
    index: Option<u32>,
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
        let listed = delta.tool_calls.iter().flatten().enumerate();
        let listed = listed.filter_map(|(place, call)| {
            Some((call.index.unwrap_or(place as u32), call.function.as_ref()?))
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
