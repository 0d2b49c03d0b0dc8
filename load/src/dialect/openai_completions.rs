//! `openai.completions`: `POST /v1/completions`.

use serde::{Deserialize, Serialize};

use super::event::{Piece, Told};
use super::openai::{Choice, Envelope};
use super::quirks::{Quirks, Wish};
use super::wire::{Count, Text};
use super::{Body, Message, prompt};

pub(super) const ROUTE: &str = "v1/completions";

#[derive(Serialize)]
struct Fields<'a> {
    model: &'a str,
    prompt: String,
    #[serde(flatten)]
    wish: Wish,
}

pub(super) fn body(model: &str, messages: &[Message<'_>], max_tokens: u32, quirks: Quirks) -> Body {
    let wish = Wish { max_tokens, quirks };
    serde_json::to_vec(&Fields {
        model,
        prompt: prompt(messages),
        wish,
    })
}

pub(super) fn read(data: &[u8], on: &mut dyn FnMut(Piece<'_>)) -> Result<Told, serde_json::Error> {
    Ok(serde_json::from_slice::<Envelope<'_, TextChoice<'_>>>(data)?.tell(on))
}

#[derive(Deserialize)]
struct TextChoice<'a> {
    #[serde(default)]
    index: Count,
    #[serde(default, borrow)]
    text: Text<'a>,
    #[serde(default, borrow)]
    finish_reason: Text<'a>,
}

impl Choice for TextChoice<'_> {
    fn index(&self) -> u32 {
        self.index.0.unwrap_or(0)
    }

    fn pieces(&self, on: &mut dyn FnMut(Piece<'_>)) {
        if !self.text.0.is_empty() {
            on(Piece::Answer(&self.text.0));
        }
    }

    fn finish_reason(&self) -> &str {
        &self.finish_reason.0
    }
}
