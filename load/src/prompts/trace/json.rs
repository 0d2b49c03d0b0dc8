//! Traces as JSONL: Mooncake's and the studio's own.

use measure::units::Nanos;
use serde::Deserialize;

use super::Row;
use crate::prompts::prompt_file::{MessageLine, messages};

/// A line of a Mooncake trace.
#[derive(Deserialize)]
struct MooncakeLine {
    /// Milliseconds.
    timestamp: f64,
    input_length: u32,
    output_length: u32,
    #[serde(default)]
    hash_ids: Vec<u64>,
}

pub(super) fn mooncake(line: &str) -> Result<Row, String> {
    let form = "{\"timestamp\", \"input_length\", \"output_length\", \"hash_ids\"}";
    let line: MooncakeLine = read(line, form)?;
    Ok(Row {
        at: millis(line.timestamp, "timestamp")?,
        input: line.input_length,
        output: line.output_length,
        blocks: line.hash_ids,
        ..Row::default()
    })
}

/// A line of the studio's own.
#[derive(Deserialize)]
struct OwnLine {
    at_ms: f64,
    input_tokens: Option<u32>,
    output_tokens: u32,
    prompt: Option<String>,
    messages: Option<Vec<MessageLine>>,
    session: Option<Name>,
}

/// A name that may be a number.
#[derive(Deserialize)]
#[serde(untagged)]
enum Name {
    Number(i64),
    Text(Box<str>),
}

pub(super) fn own(line: &str) -> Result<Row, String> {
    let form = "{\"at_ms\", \"input_tokens\", \"output_tokens\"}";
    let line: OwnLine = read(line, form)?;
    let said = match (line.prompt, line.messages) {
        (None, None) => None,
        (prompt, said) => Some(messages(prompt, said)?),
    };
    let input = match (line.input_tokens, &said) {
        (Some(tokens), _) => tokens,
        (None, Some(_)) => 0,
        (None, None) => {
            return Err("says neither input_tokens nor a prompt; add one of them".into());
        }
    };
    if let (Some(_), Some(_)) = (&said, &line.session) {
        return Err(
            "has both text and a session; a session's text is made up, so leave out one".into(),
        );
    }
    Ok(Row {
        at: millis(line.at_ms, "at_ms")?,
        input,
        output: line.output_tokens,
        said,
        session: line.session.map(|name| match name {
            Name::Number(number) => number.to_string().into(),
            Name::Text(text) => text,
        }),
        ..Row::default()
    })
}

fn read<'a, T: Deserialize<'a>>(line: &'a str, form: &str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|error| format!("is no request ({error}); write {form}"))
}

fn millis(value: f64, field: &str) -> Result<Nanos, String> {
    if value.is_finite() && 0.0 <= value {
        return Ok(Nanos::from_secs_f64(value / 1000.0));
    }
    Err(format!(
        "has {value} for its {field}; write milliseconds since the beginning"
    ))
}
