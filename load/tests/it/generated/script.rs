//! What an engine does during one response, and what must be read from it.

use measure::request::{ErrorKind, Outcome, TokenSource};
use measure::study::Api;
use proptest::prelude::*;

/// What engines say when they fail.
pub const MESSAGE: &str = "out of memory";

#[derive(Clone, Debug)]
pub struct Script {
    pub beats: Vec<Beat>,
    pub usage: Usage,
    /// Output tokens as the engine counts them: more than events, or fewer.
    pub tokens: u32,
    /// Whether there is a finish reason, and whether it comes with the last token.
    pub finish: bool,
    pub finish_with_last: bool,
    /// An error, after so many beats.
    pub fault: Option<Fault>,
    pub end: End,
    pub style: Style,
    pub content_type: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub enum Beat {
    Token(Kind, String),
    /// An event without a token, in one of several shapes.
    Nothing(u8),
    Ping,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Answer,
    Thinking,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Usage {
    None,
    /// With the finish reason.
    AtFinish,
    /// In an event of its own.
    After,
    /// In every event, and once more at the end.
    Running,
}

#[derive(Clone, Copy, Debug)]
pub struct Fault {
    pub after: usize,
    pub form: u8,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    Mark,
    /// The mark without what should follow it.
    MarkAtEof,
    /// A finish reason and a clean end.
    NoMark,
    /// A polite end in the middle of an event.
    Cut,
    Reset,
    Stall,
}

/// How lines are written.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    pub line_end: &'static str,
    pub blank_after_colon: bool,
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z ]{1,6}",
        1 => prop::sample::select(vec![" ", "\n", "\r\n", "\t", "  "]).prop_map(str::to_owned),
        1 => prop::sample::select(vec!["é", "Привет", "🚀", "\u{2028}", "\u{85}", "\u{FEFF}", "\u{FFFD}"]).prop_map(str::to_owned),
        1 => prop::sample::select(vec!["\"", "\\", "{}", "data: x", "[DONE]", "null"]).prop_map(str::to_owned),
    ]
}

fn beat() -> impl Strategy<Value = Beat> {
    let kind = prop::sample::select(vec![Kind::Answer, Kind::Answer, Kind::Thinking]);
    prop_oneof![
        5 => (kind, text()).prop_map(|(kind, text)| Beat::Token(kind, text)),
        2 => any::<u8>().prop_map(Beat::Nothing),
        1 => Just(Beat::Ping),
    ]
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        4 => Just(End::Mark),
        1 => Just(End::MarkAtEof),
        1 => Just(End::NoMark),
        1 => Just(End::Cut),
        1 => Just(End::Reset),
        1 => Just(End::Stall),
    ]
}

pub fn script() -> impl Strategy<Value = Script> {
    let usage = vec![Usage::None, Usage::AtFinish, Usage::After, Usage::Running];
    let line_end = vec!["\n", "\n", "\r\n", "\r"];
    let types = vec![
        Some("text/event-stream"),
        Some("text/event-stream; charset=utf-8"),
        Some("text/plain"),
        None,
    ];
    let fault = prop::option::weighted(
        0.2,
        (0usize..12, any::<u8>()).prop_map(|(after, form)| Fault { after, form }),
    );
    let told = (
        prop::sample::select(usage),
        1u32..50,
        any::<bool>(),
        any::<bool>(),
    );
    let style = (
        prop::sample::select(line_end),
        any::<bool>(),
        prop::sample::select(types),
    );
    let whole = (
        prop::collection::vec(beat(), 0..10),
        told,
        fault,
        end(),
        style,
    );
    whole.prop_map(
        |(beats, (usage, tokens, finish, finish_with_last), fault, end, style)| Script {
            beats,
            usage,
            tokens,
            finish,
            finish_with_last,
            fault,
            end,
            style: Style {
                line_end: style.0,
                blank_after_colon: style.1,
            },
            content_type: style.2,
        },
    )
}

/// Whether the dialect's own end mark comes with finish reason and counts.
pub fn has_own_mark(api: Api) -> bool {
    matches!(
        api,
        Api::OpenAiResponses | Api::OllamaChat | Api::TgiGenerateStream | Api::LlamacppCompletion
    )
}

fn thinks(api: Api) -> bool {
    matches!(
        api,
        Api::OpenAiChat | Api::OpenAiResponses | Api::OllamaChat
    )
}

impl Script {
    /// The same, as far as a dialect can say it.
    pub fn for_dialect(mut self, api: Api) -> Self {
        for beat in &mut self.beats {
            if let Beat::Token(kind, _) = beat
                && !thinks(api)
            {
                *kind = Kind::Answer;
            }
        }
        if api == Api::OllamaChat && self.style.line_end == "\r" {
            self.style.line_end = "\n";
        }
        match api {
            Api::TritonGenerateStream => {
                (self.finish, self.usage) = (false, Usage::None);
            }
            _ if has_own_mark(api) => {
                (self.finish, self.usage) = (true, Usage::AtFinish);
                self.finish_with_last &=
                    matches!(api, Api::TgiGenerateStream | Api::LlamacppCompletion);
            }
            Api::SglangGenerate => (self.finish, self.usage) = (true, Usage::Running),
            _ => {}
        }
        if !self.finish && self.usage == Usage::AtFinish {
            self.usage = Usage::After;
        }
        if let Some(fault) = &mut self.fault {
            fault.after = fault.after.min(self.beats.len());
        }
        // Nothing after the error is of interest.
        if let Some(fault) = self.fault {
            self.beats.truncate(fault.after);
        }
        self
    }

    pub fn tokens_said(&self) -> usize {
        let token = |beat: &&Beat| matches!(beat, Beat::Token(..));
        self.beats.iter().filter(token).count()
    }

    fn text(&self, wanted: Kind) -> String {
        let texts = self.beats.iter().filter_map(|beat| match beat {
            Beat::Token(kind, text) if *kind == wanted => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    pub fn answer(&self) -> String {
        self.text(Kind::Answer)
    }

    pub fn thinking(&self) -> String {
        self.text(Kind::Thinking)
    }

    pub fn outcome(&self, api: Api) -> Outcome {
        let error = Outcome::Error;
        if self.fault.is_some() {
            return error(ErrorKind::InBandError);
        }
        let some = 0 < self.tokens_said();
        let triton = api == Api::TritonGenerateStream;
        match self.end {
            End::Reset => error(ErrorKind::ConnectionReset),
            End::Stall => error(ErrorKind::StallTimeout),
            End::Mark | End::MarkAtEof if some => Outcome::Ok,
            End::NoMark if some && (triton || (self.finish && !has_own_mark(api))) => Outcome::Ok,
            // Nothing tells a cut from an end there.
            End::Cut if triton && some => Outcome::Ok,
            End::Mark | End::MarkAtEof => error(ErrorKind::EmptyStream),
            End::NoMark if !has_own_mark(api) && self.finish => error(ErrorKind::EmptyStream),
            _ if triton => error(ErrorKind::EmptyStream),
            _ => error(ErrorKind::Truncated),
        }
    }

    pub fn counted(&self, api: Api) -> Option<u32> {
        (self.token_source(api) != TokenSource::None).then_some(self.tokens)
    }

    pub fn token_source(&self, api: Api) -> TokenSource {
        match (api, self.usage) {
            (Api::TritonGenerateStream, _) | (_, Usage::None) => TokenSource::None,
            (Api::OpenAiChat | Api::OpenAiCompletions | Api::OpenAiResponses, _) => {
                TokenSource::Usage
            }
            _ => TokenSource::EngineFinal,
        }
    }
}
