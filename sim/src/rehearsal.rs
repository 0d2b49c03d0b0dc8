//! The engine in virtual time: what would happen, worked out as fast as it can be computed.
//!
//! For tests, and for choosing rates before a study: the same engine and the same steps, without wire, client or clock.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use measure::quantile::percentile_linear;
use measure::units::Nanos;

use crate::config::Config;
use crate::engine::{Ask, Emitted, Engine, SequenceId};
use crate::stats::Stats;

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
    /// The 95th percentile of the gaps between its events; `None` for a single event.
    pub itl_p95: Option<Nanos>,
    /// The longest of them.
    pub stall: Option<Nanos>,
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

/// A rehearsal and what the engine showed meanwhile.
#[derive(Clone, Debug, PartialEq)]
pub struct Rehearsal {
    /// In the order in which they ended.
    pub outcomes: Vec<Outcome>,
    /// Of each of them the nanoseconds between its events, as they came.
    pub gaps: Vec<Vec<f64>>,
    /// What `/metrics` would have said, at even times. [`crate::metrics_page`] makes its text.
    pub samples: Vec<(Nanos, Stats)>,
    /// What was counted in the end.
    pub stats: Stats,
}

/// Runs all sessions to their end. Outcomes come in the order in which they ended.
pub fn rehearse(config: &Config, sessions: &[Session]) -> Vec<Outcome> {
    Stage::new(Engine::new(config), sessions, Nanos(u64::MAX))
        .play()
        .outcomes
}

/// The same, with the engine's numbers taken every so often from zero on; and after `prelude` was run to its end on the same
/// engine, of which nothing remains but what the prefix cache holds.
pub fn rehearse_after(
    config: &Config,
    prelude: &[Session],
    sessions: &[Session],
    every: Nanos,
) -> Rehearsal {
    let mut before = Stage::new(Engine::new(config), prelude, Nanos(u64::MAX));
    before.run();
    let mut engine = before.engine;
    *engine.stats_mut() = Stats::new(config);
    engine.forget_counts();
    Stage::new(engine, sessions, every).play()
}

struct Stage<'a> {
    sessions: &'a [Session],
    engine: Engine,
    /// Arrival, session, turn; the earliest first.
    coming: BinaryHeap<Reverse<(Nanos, usize, usize)>>,
    playing: HashMap<SequenceId, Playing>,
    ended: Vec<Outcome>,
    gaps: Vec<Vec<f64>>,
    every: Nanos,
    samples: Vec<(Nanos, Stats)>,
}

struct Playing {
    outcome: Outcome,
    /// Nanoseconds between events.
    gaps: Vec<f64>,
}

impl<'a> Stage<'a> {
    fn new(engine: Engine, sessions: &'a [Session], every: Nanos) -> Self {
        Self {
            sessions,
            engine,
            coming: sessions
                .iter()
                .enumerate()
                .map(|(index, session)| Reverse((session.start, index, 0)))
                .collect(),
            playing: HashMap::new(),
            ended: Vec::new(),
            gaps: Vec::new(),
            every,
            samples: Vec::new(),
        }
    }

    fn play(mut self) -> Rehearsal {
        self.run();
        Rehearsal {
            outcomes: self.ended,
            gaps: self.gaps,
            samples: self.samples,
            stats: self.engine.stats().clone(),
        }
    }

    fn run(&mut self) {
        let mut now = Nanos::ZERO;
        while let Some(begins) = self.next_step(now) {
            // Until then the engine idled.
            self.sample_before(begins);
            now = self.step(begins);
        }
    }

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
            self.ask(arrived, session, turn);
        }
        Some(begins)
    }

    fn ask(&mut self, arrived: Nanos, session: usize, turn: usize) {
        let ask = self.sessions[session].turns[turn].0.clone();
        let gaps = Vec::with_capacity(ask.max_tokens as usize);
        let id = self.engine.add(ask, arrived);
        let outcome = Outcome {
            session,
            turn,
            arrived,
            first: arrived,
            last: arrived,
            tokens: 0,
            cached: 0,
            itl_p95: None,
            stall: None,
        };
        self.playing.insert(id, Playing { outcome, gaps });
    }

    /// Takes the samples that are due before `until`.
    fn sample_before(&mut self, until: Nanos) {
        while let Some(at) = (self.samples.len() as u64).checked_mul(self.every.0)
            && at < until.0
        {
            self.samples.push((Nanos(at), self.engine.stats().clone()));
        }
    }

    fn step(&mut self, begins: Nanos) -> Nanos {
        let step = self.engine.step(begins);
        self.sample_before(step.ends);
        self.engine.gauge();
        for token in step.emitted {
            if let Some(playing) = self.playing.get_mut(&token.id) {
                playing.note(&token, step.ends);
            }
            if token.finished {
                self.end(token.id);
            }
        }
        step.ends
    }

    /// Keeps the outcome and calls the session's next turn.
    fn end(&mut self, id: SequenceId) {
        let Some(playing) = self.playing.remove(&id) else {
            return;
        };
        let outcome = playing.ended();
        let next = outcome.turn + 1;
        if let Some((_, think)) = self.sessions[outcome.session].turns.get(next) {
            self.coming
                .push(Reverse((outcome.last + *think, outcome.session, next)));
        }
        self.ended.push(outcome);
        self.gaps.push(playing.gaps);
    }
}

impl Playing {
    fn note(&mut self, token: &Emitted, ends: Nanos) {
        let outcome = &mut self.outcome;
        if token.index == 0 {
            outcome.first = ends;
        } else {
            self.gaps.push(ends.since(outcome.last).0 as f64);
        }
        outcome.last = ends;
        outcome.tokens = token.index + token.count;
        outcome.cached = token.cached;
    }

    fn ended(&self) -> Outcome {
        let mut gaps = self.gaps.clone();
        gaps.sort_by(f64::total_cmp);
        let nanos = |gap: f64| Nanos(gap.round() as u64);
        Outcome {
            itl_p95: percentile_linear(&gaps, 95.0).map(nanos),
            stall: gaps.last().copied().map(nanos),
            ..self.outcome
        }
    }
}

#[cfg(test)]
mod tests;
