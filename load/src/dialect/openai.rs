//! What the OpenAI-shaped dialects have in common: the envelope of an event, usage, errors, and the tolerance they need.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// A non-empty piece of output within an event.
pub(super) enum Piece<'a> {
    Answer(&'a str),
    Reasoning(&'a str),
    /// Name and arguments of the tool call with this index, either of them possibly empty.
    ToolCall(u32, &'a str, &'a str),
}

/// One event, whatever the shape of its choices.
#[derive(Deserialize)]
#[serde(bound(deserialize = "C: Deserialize<'de>"))]
pub(super) struct Envelope<'a, C> {
    #[serde(default)]
    choices: Option<Vec<C>>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    timings: Option<Timings>,
    #[serde(default)]
    error: Option<Value>,
    #[serde(default, borrow)]
    object: Text<'a>,
    #[serde(default, borrow)]
    message: Text<'a>,
}

/// A choice, as each dialect has it.
pub(super) trait Choice {
    fn pieces(&self, on: &mut dyn FnMut(Piece<'_>));
    fn finish_reason(&self) -> &str;
}

/// What an event says beside its pieces.
#[derive(Default)]
pub(super) struct Told {
    pub finish_reason: Option<String>,
    pub usage: Option<Usage>,
    pub timings: Option<Timings>,
    pub error: Option<String>,
}

impl<C: Choice> Envelope<'_, C> {
    pub(super) fn tell(self, on: &mut dyn FnMut(Piece<'_>)) -> Told {
        let Self {
            choices,
            usage,
            timings,
            error,
            object,
            message,
        } = self;
        let mut told = Told {
            usage,
            timings,
            error: error.as_ref().and_then(error_text),
            finish_reason: None,
        };
        if told.error.is_none() && object.0 == "error" {
            told.error = Some(message.0.into_owned());
        }
        for choice in choices.iter().flatten() {
            choice.pieces(on);
            let reason = choice.finish_reason();
            if !reason.is_empty() {
                told.finish_reason = Some(reason.to_owned());
            }
        }
        told
    }
}

/// The text of an `error` field; `None` where the field says that there is none.
fn error_text(error: &Value) -> Option<String> {
    match error {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) => (!text.is_empty()).then(|| text.clone()),
        Value::Object(fields) => Some(match fields.get("message") {
            Some(Value::String(message)) => message.clone(),
            _ => error.to_string(),
        }),
        other => Some(other.to_string()),
    }
}

/// The words for people in the body of a refused request: the message of its error object, else the whole text.
pub(super) fn refusal_text(body: &[u8]) -> String {
    let whole = || String::from_utf8_lossy(body).into_owned();
    let Ok(value) = serde_json::from_slice::<Value>(body) else {
        return whole();
    };
    let named = value.get("error").and_then(error_text);
    let bare = || {
        ["message", "detail"]
            .iter()
            .find_map(|key| value.get(key)?.as_str().map(str::to_owned))
    };
    named.or_else(bare).unwrap_or_else(whole)
}

/// Token counts; running or final, per event or once.
#[derive(Clone, Copy, Default, Deserialize)]
pub(super) struct Usage {
    #[serde(default)]
    pub prompt_tokens: Count,
    #[serde(default)]
    pub completion_tokens: Count,
    #[serde(default)]
    prompt_tokens_details: Option<PromptDetails>,
}

impl Usage {
    pub(super) fn cached_tokens(self) -> Option<u32> {
        self.prompt_tokens_details?.cached_tokens.0
    }
}

#[derive(Clone, Copy, Default, Deserialize)]
struct PromptDetails {
    #[serde(default)]
    cached_tokens: Count,
}

/// llama.cpp's own figures: a hint from the engine, not usage.
#[derive(Clone, Copy, Default, Deserialize)]
pub(super) struct Timings {
    #[serde(default)]
    pub predicted_n: Count,
    #[serde(default)]
    pub cache_n: Count,
}

/// A count that may be absent, null, or written as a float; anything else is as good as absent.
#[derive(Clone, Copy, Default)]
pub(super) struct Count(pub Option<u32>);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let whole = value.as_u64().or_else(|| {
            value
                .as_f64()
                .filter(|n| *n >= 0.0 && n.fract() == 0.0)
                .map(|n| n as u64)
        });
        Ok(Self(whole.and_then(|n| u32::try_from(n).ok())))
    }
}

/// A string that may be absent, null or a list of parts with text; anything else is as good as empty.
#[derive(Default)]
pub(super) struct Text<'a>(pub Cow<'a, str>);

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(default, borrow)]
    text: Text<'a>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor).map(Text)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        let mut joined = String::new();
        while let Some(part) = parts.next_element::<Part<'de>>()? {
            joined.push_str(&part.text.0);
        }
        Ok(Cow::Owned(joined))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Cow::Borrowed(""))
    }
}

/// What every request of these dialects asks for beside its prompt.
///
/// Greedy and to the full length, so that the work is the same whatever the engine makes of it; engines that do not
/// know a field ignore it.
#[derive(serde::Serialize)]
pub(super) struct Wish {
    max_tokens: u32,
    temperature: f32,
    seed: u64,
    ignore_eos: bool,
    stream: bool,
    stream_options: StreamOptions,
}

#[derive(serde::Serialize)]
struct StreamOptions {
    include_usage: bool,
}

impl Wish {
    pub(super) fn new(max_tokens: u32) -> Self {
        let stream_options = StreamOptions {
            include_usage: true,
        };
        Self {
            max_tokens,
            temperature: 0.0,
            seed: 0,
            ignore_eos: true,
            stream: true,
            stream_options,
        }
    }
}
