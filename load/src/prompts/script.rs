//! What a session says, as little as is needed to write it down: made-up text is words drawn from a stream, and the stream
//! gives the same words each time.

use bytes::Bytes;
use measure::sampling::Draws;
use measure::study::Api;
use measure::workload::TurnLengths;

use super::words::Words;
use crate::dialect::{self, Message, Quirks};

/// A piece of a message's text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    /// So many words of the session's own stream, which runs on from piece to piece.
    Own(u32),
    /// So many words of a stream that other sessions share, from its beginning.
    Shared { stream: u64, words: u32 },
    /// As given.
    Given(Box<str>),
}

/// One message before its answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Said {
    pub role: &'static str,
    /// Joined by blanks.
    pub pieces: Box<[Piece]>,
}

impl Said {
    pub(crate) fn by_user(pieces: impl Into<Box<[Piece]>>) -> Self {
        Self {
            role: "user",
            pieces: pieces.into(),
        }
    }
}

/// A turn: what is said, and the data set's answer. The answer goes into the history of later turns, so that all engines
/// are asked the very same.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub lengths: TurnLengths,
    /// Tokens of the data set's answer, as it stands in the history.
    pub history: u32,
    /// Whether as many tokens are asked as the data set's answer has, however they are counted.
    pub asks_history: bool,
    pub said: Box<[Said]>,
    pub answer: Box<[Piece]>,
}

/// A session's text.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// The seed of its own stream of words.
    pub(crate) stream: u64,
    pub(crate) lines: Vec<Line>,
}

impl Script {
    /// About how many bytes the bodies of its turns have together.
    pub(super) fn bytes(&self) -> usize {
        let of = |pieces: &[Piece]| pieces.iter().map(Piece::bytes).sum::<usize>();
        let (mut history, mut all) = (0, 0);
        for line in &self.lines {
            history += line.said.iter().map(|said| of(&said.pieces)).sum::<usize>();
            all += history + ENVELOPE;
            history += of(&line.answer);
        }
        all
    }
}

impl Piece {
    fn bytes(&self) -> usize {
        match self {
            Self::Own(words) | Self::Shared { words, .. } => *words as usize * BYTES_PER_WORD,
            Self::Given(text) => text.len(),
        }
    }
}

/// A word of the dictionary and its blank, on average rounded up.
const BYTES_PER_WORD: usize = 6;
/// What stands around the messages.
const ENVELOPE: usize = 250;

/// Writes bodies.
#[derive(Debug)]
pub struct Writer {
    pub(crate) api: Api,
    pub(crate) model: String,
    pub(crate) quirks: Quirks,
    pub(crate) words: Words,
    /// Whether the history carries the engine's own answers.
    pub(crate) real_answers: bool,
}

impl Writer {
    /// The messages of a turn, with all before it.
    pub(crate) fn messages(
        &self,
        script: &Script,
        turn: usize,
        answers: &[&str],
    ) -> Vec<(&'static str, String)> {
        let mut own = Draws::new(script.stream);
        let mut messages = Vec::with_capacity(2 * turn + 1);
        for (index, line) in script.lines.iter().take(turn + 1).enumerate() {
            for said in &line.said {
                messages.push((said.role, self.text(&said.pieces, &mut own)));
            }
            if index < turn {
                // Drawn in any case, so that what is said next does not depend on whose answer it is.
                let written = self.text(&line.answer, &mut own);
                let answer = answers
                    .get(index)
                    .map_or(written, |real| (*real).to_owned());
                messages.push(("assistant", answer));
            }
        }
        messages
    }

    /// The body of a turn.
    pub(crate) fn body(
        &self,
        script: &Script,
        turn: usize,
        answers: &[&str],
    ) -> Result<Bytes, serde_json::Error> {
        let answers = if self.real_answers { answers } else { &[] };
        let messages = self.messages(script, turn, answers);
        let messages: Vec<Message<'_>> = messages
            .iter()
            .map(|(role, content)| Message { role, content })
            .collect();
        let asked = script.lines.get(turn).map_or(1, |line| line.lengths.answer);
        dialect::body(self.api, &self.model, &messages, asked, self.quirks)
    }

    /// Pieces joined by blanks.
    pub(crate) fn text(&self, pieces: &[Piece], own: &mut Draws) -> String {
        let mut text = String::new();
        for piece in pieces {
            if !text.is_empty() && *piece != Piece::Own(0) {
                text.push(' ');
            }
            match piece {
                Piece::Own(words) => self.words.write(own, *words, &mut text),
                Piece::Shared { stream, words } => {
                    self.words
                        .write(&mut Draws::new(*stream), *words, &mut text);
                }
                Piece::Given(given) => text.push_str(given),
            }
        }
        text
    }
}
