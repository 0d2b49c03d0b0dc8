//! What the events of one stream have said so far.

use measure::request::{Chunk, ChunkKind, ErrorKind};
use measure::study::Api;
use measure::units::Nanos;

use super::openai::{Piece, Told};
use super::{openai_chat, openai_completions};
use crate::sse::Event;

/// Most bytes of answer or thinking kept of one request.
const TEXT_LIMIT: usize = 1 << 20;

/// Texts, where they are to be kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts {
    pub answer: String,
    pub reasoning: String,
    /// Name and arguments of each tool call, by index.
    pub tool_calls: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
pub(super) struct Seen {
    api: Api,
    pub chunks: Vec<Chunk>,
    pub texts: Option<Texts>,
    pub finish: Option<Nanos>,
    pub finish_reason: Option<String>,
    pub prompt_tokens: Option<u32>,
    pub cached_tokens: Option<u32>,
    pub usage_tokens: Option<u32>,
    pub engine_tokens: Option<u32>,
    /// The running count after the event before, as long as every event carried one.
    running: Option<u32>,
    /// When `[DONE]` was read.
    pub done: Option<Nanos>,
    pub failure: Option<(ErrorKind, String)>,
    /// Whether there was any proper event.
    pub framed: bool,
    pub unframed: bool,
    /// The start of what is no event stream, for people.
    pub junk: Vec<u8>,
}

impl Seen {
    pub(super) fn new(api: Api, keep_text: bool, expected: u32) -> Self {
        Self {
            api,
            chunks: Vec::with_capacity((expected as usize + 4).min(8192)),
            texts: keep_text.then(Texts::default),
            finish: None,
            finish_reason: None,
            prompt_tokens: None,
            cached_tokens: None,
            usage_tokens: None,
            engine_tokens: None,
            running: Some(0),
            done: None,
            failure: None,
            framed: false,
            unframed: false,
            junk: Vec::new(),
        }
    }

    /// Takes in one event. `cut` says that the stream ended within it, so that it may be unreadable for a good reason.
    pub(super) fn event(&mut self, at: Nanos, event: Event<'_>, cut: bool) {
        if self.done.is_some() {
            return;
        }
        match event {
            Event::Data(data) => {
                self.framed = true;
                if let Err(why) = self.data(at, data)
                    && !cut
                {
                    self.fail(ErrorKind::MalformedEvent, why);
                }
            }
            Event::Unframed(line) if self.data(at, line).is_ok() => self.unframed = true,
            Event::Unframed(line) | Event::Junk(line) => self.keep_junk(line),
        }
    }

    pub(super) fn fail(&mut self, kind: ErrorKind, detail: String) {
        self.failure.get_or_insert((kind, detail));
    }

    fn keep_junk(&mut self, line: &[u8]) {
        let room = super::stream::DETAIL_LIMIT.saturating_sub(self.junk.len());
        self.junk.extend_from_slice(&line[..line.len().min(room)]);
        self.junk
            .extend_from_slice(if line.len() < room { b"\n" } else { b"" });
    }

    fn data(&mut self, at: Nanos, data: &[u8]) -> Result<(), String> {
        match data.trim_ascii() {
            b"[DONE]" => self.done = Some(at),
            // llama.cpp opens the answer to a batch of prompts with it.
            b"null" | b"" => {}
            json => {
                return self
                    .json(at, json)
                    .or_else(|why| self.lines(at, json).ok_or(why));
            }
        }
        Ok(())
    }

    /// Events without blank lines between them arrive joined; each line is one.
    fn lines(&mut self, at: Nanos, data: &[u8]) -> Option<()> {
        if !data.contains(&b'\n') {
            return None;
        }
        for line in data
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            if self.done.is_none() {
                self.data(at, line).ok()?;
            }
        }
        self.unframed = true;
        Some(())
    }

    fn json(&mut self, at: Nanos, data: &[u8]) -> Result<(), String> {
        let mut kind = None;
        let texts = &mut self.texts;
        let mut on = |piece: Piece<'_>| {
            kind = Some(kind.map_or(kind_of(&piece), |before| stronger(before, kind_of(&piece))));
            if let Some(texts) = texts {
                texts.keep(piece);
            }
        };
        let told = match self.api {
            Api::OpenAiChat => openai_chat::read(data, &mut on),
            Api::OpenAiCompletions => openai_completions::read(data, &mut on),
        };
        let told = told.map_err(|error| {
            format!(
                "an event that cannot be read ({error}): {}",
                String::from_utf8_lossy(data)
            )
        })?;
        self.told(at, kind, told);
        Ok(())
    }

    fn told(&mut self, at: Nanos, kind: Option<ChunkKind>, told: Told) {
        let Told {
            finish_reason,
            usage,
            timings,
            error,
        } = told;
        let count = usage.and_then(|usage| usage.completion_tokens.0);
        if let Some(kind) = kind {
            let tokens = self
                .running
                .zip(count)
                .map(|(before, now)| now.saturating_sub(before));
            self.chunks.push(Chunk { at, kind, tokens });
            self.running = count;
        } else if count.is_some() && self.running.is_some() {
            self.running = count;
        }
        if let Some(usage) = usage {
            self.usage_tokens = count.or(self.usage_tokens);
            self.prompt_tokens = usage.prompt_tokens.0.or(self.prompt_tokens);
            self.cached_tokens = usage.cached_tokens().or(self.cached_tokens);
        }
        if let Some(timings) = timings {
            self.engine_tokens = timings.predicted_n.0.or(self.engine_tokens);
            self.cached_tokens = self.cached_tokens.or(timings.cache_n.0);
        }
        if let Some(reason) = finish_reason {
            self.finish.get_or_insert(at);
            match reason.as_str() {
                "abort" => self.fail(
                    ErrorKind::Aborted,
                    "the engine gave the request up (finish_reason abort)".into(),
                ),
                "error" => self.fail(
                    ErrorKind::InBandError,
                    "the engine failed (finish_reason error)".into(),
                ),
                _ => {}
            }
            self.finish_reason.get_or_insert(reason);
        }
        if let Some(message) = error {
            self.fail(ErrorKind::InBandError, message);
        }
    }
}

fn kind_of(piece: &Piece<'_>) -> ChunkKind {
    match piece {
        Piece::Reasoning(_) => ChunkKind::Reasoning,
        Piece::ToolCall(..) => ChunkKind::ToolCall,
        Piece::Answer(_) => ChunkKind::Answer,
    }
}

/// An event that carries thinking and something else counts as something else, and an answer outweighs a tool call.
fn stronger(before: ChunkKind, now: ChunkKind) -> ChunkKind {
    match (before, now) {
        (ChunkKind::Answer, _) | (_, ChunkKind::Reasoning) => before,
        _ => now,
    }
}

impl Texts {
    fn keep(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Answer(text) => append(&mut self.answer, text),
            Piece::Reasoning(text) => append(&mut self.reasoning, text),
            Piece::ToolCall(index, name, arguments) => {
                let index = index.min(255) as usize;
                if self.tool_calls.len() <= index {
                    self.tool_calls.resize_with(index + 1, Default::default);
                }
                append(&mut self.tool_calls[index].0, name);
                append(&mut self.tool_calls[index].1, arguments);
            }
        }
    }
}

fn append(kept: &mut String, text: &str) {
    if kept.len() + text.len() <= TEXT_LIMIT {
        kept.push_str(text);
    }
}
