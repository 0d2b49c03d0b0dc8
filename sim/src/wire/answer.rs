//! Answers, byte for byte in vLLM's form: a stream of events or one JSON object.

use std::borrow::Cow;
use std::fmt::Write;

use serde_json::{Value, json};

use super::ask::{Asked, Kind};
use crate::FINGERPRINT;
use crate::driver::Delivered;
use crate::tokens::answer_word;

/// What all parts of one answer share.
pub(super) struct Answer {
    kind: Kind,
    id: String,
    created: u64,
    model: String,
    /// `data: {"id":...,"choices":[`: the beginning of every event.
    head: String,
    seeds: Vec<u64>,
    prompt_tokens: u64,
    completion_tokens: u64,
    cached_tokens: u64,
    include_usage: bool,
    continuous_usage: bool,
    /// Whether usage tells how much of the prompt came from the prefix cache.
    caching: bool,
    /// Choices not yet finished.
    open: usize,
    begun: bool,
}

impl Answer {
    /// The answer to `asked`; `request_id` is the client's, or one made for it.
    pub fn new(asked: &Asked, request_id: &str, model: &str, caching: bool, created: u64) -> Self {
        let (prefix, object) = match asked.kind {
            Kind::Chat => ("chatcmpl", "chat.completion.chunk"),
            Kind::Completions => ("cmpl", "text_completion"),
        };
        let id = format!("{prefix}-{request_id}");
        // Only the id and the model's name could need escaping.
        let head = format!(
            r#"data: {{"id":{},"object":"{object}","created":{created},"model":{},"choices":["#,
            Value::from(id.as_str()),
            Value::from(model)
        );
        Self {
            kind: asked.kind,
            id,
            created,
            model: model.to_owned(),
            head,
            seeds: asked.asks.iter().map(|ask| ask.seed).collect(),
            prompt_tokens: asked.prompt_tokens,
            completion_tokens: 0,
            cached_tokens: 0,
            include_usage: asked.include_usage,
            continuous_usage: asked.continuous_usage,
            caching,
            open: asked.asks.len(),
            begun: false,
        }
    }

    /// Whether every choice has ended.
    pub fn is_finished(&self) -> bool {
        self.open == 0
    }

    /// How many choices it has.
    pub fn choices(&self) -> usize {
        self.seeds.len()
    }

    /// Appends the event of tokens that came together: the roles before the first, usage and `[DONE]` after the last.
    pub fn write_event(&mut self, token: Delivered, out: &mut String) {
        if !std::mem::replace(&mut self.begun, true) && self.kind == Kind::Chat {
            (0..self.seeds.len()).for_each(|choice| self.write_role(choice, out));
        }
        self.count(token);
        let word = self.words(token);
        let choice = token.choice;
        out.push_str(&self.head);
        // Writing to a String cannot fail.
        let _ = match (self.kind, token.finished) {
            (Kind::Chat, false) => write!(
                out,
                r#"{{"index":{choice},"delta":{{"content":"{word}"}},"logprobs":null,"finish_reason":null,"token_ids":null}}]"#
            ),
            (Kind::Chat, true) => write!(
                out,
                r#"{{"index":{choice},"delta":{{"content":"{word}"}},"logprobs":null,"finish_reason":"length","stop_reason":null,"token_ids":null}}]"#
            ),
            (Kind::Completions, finished) => write!(
                out,
                r#"{{"index":{choice},"text":"{word}","logprobs":null,"finish_reason":{},"stop_reason":null,"prompt_token_ids":null,"token_ids":null}}]"#,
                if finished { r#""length""# } else { "null" }
            ),
        };
        self.write_continuous_usage(out);
        if self.is_finished() && !self.include_usage {
            let _ = write!(out, r#","system_fingerprint":"{FINGERPRINT}""#);
        }
        out.push_str("}\n\n");
        if self.is_finished() {
            self.write_end(out);
        }
    }

    fn count(&mut self, token: Delivered) {
        self.completion_tokens += u64::from(token.count);
        if token.index == 0 {
            self.cached_tokens += u64::from(token.cached);
        }
        if token.finished {
            self.open -= 1;
        }
    }

    /// The tokens' text.
    fn words(&self, token: Delivered) -> Cow<'static, str> {
        let word = |index| answer_word(self.seeds[token.choice as usize], index);
        match token.count {
            1 => word(token.index).into(),
            count => (token.index..token.index + count).map(word).collect(),
        }
    }

    fn write_role(&self, choice: usize, out: &mut String) {
        out.push_str(&self.head);
        let _ = write!(
            out,
            r#"{{"index":{choice},"delta":{{"role":"assistant","content":""}},"logprobs":null,"finish_reason":null}}]"#
        );
        self.write_continuous_usage(out);
        out.push_str(r#","prompt_token_ids":null,"prompt_text":null}"#);
        out.push_str("\n\n");
    }

    /// Cumulative usage within an event, where the client asked for it in each.
    fn write_continuous_usage(&self, out: &mut String) {
        if !self.continuous_usage {
            return;
        }
        let _ = write!(
            out,
            r#","usage":{{"prompt_tokens":{},"total_tokens":{},"completion_tokens":{}{}}}"#,
            self.prompt_tokens,
            self.prompt_tokens + self.completion_tokens,
            self.completion_tokens,
            if self.kind == Kind::Chat {
                r#","completion_tokens_details":null"#
            } else {
                ""
            }
        );
    }

    fn write_end(&self, out: &mut String) {
        if self.include_usage {
            out.push_str(&self.head);
            let _ = write!(
                out,
                r#"],"usage":{{"prompt_tokens":{},"total_tokens":{},"completion_tokens":{}"#,
                self.prompt_tokens,
                self.prompt_tokens + self.completion_tokens,
                self.completion_tokens
            );
            if self.caching {
                let _ = write!(
                    out,
                    r#","prompt_tokens_details":{{"cached_tokens":{}}}"#,
                    self.cached_tokens
                );
            }
            let _ = write!(out, r#"}},"system_fingerprint":"{FINGERPRINT}"}}"#);
            out.push_str("\n\n");
        }
        out.push_str("data: [DONE]\n\n");
    }

    /// The whole answer as one object, from all its tokens.
    pub fn whole(mut self, tokens: &[Delivered]) -> String {
        let mut texts = vec![String::new(); self.seeds.len()];
        for token in tokens {
            self.count(*token);
            texts[token.choice as usize].push_str(&self.words(*token));
        }
        let choices: Vec<String> = texts
            .iter()
            .enumerate()
            .map(|(index, text)| self.whole_choice(index, text))
            .collect();
        let details = if self.caching {
            json!({ "cached_tokens": self.cached_tokens })
        } else {
            Value::Null
        };
        let (object, after) = match self.kind {
            Kind::Chat => (
                "chat.completion",
                r#""prompt_logprobs":null,"prompt_token_ids":null,"prompt_text":null,"#,
            ),
            Kind::Completions => ("text_completion", ""),
        };
        format!(
            r#"{{"id":{id},"object":"{object}","created":{created},"model":{model},"choices":[{choices}],"service_tier":null,"system_fingerprint":"{FINGERPRINT}","usage":{{"prompt_tokens":{prompt},"total_tokens":{total},"completion_tokens":{completion},"prompt_tokens_details":{details},"completion_tokens_details":null}},{after}"kv_transfer_params":null,"ec_transfer_params":null,"metrics":null}}"#,
            id = Value::from(self.id.as_str()),
            created = self.created,
            model = Value::from(self.model.as_str()),
            choices = choices.join(","),
            prompt = self.prompt_tokens,
            total = self.prompt_tokens + self.completion_tokens,
            completion = self.completion_tokens,
        )
    }

    fn whole_choice(&self, index: usize, text: &str) -> String {
        match self.kind {
            Kind::Chat => format!(
                r#"{{"index":{index},"message":{{"role":"assistant","content":"{text}","refusal":null,"annotations":null,"audio":null,"function_call":null,"reasoning":null}},"logprobs":null,"finish_reason":"length","stop_reason":null,"token_ids":null,"routed_experts":null}}"#
            ),
            Kind::Completions => format!(
                r#"{{"index":{index},"text":"{text}","logprobs":null,"finish_reason":"length","stop_reason":null,"token_ids":null,"prompt_logprobs":null,"prompt_token_ids":null,"routed_experts":null}}"#
            ),
        }
    }
}
