//! Tokens to bytes, as vLLM writes them: the head at once, a chat's role with its first token, the finish reason in the last
//! token's event, then usage and `[DONE]` in the same write.

use std::io::Write;

use super::http::{Asked, StreamOptions};
use super::log::Record;
use crate::FINGERPRINT;

/// Common words: most tokenizers make one token of each.
const WORDS: [&str; 8] = [" the", " of", " and", " to", " in", " is", " that", " for"];

/// How one request is answered.
#[derive(Debug)]
pub(super) struct Wire {
    chat: bool,
    pub stream: bool,
    usage: StreamOptions,
    /// What every event begins with.
    open: String,
    prompt_tokens: u32,
}

impl Wire {
    pub(super) fn new(asked: &Asked, record: &Record) -> Self {
        let chat = record.path.contains("chat");
        let object = match (chat, asked.stream) {
            (true, true) => "chat.completion.chunk",
            (true, false) => "chat.completion",
            (false, _) => "text_completion",
        };
        let model = super::MODEL;
        let open = format!(
            r#"{{"id":"cmpl-{}","object":"{object}","created":1,"model":"{model}","system_fingerprint":"{FINGERPRINT}","choices":["#,
            record.seq
        );
        Self {
            chat,
            stream: asked.stream,
            usage: asked.stream_options.unwrap_or_default(),
            open,
            prompt_tokens: record.prompt_tokens,
        }
    }

    /// The head of a stream, and a chat's role.
    pub(super) fn begin(&self, record: &Record, out: &mut Vec<u8>) {
        let id = &record.client_id;
        put(
            out,
            &format!(
                "HTTP/1.1 200 OK\r\nserver: {FINGERPRINT}\r\ncontent-type: text/event-stream; charset=utf-8\r\nx-request-id: {id}\r\ntransfer-encoding: chunked\r\n\r\n"
            ),
        );
    }

    /// The event with tokens `from..to`; the first of a chat brings its role along.
    pub(super) fn tokens(&self, from: u32, to: u32, finish: Option<&str>, out: &mut Vec<u8>) {
        if self.chat && from == 0 {
            self.role(out);
        }
        let text: String = (from..to)
            .map(|token| WORDS[token as usize % WORDS.len()])
            .collect();
        self.event(&text, finish, to, out);
    }

    fn role(&self, out: &mut Vec<u8>) {
        let role =
            r#"{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#;
        frame(out, &[&self.open, role]);
    }

    fn event(&self, text: &str, finish: Option<&str>, so_far: u32, out: &mut Vec<u8>) {
        let (before, after) = if self.chat {
            (r#"{"index":0,"delta":{"content":""#, r#""}"#)
        } else {
            (r#"{"index":0,"text":""#, r#"""#)
        };
        let finish = finish.map_or("null".to_owned(), |finish| format!("\"{finish}\""));
        let usage = if self.usage.continuous_usage_stats {
            self.usage(so_far)
        } else {
            String::new()
        };
        let reason = r#","logprobs":null,"finish_reason":"#;
        let parts = [
            &self.open, before, text, after, reason, &finish, "}]", &usage, "}",
        ];
        frame(out, &parts);
    }

    /// Usage, where it was asked for, and the end mark.
    pub(super) fn end(&self, tokens: u32, out: &mut Vec<u8>) {
        if self.usage.include_usage {
            frame(out, &[&self.open, "]", &self.usage(tokens), "}"]);
        }
        frame(out, &["[DONE]"]);
        last_chunk(out);
    }

    /// A stream that ends well and says nothing.
    pub(super) fn nothing(&self, out: &mut Vec<u8>) {
        if self.chat {
            self.role(out);
        }
        self.event("", Some("stop"), 0, out);
        self.end(0, out);
    }

    /// An error object, then the end mark.
    pub(super) fn in_band_error(&self, out: &mut Vec<u8>) {
        frame(
            out,
            &[
                r#"{"error":{"message":"out of memory, on purpose","type":"InternalServerError","code":500}}"#,
            ],
        );
        frame(out, &["[DONE]"]);
        last_chunk(out);
    }

    /// An event that is no JSON.
    pub(super) fn malformed(&self, out: &mut Vec<u8>) {
        frame(out, &[&self.open, r#"{"index":0,"text":"cut in the mid"#]);
    }

    /// The whole answer in one JSON object.
    pub(super) fn whole(&self, record: &Record) -> String {
        let text: String = (0..record.max_tokens)
            .map(|token| WORDS[token as usize % WORDS.len()])
            .collect();
        let said = if self.chat {
            format!(r#""message":{{"role":"assistant","content":"{text}"}}"#)
        } else {
            format!(r#""text":"{text}""#)
        };
        let usage = self.usage(record.max_tokens);
        format!(
            r#"{}{{"index":0,{said},"logprobs":null,"finish_reason":"length"}}]{usage}}}"#,
            self.open
        )
    }

    fn usage(&self, output: u32) -> String {
        let (input, total) = (self.prompt_tokens, self.prompt_tokens + output);
        format!(
            r#","usage":{{"prompt_tokens":{input},"total_tokens":{total},"completion_tokens":{output}}}"#
        )
    }
}

/// A response that is no stream.
pub(super) fn reply(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nserver: {FINGERPRINT}\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// The end of a body, with nothing before it.
pub(super) fn last_chunk(out: &mut Vec<u8>) {
    put(out, "0\r\n\r\n");
}

/// One event, as one chunk of the body.
fn frame(out: &mut Vec<u8>, parts: &[&str]) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    // Into memory, which cannot fail.
    let _ = write!(out, "{:x}\r\ndata: ", length + 8);
    parts.iter().for_each(|part| put(out, part));
    put(out, "\n\n\r\n");
}

fn put(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}
