//! From a request's body to asks for the engine. Unknown fields are ignored, as vLLM does.

use serde_json::{Map, Value};

use super::error::Refusal;
use crate::config::Config;
use crate::engine::{Ask, prompt_hashes};
use crate::tokens::{Token, answer_seed, chat_prompt, push_text};

/// Tokens of a completion that asks for none.
const DEFAULT_COMPLETION_TOKENS: u32 = 16;
/// Most choices of one request.
const MOST_CHOICES: usize = 128;

/// Which of the two routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Chat,
    Completions,
}

/// A request, understood and checked.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub kind: Kind,
    pub stream: bool,
    pub include_usage: bool,
    pub continuous_usage: bool,
    /// Tokens of all prompts, each counted once.
    pub prompt_tokens: u64,
    /// One a choice.
    pub asks: Vec<Ask>,
}

/// Reads a body for the engine that `config` describes.
pub(super) fn read(kind: Kind, body: &[u8], config: &Config) -> Result<Asked, Refusal> {
    let fields = match serde_json::from_slice(body) {
        Ok(Value::Object(fields)) => Fields(fields),
        Ok(_) => {
            return Err(Refusal::NotJson {
                cause: "the body must be an object".to_owned(),
            });
        }
        Err(cause) => {
            return Err(Refusal::NotJson {
                cause: cause.to_string(),
            });
        }
    };
    check_model(&fields, config)?;
    let prompts = match kind {
        Kind::Chat => vec![fields.chat()?],
        Kind::Completions => fields.prompts()?,
    };
    let choices = fields.whole("n")?.unwrap_or(1);
    let n = usize::try_from(choices)
        .ok()
        .filter(|n| 0 < *n && n * prompts.len() <= MOST_CHOICES)
        .ok_or_else(|| {
            let message = format!(
                "n must be at least 1 and give at most {MOST_CHOICES} choices, got {choices}."
            );
            Refusal::BadValue {
                field: "n",
                message,
                value: choices,
            }
        })?;
    let options = fields.0.get("stream_options").and_then(Value::as_object);
    let option = |name| {
        options
            .and_then(|options| options.get(name))
            .and_then(Value::as_bool)
            .unwrap_or(false)
    };
    Ok(Asked {
        kind,
        stream: fields.switch("stream")?,
        include_usage: option("include_usage"),
        continuous_usage: option("continuous_usage_stats"),
        prompt_tokens: prompts.iter().map(|prompt| prompt.len() as u64).sum(),
        asks: asks(prompts, n, &fields, kind, config)?,
    })
}

/// Without a model the engine's own is meant, as in vLLM.
fn check_model(fields: &Fields, config: &Config) -> Result<(), Refusal> {
    match fields.0.get("model") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(asked)) if *asked == config.model => Ok(()),
        Some(Value::String(asked)) => Err(Refusal::UnknownModel {
            asked: asked.clone(),
            served: config.model.clone(),
        }),
        Some(_) => Err(wrong("model", "a valid string")),
    }
}

fn asks(
    prompts: Vec<Vec<Token>>,
    n: usize,
    fields: &Fields,
    kind: Kind,
    config: &Config,
) -> Result<Vec<Ask>, Refusal> {
    let seed = fields.whole("seed")?.unwrap_or(0).cast_unsigned();
    let mut asks = Vec::with_capacity(prompts.len() * n);
    for prompt in prompts {
        let max_tokens = max_tokens(fields, kind, prompt.len(), config)?;
        let hashes = if config.enable_prefix_caching {
            prompt_hashes(&prompt)
        } else {
            Vec::new()
        };
        for choice in 0..n as u32 {
            let seed = answer_seed(&prompt, seed, choice);
            asks.push(Ask {
                prompt: prompt.clone(),
                max_tokens,
                seed,
                hashes: hashes.clone(),
            });
        }
    }
    Ok(asks)
}

/// The answer's length, which with the prompt must fit the context.
fn max_tokens(fields: &Fields, kind: Kind, input: usize, config: &Config) -> Result<u32, Refusal> {
    let context = config.max_model_len;
    if context as usize <= input {
        return Err(Refusal::TooLong {
            context,
            input,
            output: None,
        });
    }
    let (field, asked) = match (kind, fields.whole("max_completion_tokens")?) {
        (Kind::Chat, Some(asked)) => ("max_completion_tokens", Some(asked)),
        _ => ("max_tokens", fields.whole("max_tokens")?),
    };
    let room = context - input as u32;
    let asked = asked.unwrap_or_else(|| {
        let default = if kind == Kind::Chat {
            config.default_chat_tokens
        } else {
            DEFAULT_COMPLETION_TOKENS
        };
        default.min(room).into()
    });
    if asked < 1 {
        return Err(Refusal::BadValue {
            field,
            message: format!("{field} must be at least 1, got {asked}."),
            value: asked,
        });
    }
    let least = fields.whole("min_tokens")?.unwrap_or(0);
    if asked < least {
        let message =
            format!("min_tokens must be less than or equal to max_tokens={asked}, got {least}.");
        return Err(Refusal::BadValue {
            field: "min_tokens",
            message,
            value: least,
        });
    }
    u32::try_from(asked)
        .ok()
        .filter(|asked| *asked <= room)
        .ok_or_else(|| {
            let output = Some(u32::try_from(asked).unwrap_or(u32::MAX));
            Refusal::TooLong {
                context,
                input,
                output,
            }
        })
}

fn wrong(field: impl Into<String>, allowed: &'static str) -> Refusal {
    Refusal::WrongType {
        field: field.into(),
        allowed,
    }
}

/// A body's fields, read by type.
struct Fields(Map<String, Value>);

impl Fields {
    fn whole(&self, field: &'static str) -> Result<Option<i64>, Refusal> {
        match self.0.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value
                .as_i64()
                .map(Some)
                .ok_or_else(|| wrong(field, "a valid integer")),
        }
    }

    fn switch(&self, field: &'static str) -> Result<bool, Refusal> {
        match self.0.get(field) {
            None | Some(Value::Null) => Ok(false),
            Some(value) => value
                .as_bool()
                .ok_or_else(|| wrong(field, "a valid boolean")),
        }
    }

    fn chat(&self) -> Result<Vec<Token>, Refusal> {
        let messages = self
            .0
            .get("messages")
            .and_then(Value::as_array)
            .filter(|messages| !messages.is_empty());
        let messages = messages.ok_or_else(|| wrong("messages", "a list of messages"))?;
        let mut texts = Vec::with_capacity(messages.len());
        for (index, message) in messages.iter().enumerate() {
            let role = message.get("role").and_then(Value::as_str);
            let role =
                role.ok_or_else(|| wrong(format!("messages.{index}.role"), "a valid string"))?;
            texts.push((
                role,
                content(index, message.get("content").unwrap_or(&Value::Null))?,
            ));
        }
        Ok(chat_prompt(
            texts.iter().map(|(role, text)| (*role, text.as_ref())),
        ))
    }

    /// A text, token ids, or a list of either.
    fn prompts(&self) -> Result<Vec<Vec<Token>>, Refusal> {
        let refuse = || {
            wrong(
                "prompt",
                "a text, a list of texts, a list of token ids or a list of such lists",
            )
        };
        let prompts = match self.0.get("prompt") {
            Some(Value::String(text)) => vec![text_prompt(text)],
            Some(Value::Array(items)) if items.first().is_some_and(Value::is_number) => {
                vec![id_prompt(items).ok_or_else(refuse)?]
            }
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| match item {
                    Value::String(text) => Some(text_prompt(text)),
                    Value::Array(ids) => id_prompt(ids),
                    _ => None,
                })
                .collect::<Option<_>>()
                .ok_or_else(refuse)?,
            _ => return Err(refuse()),
        };
        if prompts.is_empty() || prompts.iter().any(Vec::is_empty) {
            return Err(wrong("prompt", "a prompt of at least one token"));
        }
        Ok(prompts)
    }
}

fn text_prompt(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    push_text(text, &mut tokens);
    tokens
}

fn id_prompt(ids: &[Value]) -> Option<Vec<Token>> {
    ids.iter()
        .map(|id| id.as_u64().and_then(|id| Token::try_from(id).ok()))
        .collect()
}

/// A message's text: a string, or the text parts of a list.
fn content(index: usize, content: &Value) -> Result<std::borrow::Cow<'_, str>, Refusal> {
    let part = |part: &Value| part.get("text").and_then(Value::as_str).map(str::to_owned);
    match content {
        Value::String(text) => Ok(text.into()),
        Value::Null => Ok("".into()),
        Value::Array(parts) => Ok(parts
            .iter()
            .filter_map(part)
            .collect::<Vec<_>>()
            .join(" ")
            .into()),
        _ => Err(wrong(
            format!("messages.{index}.content"),
            "a text or a list of parts",
        )),
    }
}
