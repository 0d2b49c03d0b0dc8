//! Makes lengths right: made-up text gets as many words as its tokens need, given text is counted.
//!
//! Message by message through all sessions at once, since a session's words are drawn one after another and counting is
//! cheapest in bulk. What is planned afterwards is what was counted.

use std::collections::HashMap;

use measure::sampling::Draws;
use measure::study::Api;

use super::script::{Piece, Script, Writer};
use super::{PromptError, Session};
use crate::tokens::Counter;

/// Tries at one message: the first third by words, the others by fillers as well.
const TRIES: u32 = 12;
/// One token after its blank in every vocabulary worth the name: evens out words of several tokens.
const FILLER: &str = "a";

/// Makes the sessions' lengths right by a counter.
pub(super) fn fit(
    sessions: &mut [Session],
    counter: &Counter,
    writer: &Writer,
) -> Result<(), PromptError> {
    let fitting = Fitting {
        counter,
        writer,
        per_word: per_word(counter, writer)?,
        shared: HashMap::new(),
    };
    fitting.all(sessions)
}

/// Tokens of a word on average: the first guess at how many words make a length.
fn per_word(counter: &Counter, writer: &Writer) -> Result<f64, PromptError> {
    if let Counter::Words { per_word } = counter {
        return Ok(*per_word);
    }
    const SAMPLE: u32 = 2000;
    let text = writer.text(&[Piece::Own(SAMPLE)], &mut Draws::new(0));
    let count = counter.count(&[text]).map_err(PromptError::Tokens)?;
    let count = count.first().copied().unwrap_or(SAMPLE);
    Ok((f64::from(count) / f64::from(SAMPLE)).max(0.1))
}

struct Fitting<'a> {
    counter: &'a Counter,
    writer: &'a Writer,
    per_word: f64,
    /// Words of a shared text, by its stream and its tokens: the same for everyone.
    shared: HashMap<(u64, u32), u32>,
}

/// A message of a session that is being made right.
struct Message<'a> {
    pieces: &'a mut Box<[Piece]>,
    /// Where the session's stream stood before it.
    draws: Draws,
    /// What stands before it in the prompt, as far as that matters to a tokenizer.
    lead: &'static str,
    /// Tokens that it should have; `None` where it is given and has what it has.
    target: Option<u32>,
    /// The nearest so far: its distance, tokens and pieces.
    best: Option<(u32, u32, Box<[Piece]>)>,
    /// Fillers at the end.
    fill: u32,
    tries: u32,
}

impl Fitting<'_> {
    fn all(mut self, sessions: &mut [Session]) -> Result<(), PromptError> {
        self.fit_shared(sessions)?;
        let mut streams: Vec<Draws> = sessions
            .iter()
            .map(|session| Draws::new(session.script.stream))
            .collect();
        let turns = sessions.iter().map(|session| session.script.lines.len());
        for turn in 0..turns.max().unwrap_or(0) {
            self.fit_turn(sessions, &mut streams, turn)?;
        }
        Ok(())
    }

    /// One turn of every session that has it: what is said, then the answer that stands in the history.
    fn fit_turn(
        &self,
        sessions: &mut [Session],
        streams: &mut [Draws],
        turn: usize,
    ) -> Result<(), PromptError> {
        let said = sessions.iter().filter_map(|it| it.script.lines.get(turn));
        let most = said.map(|line| line.said.len()).max().unwrap_or(0);
        for place in 0..most {
            let joined = self.lead(turn + place == 0);
            let counts = self.fit_messages(sessions, streams, |script| {
                let line = script.lines.get_mut(turn)?;
                let single = line.said.len() == 1;
                let target = line.lengths.user;
                let said = line.said.get_mut(place)?;
                Some((&mut said.pieces, joined, single.then_some(target)))
            })?;
            for (session, count) in sessions.iter_mut().zip(counts) {
                if let (Some(line), Some(count)) = (session.script.lines.get_mut(turn), count) {
                    let before = if place == 0 { 0 } else { line.lengths.user };
                    line.lengths.user = before + count;
                }
            }
        }
        self.fit_answers(sessions, streams, turn)
    }

    /// A turn's answers as they stand in the history. A made-up one that is the last is never sent; a given one says how
    /// many tokens are asked.
    fn fit_answers(
        &self,
        sessions: &mut [Session],
        streams: &mut [Draws],
        turn: usize,
    ) -> Result<(), PromptError> {
        let joined = self.lead(false);
        let counts = self.fit_messages(sessions, streams, |script| {
            let later = turn + 1 < script.lines.len();
            let line = script.lines.get_mut(turn)?;
            let sent = later || line.asks_history;
            sent.then_some((&mut line.answer, joined, Some(line.history)))
        })?;
        for (session, count) in sessions.iter_mut().zip(counts) {
            if let (Some(line), Some(count)) = (session.script.lines.get_mut(turn), count) {
                line.history = count;
                if line.asks_history {
                    line.lengths.answer = count.max(1);
                }
            }
        }
        Ok(())
    }

    /// A message after another in one prompt begins with the blank between them; one of a chat stands by itself.
    fn lead(&self, first: bool) -> &'static str {
        let chat = matches!(
            self.writer.api,
            Api::OpenAiChat | Api::OpenAiResponses | Api::OllamaChat
        );
        if first || chat { "" } else { " " }
    }

    /// Makes the chosen message of every session right and returns its tokens, where the session has one.
    fn fit_messages<'s>(
        &self,
        sessions: &'s mut [Session],
        streams: &mut [Draws],
        choose: impl Fn(&'s mut Script) -> Option<(&'s mut Box<[Piece]>, &'static str, Option<u32>)>,
    ) -> Result<Vec<Option<u32>>, PromptError> {
        let mut messages: Vec<Option<Message<'s>>> = Vec::with_capacity(sessions.len());
        for (session, stream) in sessions.iter_mut().zip(streams.iter()) {
            messages.push(
                choose(&mut session.script).map(|(pieces, lead, target)| Message {
                    target: target.filter(|_| is_made_up(pieces)),
                    pieces,
                    draws: stream.clone(),
                    lead,
                    best: None,
                    fill: 0,
                    tries: 0,
                }),
            );
        }
        self.approach(&mut messages)?;
        let counts = messages.iter_mut().zip(streams).map(|(message, stream)| {
            let message = message.as_mut()?;
            let (_, tokens, pieces) = message.best.take()?;
            *message.pieces = pieces;
            // The stream goes on where this message ends.
            self.writer.text(message.pieces, stream);
            Some(tokens)
        });
        Ok(counts.collect())
    }

    /// Counts, mends, and counts again, until all are right or cannot come nearer.
    fn approach(&self, messages: &mut [Option<Message<'_>>]) -> Result<(), PromptError> {
        let mut open: Vec<usize> = Vec::new();
        for (place, message) in messages.iter_mut().enumerate() {
            if let Some(message) = message {
                if let Some(target) = message.target {
                    self.guess(message.pieces, target);
                }
                open.push(place);
            }
        }
        for _ in 0..TRIES {
            let texts: Vec<String> = open
                .iter()
                .filter_map(|place| messages[*place].as_ref())
                .map(|it| self.written(it))
                .collect();
            let counts = self.counter.count(&texts).map_err(PromptError::Tokens)?;
            let mut still = Vec::new();
            for (place, count) in open.into_iter().zip(counts) {
                let Some(message) = &mut messages[place] else {
                    continue;
                };
                if message.take(count, self.counter.is_exact(), self.per_word) {
                    still.push(place);
                }
            }
            if still.is_empty() {
                break;
            }
            open = still;
        }
        Ok(())
    }

    fn written(&self, message: &Message<'_>) -> String {
        let text = self.writer.text(message.pieces, &mut message.draws.clone());
        format!("{}{text}", message.lead)
    }

    /// The first guess: as many own words as the tokens beside the shared ones need.
    fn guess(&self, pieces: &mut Box<[Piece]>, target: u32) {
        let shared: u32 = pieces.iter().map(|piece| self.tokens(piece)).sum();
        let own = f64::from(target.saturating_sub(shared)) / self.per_word;
        if let Some(Piece::Own(words)) = pieces.last_mut() {
            *words = (own.round() as u32).max(u32::from(shared == 0));
        }
    }

    fn tokens(&self, piece: &Piece) -> u32 {
        match piece {
            Piece::Own(_) | Piece::Given(_) => 0,
            Piece::Shared { words, .. } => (f64::from(*words) * self.per_word).round() as u32,
        }
    }

    /// Gives every shared text the words that its tokens need.
    fn fit_shared(&mut self, sessions: &mut [Session]) -> Result<(), PromptError> {
        let mut wanted: Vec<(u64, u32)> = Vec::new();
        each_shared(sessions, |stream, tokens| {
            if self.shared.insert((stream, *tokens), 0).is_none() {
                wanted.push((stream, *tokens));
            }
        });
        let mut texts: Vec<Box<[Piece]>> = wanted.iter().map(|_| [Piece::Own(0)].into()).collect();
        let messages = texts
            .iter_mut()
            .zip(&wanted)
            .map(|(pieces, (stream, tokens))| {
                Some(Message {
                    pieces,
                    draws: Draws::new(*stream),
                    lead: "",
                    target: Some(*tokens),
                    best: None,
                    fill: 0,
                    tries: 0,
                })
            });
        let mut messages: Vec<_> = messages.collect();
        self.approach(&mut messages)?;
        for (message, key) in messages.iter().zip(&wanted) {
            let best = message.as_ref().and_then(|message| message.best.as_ref());
            if let Some([Piece::Own(words)]) = best.map(|(.., pieces)| &**pieces) {
                self.shared.insert(*key, *words);
            }
        }
        each_shared(sessions, |stream, words| {
            *words = self
                .shared
                .get(&(stream, *words))
                .copied()
                .unwrap_or(*words);
        });
        Ok(())
    }
}

fn each_shared(sessions: &mut [Session], mut on: impl FnMut(u64, &mut u32)) {
    let lines = sessions.iter_mut().flat_map(|it| &mut it.script.lines);
    for piece in lines
        .flat_map(|line| &mut line.said)
        .flat_map(|said| &mut said.pieces)
    {
        if let Piece::Shared { stream, words } = piece {
            on(*stream, words);
        }
    }
}

/// Whether all of it is made up, so that it can be made longer or shorter.
fn is_made_up(pieces: &[Piece]) -> bool {
    !pieces.is_empty() && pieces.iter().all(|piece| !matches!(piece, Piece::Given(_)))
}

impl Message<'_> {
    /// Notes a count and mends the text; whether it is worth counting again.
    fn take(&mut self, count: u32, exact: bool, per_word: f64) -> bool {
        let target = self.target.unwrap_or(count);
        let off = count.abs_diff(target);
        let nearer = self.best.as_ref().is_none_or(|(best, ..)| off < *best);
        if nearer {
            // A guess is a guess: what was meant stays what is planned.
            let tokens = if exact { count } else { target };
            self.best = Some((off, tokens, self.pieces.clone()));
        }
        if off == 0 || !exact {
            return false;
        }
        self.mend(i64::from(target) - i64::from(count), per_word)
    }

    /// Adds or takes away at the end, first words, then fillers; whether that changed anything.
    fn mend(&mut self, more: i64, per_word: f64) -> bool {
        let before = (self.pieces.clone(), self.fill);
        self.tries += 1;
        let mut pieces = std::mem::take(self.pieces).into_vec();
        if 0 < self.fill {
            pieces.pop();
        }
        let fill = i64::from(self.fill);
        match (self.tries <= TRIES / 3, more) {
            (false, 0..) => self.fill = (fill + more) as u32,
            (false, _) if 0 < fill => self.fill = (fill + more).max(0) as u32,
            // No word is less than a token; what is then missing is filled.
            (false, _) => shift(&mut pieces, more),
            (true, _) => shift(&mut pieces, (more as f64 / per_word).round() as i64),
        }
        if 0 < self.fill {
            let fillers = vec![FILLER; self.fill as usize].join(" ");
            pieces.push(Piece::Given(fillers.into()));
        }
        *self.pieces = pieces.into();
        before != (self.pieces.clone(), self.fill)
    }
}

/// So many words more or fewer at the end.
fn shift(pieces: &mut Vec<Piece>, more: i64) {
    if !matches!(pieces.last(), Some(Piece::Own(_))) && 0 < more {
        pieces.push(Piece::Own(0));
    }
    if let Some(Piece::Own(words) | Piece::Shared { words, .. }) = pieces.last_mut() {
        *words = i64::from(*words).saturating_add(more).max(0) as u32;
    }
}
