//! A script in the words of a dialect.

use measure::study::Api;
use serde_json::{Value, json};

use super::script::{Beat, End, Fault, Kind, MESSAGE, Script, Usage, has_own_mark};

/// The bytes of each event, and the numbers (from 1) of those with a token.
pub struct Written {
    pub events: Vec<Vec<u8>>,
    pub token_moments: Vec<u64>,
}

pub fn write(api: Api, script: &Script) -> Written {
    let mut writer = Writer {
        api,
        script,
        so_far: String::new(),
        counted: 0,
        written: Written {
            events: Vec::new(),
            token_moments: Vec::new(),
        },
    };
    writer.nothing(0);
    writer.beats();
    if let Some(fault) = script.fault {
        writer.fault(fault);
    }
    writer.end();
    writer.written
}

struct Writer<'a> {
    api: Api,
    script: &'a Script,
    /// The answer so far, for dialects that repeat it.
    so_far: String,
    counted: u32,
    written: Written,
}

impl Writer<'_> {
    /// One event, or line.
    fn event(&mut self, json: &Value) {
        self.raw(&json.to_string());
    }

    fn raw(&mut self, data: &str) {
        let style = self.script.style;
        let blank = if style.blank_after_colon { " " } else { "" };
        let event = match self.api {
            Api::OllamaChat => format!("{data}{}", style.line_end),
            _ => format!("data:{blank}{data}{0}{0}", style.line_end),
        };
        self.written.events.push(event.into_bytes());
    }

    /// Lines that are no data.
    fn lines(&mut self, lines: &[&str]) {
        let mut event = String::new();
        for line in lines {
            event.push_str(line);
            event.push_str(self.script.style.line_end);
        }
        event.push_str(self.script.style.line_end);
        self.written.events.push(event.into_bytes());
    }

    /// Whether a finish reason is written at all: not where the stream breaks before.
    fn finishes(&self) -> bool {
        let whole = matches!(self.script.end, End::Mark | End::MarkAtEof | End::NoMark);
        let marked = self.script.end != End::NoMark || !has_own_mark(self.api);
        self.script.finish && whole && marked && self.script.fault.is_none()
    }

    fn beats(&mut self) {
        let with_last = self.finishes() && self.script.finish_with_last;
        let tokens = self.script.tokens_said();
        let mut said = 0;
        for beat in &self.script.beats {
            match beat {
                Beat::Token(kind, text) => {
                    said += 1;
                    self.counted = (self.counted + 1).min(self.script.tokens);
                    let last = with_last && said == tokens;
                    self.token(*kind, text, last);
                    if last {
                        self.counted = self.script.tokens;
                    }
                    let moment = self.written.events.len() as u64;
                    self.written.token_moments.push(moment);
                }
                Beat::Nothing(form) => self.nothing(*form),
                Beat::Ping if self.api == Api::OllamaChat => self.lines(&[]),
                Beat::Ping => self.lines(&[": ping"]),
            }
        }
    }

    fn token(&mut self, kind: Kind, text: &str, last: bool) {
        self.so_far.push_str(text);
        let event = match (self.api, kind) {
            (Api::OpenAiChat, Kind::Answer) => self.chat(json!({ "content": text }), last),
            (Api::OpenAiChat, Kind::Thinking) => {
                self.chat(json!({ "content": "", "reasoning_content": text }), last)
            }
            (Api::OpenAiCompletions, _) => self.completion(text, last),
            (Api::OpenAiResponses, Kind::Answer) => {
                json!({ "type": "response.output_text.delta", "delta": text })
            }
            (Api::OpenAiResponses, Kind::Thinking) => {
                json!({ "type": "response.reasoning_text.delta", "delta": text })
            }
            (Api::OllamaChat, Kind::Answer) => {
                json!({ "message": { "content": text }, "done": false })
            }
            (Api::OllamaChat, Kind::Thinking) => {
                json!({ "message": { "content": "", "thinking": text }, "done": false })
            }
            (Api::TgiGenerateStream, _) => self.tgi(text, false, last),
            (Api::TritonGenerateStream, _) => json!({ "model_name": "m", "text_output": text }),
            (Api::SglangGenerate, _) => self.sglang(last),
            (Api::LlamacppCompletion, _) => self.llamacpp(text, last),
        };
        self.event(&event);
    }

    fn usage(&self, last: bool) -> Value {
        match self.script.usage {
            Usage::Running => self.usage_of(self.counted),
            Usage::AtFinish if last => self.usage_of(self.script.tokens),
            _ => Value::Null,
        }
    }

    fn usage_of(&self, tokens: u32) -> Value {
        json!({ "prompt_tokens": 9, "completion_tokens": tokens, "completion_tokens_details": { "reasoning_tokens": 1 } })
    }

    fn reason(last: bool) -> Value {
        if last { json!("stop") } else { Value::Null }
    }

    fn chat(&self, delta: Value, last: bool) -> Value {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": Self::reason(last), "logprobs": null });
        json!({ "id": "c", "object": "chat.completion.chunk", "choices": [choice], "usage": self.usage(last) })
    }

    fn completion(&self, text: &str, last: bool) -> Value {
        let choice = json!({ "index": 0, "text": text, "finish_reason": Self::reason(last) });
        json!({ "choices": [choice], "usage": self.usage(last) })
    }

    fn tgi(&self, text: &str, special: bool, last: bool) -> Value {
        let details = json!({ "finish_reason": "length", "generated_tokens": self.script.tokens, "seed": null });
        let (whole, details) = if last {
            (json!(self.so_far), details)
        } else {
            (Value::Null, Value::Null)
        };
        json!({
            "token": { "id": 1, "text": text, "logprob": -0.5, "special": special },
            "generated_text": whole, "details": details,
        })
    }

    fn sglang(&self, last: bool) -> Value {
        let count = if last {
            self.script.tokens
        } else {
            self.counted
        };
        let reason = if last {
            json!({ "type": "length", "length": count })
        } else {
            Value::Null
        };
        let ids: Vec<u32> = (0..count).collect();
        json!({
            "text": self.so_far, "output_ids": ids,
            "meta_info": { "finish_reason": reason, "prompt_tokens": 9, "completion_tokens": count },
        })
    }

    fn llamacpp(&self, text: &str, last: bool) -> Value {
        let count = if last {
            self.script.tokens
        } else {
            self.counted
        };
        let mut event = json!({ "index": 0, "content": text, "tokens": [1], "stop": last, "tokens_predicted": count });
        if last {
            event["stop_type"] = json!("limit");
        }
        event
    }

    fn nothing(&mut self, form: u8) {
        let shapes = match self.api {
            Api::OpenAiChat => vec![
                self.chat(json!({ "role": "assistant", "content": "" }), false),
                self.chat(json!({ "role": "assistant", "content": null }), false),
                self.chat(json!({}), false),
                self.chat(
                    json!({ "tool_calls": [], "reasoning_content": null }),
                    false,
                ),
                json!({ "choices": [], "prompt_filter_results": [{}] }),
                json!({ "choices": [{ "index": 0, "finish_reason": null, "content_filter_offsets": {} }] }),
                json!({ "choices": [{ "delta": { "content": "" } }], "error": null }),
            ],
            Api::OpenAiCompletions => vec![
                self.completion("", false),
                json!({ "choices": [], "usage": null, "error": null }),
                json!({ "choices": [{ "index": 0 }] }),
            ],
            Api::OpenAiResponses => vec![
                json!({ "type": "response.created", "response": { "status": "in_progress", "usage": null, "error": null } }),
                json!({ "type": "response.output_item.added", "item": { "type": "message", "content": [] } }),
                json!({ "type": "response.content_part.added", "part": { "text": "" } }),
                json!({ "type": "response.output_text.done", "text": self.so_far }),
            ],
            Api::OllamaChat => vec![
                json!({ "message": { "role": "assistant", "content": "" }, "done": false }),
                json!({ "message": { "content": null }, "error": null, "done": false }),
            ],
            Api::TgiGenerateStream => {
                vec![self.tgi("<s>", true, false), self.tgi("", false, false)]
            }
            Api::TritonGenerateStream => vec![
                json!({ "text_output": "" }),
                json!({ "text_output": "", "error": null }),
            ],
            Api::SglangGenerate => vec![self.sglang(false)],
            Api::LlamacppCompletion => vec![
                self.llamacpp("", false),
                json!({ "content": "", "stop": false, "prompt_progress": { "total": 9, "processed": 3 } }),
            ],
        };
        let form = usize::from(form);
        match shapes.get(form % (shapes.len() + 2)) {
            Some(shape) => self.event(shape),
            None if self.api == Api::OllamaChat => self.lines(&[]),
            None if form % 2 == 0 => self.raw("null"),
            None => self.raw(""),
        }
    }

    fn fault(&mut self, fault: Fault) {
        let own = match self.api {
            Api::OpenAiChat | Api::OpenAiCompletions => vec![
                json!({ "error": { "message": MESSAGE, "code": 500 } }),
                json!({ "error": MESSAGE }),
                json!({ "object": "error", "message": MESSAGE, "code": 500 }),
            ],
            Api::OpenAiResponses => vec![
                json!({ "type": "error", "code": "x", "message": MESSAGE }),
                json!({ "type": "response.failed", "response": { "status": "failed", "error": { "message": MESSAGE } } }),
            ],
            _ => vec![
                json!({ "error": MESSAGE }),
                json!({ "error": { "message": MESSAGE }, "error_type": "x" }),
            ],
        };
        let form = usize::from(fault.form);
        let plain = json!({ "message": MESSAGE, "code": 500 }).to_string();
        match own.get(form % (own.len() + 2)) {
            Some(event) => self.event(event),
            None if self.api == Api::OllamaChat => self.event(&own[0]),
            None if form % 2 == 0 => self.lines(&["event: error", &format!("data: {plain}")]),
            None => self.lines(&[&format!("error: {plain}")]),
        }
    }

    fn end(&mut self) {
        match self.script.end {
            End::Reset | End::Stall => return,
            End::Cut => {
                // Half of an event that would have had a token.
                let before = self.written.events.len();
                self.token(Kind::Answer, "never seen", false);
                let event = &mut self.written.events[before];
                event.truncate(event.len() / 2);
                return;
            }
            End::Mark | End::MarkAtEof | End::NoMark => self.trailer(),
        }
        if self.script.end == End::MarkAtEof
            && let Some(last) = self.written.events.last_mut()
        {
            while matches!(last.last(), Some(b'\r' | b'\n')) {
                last.pop();
            }
        }
    }

    /// Finish reason and usage in events of their own, and the mark.
    fn trailer(&mut self) {
        let with_last = self.script.finish_with_last && 0 < self.script.tokens_said();
        if self.finishes() && !with_last {
            self.finish_event();
        }
        let usage_after = matches!(self.script.usage, Usage::After | Usage::Running);
        let openai = matches!(self.api, Api::OpenAiChat | Api::OpenAiCompletions);
        if usage_after && openai {
            let usage = self.usage_of(self.script.tokens);
            self.event(&json!({ "choices": [], "usage": usage }));
        }
        let done = openai || self.api == Api::SglangGenerate;
        if done && self.script.end != End::NoMark {
            self.raw("[DONE]");
        }
    }

    fn finish_event(&mut self) {
        let tokens = self.script.tokens;
        let event = match self.api {
            Api::OpenAiChat => self.chat(json!({}), true),
            Api::OpenAiCompletions => self.completion("", true),
            Api::OpenAiResponses => json!({
                "type": "response.completed",
                "response": { "status": "completed", "usage": { "input_tokens": 9, "output_tokens": tokens } },
            }),
            Api::OllamaChat => json!({
                "message": { "content": "" }, "done": true, "done_reason": "stop", "eval_count": tokens,
            }),
            Api::TgiGenerateStream => self.tgi("</s>", true, true),
            Api::SglangGenerate => self.sglang(true),
            Api::LlamacppCompletion => self.llamacpp("", true),
            Api::TritonGenerateStream => return,
        };
        self.event(&event);
    }
}
