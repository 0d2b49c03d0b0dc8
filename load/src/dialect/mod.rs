//! What the bytes of a response mean: a pure state machine from `(at, bytes)` to a [`RequestRecord`].
//!
//! [`Stream`] knows no socket and no clock; whoever reads the bytes says when. The rules are those of
//! docs/metrics.md ("What counts"); each wire dialect has a file that takes its events apart.

mod openai;
pub mod openai_chat;
pub mod openai_completions;
mod seen;
mod stream;

use measure::study::Api;
use measure::units::Nanos;

pub use stream::{End, Flow, Head, Stream};

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

/// The part of the URL after `/v1/`.
pub(crate) fn route(api: Api) -> &'static str {
    match api {
        Api::OpenAiChat => openai_chat::ROUTE,
        Api::OpenAiCompletions => openai_completions::ROUTE,
    }
}

#[cfg(test)]
mod tests;
