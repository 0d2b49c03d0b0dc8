//! What the events of one stream have said so far.

use measure::request::{Chunk, ChunkKind, Chunks, ErrorKind};
use measure::study::Api;
use measure::units::Nanos;

use super::event::{Choices, Counts, Piece, Told};
use super::sglang::SoFar;
use super::wire::refusal_text;
use super::{Framing, Moment, framing, read};
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
    pub chunks: Chunks,
    pub texts: Option<Texts>,
    pub finish: Option<Nanos>,
    pub finish_reason: Option<String>,
    pub prompt_tokens: Option<u32>,
    pub cached_tokens: Option<u32>,
    pub usage_tokens: Option<u32>,
    pub engine_tokens: Option<u32>,
    /// The running count after the event before, as long as every event carried one.
    running: Option<u32>,
    so_far: SoFar,
    /// The choices that are finished, and the output tokens of those whose usage was told.
    finished: Choices,
    closed_tokens: u32,
    /// A choice was finished since usage was told last.
    open: bool,
    /// When the end mark was read.
    pub done: Option<Nanos>,
    pub failure: Option<(ErrorKind, String)>,
    /// Whether there was any proper event.
    pub framed: bool,
    /// Bare lines that could be read all the same.
    pub unframed: u32,
    /// The start of what is no event stream, for people.
    pub junk: Vec<u8>,
}

impl Seen {
    pub(super) fn new(api: Api, keep_text: bool, expected: u32) -> Self {
        Self {
            api,
            chunks: Chunks::with_capacity((expected as usize + 4).min(8192)),
            texts: keep_text.then(Texts::default),
            finish: None,
            finish_reason: None,
            prompt_tokens: None,
            cached_tokens: None,
            usage_tokens: None,
            engine_tokens: None,
            running: Some(0),
            so_far: SoFar::default(),
            finished: Choices::default(),
            closed_tokens: 0,
            open: false,
            done: None,
            failure: None,
            framed: false,
            unframed: 0,
            junk: Vec::new(),
        }
    }

    /// Takes in one event. `cut` says that the stream ended within it, so that it may be unreadable for a good reason.
    pub(super) fn event(&mut self, at: Moment, event: Event<'_>, cut: bool) {
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
            Event::Failure(data) => {
                self.framed = true;
                self.fail(ErrorKind::InBandError, refusal_text(data));
            }
            Event::Unframed(line) if self.data(at, line).is_ok() => self.unframed += 1,
            Event::Junk(line) if self.framed && !cut && framing(self.api) == Framing::Lines => {
                let line = String::from_utf8_lossy(line);
                self.fail(
                    ErrorKind::MalformedEvent,
                    format!("a line that is no JSON object: {line}"),
                );
            }
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

    fn data(&mut self, at: Moment, data: &[u8]) -> Result<(), String> {
        match data.trim_ascii() {
            b"[DONE]" => self.done = Some(at.at),
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
    fn lines(&mut self, at: Moment, data: &[u8]) -> Option<()> {
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
        self.unframed += 1;
        Some(())
    }

    fn json(&mut self, at: Moment, data: &[u8]) -> Result<(), String> {
        let mut kind = None;
        let texts = &mut self.texts;
        let mut on = |piece: Piece<'_>| {
            kind = Some(kind.map_or(kind_of(&piece), |before| stronger(before, kind_of(&piece))));
            if let Some(texts) = texts {
                texts.keep(piece);
            }
        };
        let told = read(self.api, data, &mut self.so_far, &mut on).map_err(|error| {
            format!(
                "an event that cannot be read ({error}): {}",
                String::from_utf8_lossy(data)
            )
        })?;
        self.told(at, kind, told);
        Ok(())
    }

    fn told(&mut self, at: Moment, kind: Option<ChunkKind>, told: Told) {
        let running = told.usage.or(told.engine).and_then(|counts| counts.output);
        self.chunk(at, kind, running);
        self.counts(&told);
        if let Some(reason) = told.finish_reason {
            self.finish.get_or_insert(at.arrived());
            self.judge_reason(&reason, told.abort);
            self.finish_reason.get_or_insert(reason);
        }
        if let Some(message) = told.error {
            self.fail(ErrorKind::InBandError, message);
        }
        if told.end {
            self.finish.get_or_insert(at.arrived());
            self.done = Some(at.at);
        }
    }

    fn chunk(&mut self, at: Moment, kind: Option<ChunkKind>, count: Option<u32>) {
        if let Some(kind) = kind {
            let tokens = self
                .running
                .zip(count)
                .map(|(before, now)| now.saturating_sub(before));
            self.chunks.push(Chunk {
                at: at.at,
                at_kernel: at.kernel,
                kind,
                tokens,
            });
            self.running = count;
        } else if count.is_some() && self.running.is_some() {
            self.running = count;
        }
    }

    fn counts(&mut self, told: &Told) {
        self.open |= !told.finished.without(self.finished).is_empty();
        self.finished.join(told.finished);
        if let Some(usage) = told.usage {
            if let Some(tokens) = usage.output {
                self.used(tokens, told.choices);
            }
            self.prompt_tokens = usage.prompt.or(self.prompt_tokens);
            self.cached_tokens = usage.cached.or(self.cached_tokens);
        }
        if let Some(Counts {
            output,
            prompt,
            cached,
        }) = told.engine
        {
            self.engine_tokens = output.or(self.engine_tokens);
            self.prompt_tokens = self.prompt_tokens.or(prompt);
            self.cached_tokens = self.cached_tokens.or(cached);
        }
    }

    /// The last usage stands; but where each of several choices has its own, as llama.cpp tells it, they add up.
    fn used(&mut self, tokens: u32, choices: Choices) {
        let unfinished = !choices.without(self.finished).is_empty();
        self.usage_tokens = Some(if self.open {
            self.open = false;
            self.closed_tokens = self.closed_tokens.saturating_add(tokens);
            self.closed_tokens
        } else if unfinished {
            self.closed_tokens.saturating_add(tokens)
        } else {
            tokens
        });
    }

    fn judge_reason(&mut self, reason: &str, why: Option<String>) {
        let (kind, plain) = match reason {
            "abort" => (
                ErrorKind::Aborted,
                "the engine gave the request up (finish_reason abort)",
            ),
            "error" => (
                ErrorKind::InBandError,
                "the engine failed (finish_reason error)",
            ),
            _ => return,
        };
        self.fail(kind, why.unwrap_or_else(|| plain.to_owned()));
    }
}

fn kind_of(piece: &Piece<'_>) -> ChunkKind {
    match piece {
        Piece::Reasoning(_) => ChunkKind::Reasoning,
        Piece::ToolCall(..) => ChunkKind::ToolCall,
        Piece::Answer(_) | Piece::AnswerSoFar(_) => ChunkKind::Answer,
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
            Piece::AnswerSoFar(text) => {
                self.answer.clear();
                append(&mut self.answer, text);
            }
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
