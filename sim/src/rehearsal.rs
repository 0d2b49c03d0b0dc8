//! The engine in virtual time: what would happen, worked out as fast as it can be computed.
//!
//! For tests, and for choosing rates before a study: the same engine and the same steps, without wire, client or clock.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use measure::units::Nanos;

use crate::config::Config;
use crate::engine::{Ask, Engine, SequenceId};

/// Turns that follow one another, each asked when the answer before it has ended.
#[derive(Clone, Debug)]
pub struct Session {
    /// When its first turn is asked.
    pub start: Nanos,
    /// Its turns, with the pause before each (the first one's is ignored).
    pub turns: Vec<(Ask, Nanos)>,
}

/// What became of one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Index of its session.
    pub session: usize,
    /// Index within the session.
    pub turn: usize,
    /// When it was asked.
    pub arrived: Nanos,
    /// When its first token came.
    pub first: Nanos,
    /// When its last token came.
    pub last: Nanos,
    /// Length of its answer.
    pub tokens: u32,
    /// Prompt tokens found in the prefix cache.
    pub cached: u32,
}

impl Outcome {
    /// Time to the first token.
    pub fn ttft(&self) -> Nanos {
        self.first.since(self.arrived)
    }

    /// Mean time of each token after the first; `None` for a single token.
    pub fn tpot(&self) -> Option<Nanos> {
        let gaps = u64::from(self.tokens)
            .checked_sub(1)
            .filter(|gaps| 0 < *gaps)?;
        Some(Nanos(self.last.since(self.first).0 / gaps))
    }
}

/// Runs all sessions to their end. Outcomes come in the order in which they ended.
pub fn rehearse(config: &Config, sessions: &[Session]) -> Vec<Outcome> {
    let mut stage = Stage {
        sessions,
        engine: Engine::new(config),
        coming: sessions
            .iter()
            .enumerate()
            .map(|(index, session)| Reverse((session.start, index, 0)))
            .collect(),
        playing: HashMap::new(),
        ended: Vec::new(),
    };
    let mut now = Nanos::ZERO;
    while let Some(begins) = stage.next_step(now) {
        now = stage.step(begins);
    }
    stage.ended
}

struct Stage<'a> {
    sessions: &'a [Session],
    engine: Engine,
    /// Arrival, session, turn; the earliest first.
    coming: BinaryHeap<Reverse<(Nanos, usize, usize)>>,
    playing: HashMap<SequenceId, Outcome>,
    ended: Vec<Outcome>,
}

impl Stage<'_> {
    /// When the next step begins, not before `now`; `None` when all is done.
    fn next_step(&mut self, now: Nanos) -> Option<Nanos> {
        let begins = match self.coming.peek() {
            Some(Reverse((arrival, ..))) if self.engine.is_idle() => now.max(*arrival),
            None if self.engine.is_idle() => return None,
            _ => now,
        };
        while let Some(&Reverse((arrived, session, turn))) = self.coming.peek()
            && arrived <= begins
        {
            self.coming.pop();
            let ask = self.sessions[session].turns[turn].0.clone();
            let id = self.engine.add(ask, arrived);
            let outcome = Outcome {
                session,
                turn,
                arrived,
                first: arrived,
                last: arrived,
                tokens: 0,
                cached: 0,
            };
            self.playing.insert(id, outcome);
        }
        Some(begins)
    }

    fn step(&mut self, begins: Nanos) -> Nanos {
        let step = self.engine.step(begins);
        for token in step.emitted {
            let Some(outcome) = self.playing.get_mut(&token.id) else {
                continue;
            };
            if token.index == 0 {
                outcome.first = step.ends;
            }
            outcome.last = step.ends;
            outcome.tokens = token.index + 1;
            outcome.cached = token.cached;
            if token.finished {
                self.end(token.id);
            }
        }
        step.ends
    }

    /// Keeps the outcome and calls the session's next turn.
    fn end(&mut self, id: SequenceId) {
        let Some(outcome) = self.playing.remove(&id) else {
            return;
        };
        let next = outcome.turn + 1;
        if let Some((_, think)) = self.sessions[outcome.session].turns.get(next) {
            self.coming
                .push(Reverse((outcome.last + *think, outcome.session, next)));
        }
        self.ended.push(outcome);
    }
}

#[cfg(test)]
mod tests;
