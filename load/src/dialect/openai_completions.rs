//! `openai.completions`: `POST /v1/completions`.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::openai::{Choice, Envelope, Piece, Text, Told, Wish};

pub(super) const ROUTE: &str = "completions";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    prompt: &'a str,
    #[serde(flatten)]
    wish: Wish,
}

/// The body of a request.
pub fn body(model: &str, prompt: &str, max_tokens: u32) -> Result<Bytes, serde_json::Error> {
    serde_json::to_vec(&Body {
        model,
        prompt,
        wish: Wish::new(max_tokens),
    })
    .map(Bytes::from)
}

pub(super) fn read(data: &[u8], on: &mut dyn FnMut(Piece<'_>)) -> Result<Told, serde_json::Error> {
    Ok(serde_json::from_slice::<Envelope<'_, TextChoice<'_>>>(data)?.tell(on))
}

#[derive(Deserialize)]
struct TextChoice<'a> {
    #[serde(default, borrow)]
    text: Text<'a>,
    #[serde(default, borrow)]
    finish_reason: Text<'a>,
}

impl Choice for TextChoice<'_> {
    fn pieces(&self, on: &mut dyn FnMut(Piece<'_>)) {
        if !self.text.0.is_empty() {
            on(Piece::Answer(&self.text.0));
        }
    }

    fn finish_reason(&self) -> &str {
        &self.finish_reason.0
    }
}
