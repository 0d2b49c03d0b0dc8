//! What the bytes of a response mean: a pure state machine from `(at, bytes)` to a [`RequestRecord`].
//!
//! [`Stream`] knows no socket and no clock; whoever reads the bytes says when. The rules are those of
//! docs/metrics.md ("What counts"); each wire dialect has a file that takes its events apart and makes its requests.
//! docs/guide/dialects.md has them in a table.
//!
//! [`RequestRecord`]: measure::request::RequestRecord

mod decoder; // bytes to events, whatever the framing
mod event; // what an event says
mod llamacpp;
mod ollama;
mod openai; // what the OpenAI-shaped ones share
mod openai_chat;
mod openai_completions;
mod openai_responses;
mod quirks; // what requests may say
mod seen; // what the events of a stream have said
mod sglang;
mod stream; // one response
mod tgi;
mod triton;
mod wire; // the tolerance that real servers need

use std::borrow::Cow;

use bytes::Bytes;
use measure::study::Api;
use measure::units::Nanos;
use serde::Serialize;

use event::{Piece, Told};
use sglang::SoFar;

pub use quirks::{Limit, Quirks};
pub use stream::{End, Flow, Head, Stream};

/// When bytes arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// When they were read.
    pub at: Nanos,
    /// When the kernel received them, where it says so.
    pub kernel: Option<Nanos>,
}

impl Moment {
    /// The kernel's moment where there is one, else our own.
    pub fn arrived(self) -> Nanos {
        self.kernel.unwrap_or(self.at)
    }
}

impl From<Nanos> for Moment {
    fn from(at: Nanos) -> Self {
        Self { at, kernel: None }
    }
}

/// Who a response answers: the part of a record that is known before anything is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The request's own id.
    pub request_id: String,
    /// Index of the session within the point.
    pub session: u32,
    /// Index of the turn within the session.
    pub turn: u32,
    /// The intended start.
    pub scheduled: Nanos,
    /// Input tokens meant.
    pub input_tokens: u32,
    /// Output tokens asked for.
    pub output_tokens: u32,
}

/// A message of a conversation.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Message<'a> {
    /// `user` or `assistant`.
    pub role: &'static str,
    /// Its text.
    pub content: &'a str,
}

type Body = Result<Vec<u8>, serde_json::Error>;

/// The body of a request for `max_tokens` tokens. Dialects without messages get their texts as one prompt.
pub fn body(
    api: Api,
    model: &str,
    messages: &[Message<'_>],
    max_tokens: u32,
    quirks: Quirks,
) -> Result<Bytes, serde_json::Error> {
    let body = match api {
        Api::OpenAiChat => openai_chat::body(model, messages, max_tokens, quirks),
        Api::OpenAiCompletions => openai_completions::body(model, messages, max_tokens, quirks),
        Api::OpenAiResponses => openai_responses::body(model, messages, max_tokens, quirks),
        Api::OllamaChat => ollama::body(model, messages, max_tokens),
        Api::TgiGenerateStream => tgi::body(messages, max_tokens),
        Api::TritonGenerateStream => triton::body(messages, max_tokens, quirks),
        Api::SglangGenerate => sglang::body(messages, max_tokens, quirks),
        Api::LlamacppCompletion => llamacpp::body(model, messages, max_tokens, quirks),
    };
    // Of a hundred thousand bodies the spare room would be megabytes.
    body.map(|body| Bytes::from(body.into_boxed_slice()))
}

/// The texts of a conversation as one prompt.
fn prompt(messages: &[Message<'_>]) -> String {
    let texts: Vec<&str> = messages.iter().map(|message| message.content).collect();
    texts.join(" ")
}

/// The path of a dialect's route, from the root of the engine.
pub(crate) fn route(api: Api, model: &str) -> Cow<'static, str> {
    Cow::Borrowed(match api {
        Api::OpenAiChat => openai_chat::ROUTE,
        Api::OpenAiCompletions => openai_completions::ROUTE,
        Api::OpenAiResponses => openai_responses::ROUTE,
        Api::OllamaChat => ollama::ROUTE,
        Api::TgiGenerateStream => tgi::ROUTE,
        Api::TritonGenerateStream => return Cow::Owned(triton::route(model)),
        Api::SglangGenerate => sglang::ROUTE,
        Api::LlamacppCompletion => llamacpp::ROUTE,
    })
}

/// The header that a key goes into, and how: Azure takes keys in one of its own.
pub(crate) fn key_header(url: &str, key: &str) -> (&'static str, String) {
    let url = url.to_ascii_lowercase();
    let azure = [".azure.com", "/openai/deployments/"];
    if azure.iter().any(|part| url.contains(part)) {
        ("api-key", key.to_owned())
    } else {
        ("authorization", format!("Bearer {key}"))
    }
}

/// How the events of a dialect lie in the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    /// Server-sent events.
    EventStream,
    /// A JSON object a line.
    Lines,
}

fn framing(api: Api) -> Framing {
    match api {
        Api::OllamaChat => Framing::Lines,
        _ => Framing::EventStream,
    }
}

/// The dialect's end mark, in words; `None` where the end of the body is all there is.
fn end_mark(api: Api) -> Option<&'static str> {
    match api {
        Api::OpenAiChat | Api::OpenAiCompletions | Api::SglangGenerate => {
            Some("[DONE] and without a finish reason")
        }
        Api::OpenAiResponses => Some("response.completed"),
        Api::OllamaChat => Some("\"done\": true"),
        Api::TgiGenerateStream => Some("generated_text"),
        Api::LlamacppCompletion => Some("\"stop\": true"),
        Api::TritonGenerateStream => None,
    }
}

/// Takes one event apart.
fn read(
    api: Api,
    data: &[u8],
    so_far: &mut SoFar,
    on: &mut dyn FnMut(Piece<'_>),
) -> Result<Told, serde_json::Error> {
    match api {
        Api::OpenAiChat => openai_chat::read(data, on),
        Api::OpenAiCompletions => openai_completions::read(data, on),
        Api::OpenAiResponses => openai_responses::read(data, on),
        Api::OllamaChat => ollama::read(data, on),
        Api::TgiGenerateStream => tgi::read(data, on),
        Api::TritonGenerateStream => triton::read(data, on),
        Api::SglangGenerate => sglang::read(data, so_far, on),
        Api::LlamacppCompletion => llamacpp::read(data, on),
    }
}

#[cfg(test)]
mod tests;
