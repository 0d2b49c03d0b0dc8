//! Just enough HTTP/1.1: keep-alive, `content-length`, and the fields of a request that a schedule needs.

use serde::Deserialize;
use serde_json::Value;

/// Longest head and body.
const MOST_HEAD: usize = 64 << 10;
const MOST_BODY: usize = 64 << 20;

/// A request's head.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Head {
    pub method: String,
    pub path: String,
    pub request_id: String,
    pub close: bool,
    /// Bytes of the head, and of the body behind it.
    pub length: usize,
    pub body_length: usize,
}

/// What stands before the body; `None` while it is not whole. `Err` where nobody speaks HTTP.
pub(super) fn head(bytes: &[u8]) -> Result<Option<Head>, &'static str> {
    let Some(length) = memchr::memmem::find(bytes, b"\r\n\r\n") else {
        return if bytes.len() < MOST_HEAD {
            Ok(None)
        } else {
            Err("head too long")
        };
    };
    let text = std::str::from_utf8(&bytes[..length]).map_err(|_| "head is no text")?;
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Err("no request line");
    };
    let mut head = Head {
        method: method.to_owned(),
        path: target.split('?').next().unwrap_or_default().to_owned(),
        length: length + 4,
        ..Head::default()
    };
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        let value = value.trim();
        match name {
            _ if name.eq_ignore_ascii_case("content-length") => {
                head.body_length = value.parse().map_err(|_| "no content-length")?;
            }
            _ if name.eq_ignore_ascii_case("x-request-id") => head.request_id = value.to_owned(),
            _ if name.eq_ignore_ascii_case("connection") => {
                head.close = value.eq_ignore_ascii_case("close");
            }
            _ if name.eq_ignore_ascii_case("transfer-encoding") => {
                return Err("no chunked requests");
            }
            _ => {}
        }
    }
    if MOST_BODY < head.body_length {
        return Err("body too long");
    }
    Ok(Some(head))
}

/// A completion or chat request: the fields that matter here.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    pub stream: bool,
    pub stream_options: Option<StreamOptions>,
    pub max_tokens: Option<u32>,
    pub max_completion_tokens: Option<u32>,
    pub prompt: Value,
    pub messages: Vec<Message>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct StreamOptions {
    pub include_usage: bool,
    pub continuous_usage_stats: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message {
    pub content: Value,
}

impl Asked {
    /// Output tokens asked for.
    pub(super) fn max_tokens(&self) -> u32 {
        self.max_completion_tokens
            .or(self.max_tokens)
            .unwrap_or(16)
            .max(1)
    }

    /// Token ids, or words between spaces.
    pub(super) fn prompt_tokens(&self) -> u32 {
        let messages = self.messages.iter().map(|message| words(&message.content));
        words(&self.prompt) + messages.sum::<u32>()
    }
}

fn words(value: &Value) -> u32 {
    match value {
        Value::String(text) => text.split_ascii_whitespace().count() as u32,
        Value::Array(parts) => parts.iter().map(words).sum(),
        Value::Number(_) => 1,
        Value::Object(part) => part.get("text").map_or(0, words),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_whole_or_not_yet() {
        let text = "POST /v1/completions?x=1 HTTP/1.1\r\nX-Request-Id: a-1\r\ncontent-length: 7\r\nConnection: close\r\n\r\n";
        for cut in 0..text.len() {
            assert_eq!(head(&text.as_bytes()[..cut]), Ok(None), "{cut}");
        }
        let expected = Head {
            method: "POST".into(),
            path: "/v1/completions".into(),
            request_id: "a-1".into(),
            close: true,
            length: text.len(),
            body_length: 7,
        };
        assert_eq!(head(text.as_bytes()), Ok(Some(expected)));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for bad in [
            "GET\r\n\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        ] {
            assert!(head(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn prompts_are_counted_in_ids_or_words() {
        #[track_caller]
        fn check(body: &str, tokens: u32) {
            let asked: Asked = serde_json::from_str(body).expect("a request");
            assert_eq!(asked.prompt_tokens(), tokens, "{body}");
        }
        check(r#"{"prompt":[5,6,7]}"#, 3);
        check(r#"{"prompt":"one two  three"}"#, 3);
        check(
            r#"{"messages":[{"role":"user","content":"a b"},{"content":[{"type":"text","text":"c"}]}]}"#,
            3,
        );
        check("{}", 0);
    }
}
