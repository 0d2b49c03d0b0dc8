//! `sglang.generate`: `POST /generate` of SGLang, whose events repeat the text so far.
//!
//! An event with nothing new is no token. Servers started with `--stream-output` send only what is new instead; that
//! shows where a text does not go on from the one before.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::{Counts, Piece, Told};
use super::quirks::Quirks;
use super::wire::{Count, Length, Text, error_text};
use super::{Body, Message, prompt};

pub(super) const ROUTE: &str = "generate";

#[derive(Serialize)]
struct Fields {
    text: String,
    sampling_params: Sampling,
    stream: bool,
}

#[derive(Serialize)]
struct Sampling {
    max_new_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_new_tokens: Option<u32>,
    temperature: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    ignore_eos: Option<bool>,
}

pub(super) fn body(messages: &[Message<'_>], max_tokens: u32, quirks: Quirks) -> Body {
    serde_json::to_vec(&Fields {
        text: prompt(messages),
        sampling_params: Sampling {
            max_new_tokens: max_tokens,
            min_new_tokens: quirks.min_tokens.then_some(max_tokens),
            temperature: 0.0,
            ignore_eos: quirks.ignore_eos.then_some(true),
        },
        stream: true,
    })
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(default, borrow)]
    text: Text<'a>,
    #[serde(default)]
    output_ids: Length,
    #[serde(default)]
    meta_info: Option<Meta>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(default)]
    finish_reason: Option<Value>,
    #[serde(default)]
    completion_tokens: Count,
    #[serde(default)]
    cached_tokens: Count,
}

pub(super) fn read(
    data: &[u8],
    so_far: &mut SoFar,
    on: &mut dyn FnMut(Piece<'_>),
) -> Result<Told, serde_json::Error> {
    let event: Event<'_> = serde_json::from_slice(data)?;
    let counted = event
        .meta_info
        .as_ref()
        .and_then(|meta| meta.completion_tokens.0);
    if let Some(piece) = so_far.news(&event.text.0, event.output_ids.0, counted) {
        on(piece);
    }
    let mut told = Told {
        error: event.error.as_ref().and_then(error_text),
        ..Told::default()
    };
    if let Some(meta) = event.meta_info {
        told.engine = Some(Counts {
            output: meta.completion_tokens.0,
            prompt: None,
            cached: meta.cached_tokens.0,
        });
        told.finish(meta.finish_reason);
    }
    Ok(told)
}

impl Told {
    /// `{"type": "length", "length": 4}`, or a bare name. An abort has a message of its own.
    fn finish(&mut self, reason: Option<Value>) {
        let Some(reason) = reason else { return };
        let name = reason.get("type").unwrap_or(&reason).as_str();
        self.finish_reason = name.map(str::to_owned).filter(|name| !name.is_empty());
        if name == Some("abort") && self.error.is_none() {
            self.abort = reason["message"].as_str().map(str::to_owned);
        }
    }
}

/// The end of a text: enough of it to know whether the next one goes on from it.
const TAIL: usize = 32;
/// What stands for a character that is not whole yet.
const NOT_WHOLE: char = char::REPLACEMENT_CHARACTER;

/// What the events before have said: the length of their text, and its end.
#[derive(Clone, Debug, Default)]
pub(super) struct SoFar {
    length: usize,
    /// Its length without characters at its end that were not whole: those may be replaced.
    firm: usize,
    /// The last bytes of the firm part.
    tail: [u8; TAIL],
    /// The server was seen to send only what is new.
    only_new: bool,
}

impl SoFar {
    /// The piece that is new in an event with so many token ids, of so many tokens in all.
    fn news<'a>(&mut self, text: &'a str, ids: u32, counted: Option<u32>) -> Option<Piece<'a>> {
        // An error has no text, and takes nothing back.
        if text.is_empty() {
            return None;
        }
        let few_ids = counted.is_some_and(|n| 2 < n && 0 < ids && ids <= n / 2);
        self.only_new |= few_ids || !self.is_begun_by(text.as_bytes());
        if self.only_new {
            return Some(Piece::Answer(text));
        }
        let not_whole = |text: &str| text.chars().all(|c| c == NOT_WHOLE);
        let nothing_new = text.len() == self.length && text.get(self.firm..).is_some_and(not_whole);
        self.remember(text);
        (!nothing_new).then_some(Piece::AnswerSoFar(text))
    }

    fn is_begun_by(&self, text: &[u8]) -> bool {
        let kept = self.firm.min(TAIL);
        self.firm <= text.len() && text[self.firm - kept..self.firm] == self.tail[..kept]
    }

    fn remember(&mut self, text: &str) {
        let firm = text.trim_end_matches(NOT_WHOLE).as_bytes();
        let kept = firm.len().min(TAIL);
        self.tail[..kept].copy_from_slice(&firm[firm.len() - kept..]);
        self.firm = firm.len();
        self.length = text.len();
    }
}
