//! One step of the engine: who takes part, how long it takes, which tokens come out.
//!
//! Pure: the caller says what time it is. The same asks at the same times give the same steps.

use std::collections::HashSet;

use measure::units::Nanos;

use crate::config::Config;
use crate::cost::{Cost, Work};
use crate::scheduler::{Counts, Scheduler};
use crate::sequence::Sequence;
pub use crate::sequence::{Ask, SequenceId, prompt_hashes};
use crate::stats::Stats;

/// The engine's state between two steps.
pub struct Engine {
    scheduler: Scheduler,
    cost: Cost,
    caching: bool,
    acceptance: f64,
    next_id: u64,
    stats: Stats,
}

/// What a step did.
#[derive(Clone, Debug, PartialEq)]
pub struct StepResult {
    /// When it ends: its tokens exist from then on.
    pub ends: Nanos,
    /// Tokens scheduled, prefill and decode together.
    pub tokens: usize,
    /// What was computed.
    pub work: Work,
    /// What came out, one entry a sequence.
    pub emitted: Vec<Emitted>,
}

/// The new tokens of a sequence: one, and those that were guessed right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emitted {
    /// The sequence.
    pub id: SequenceId,
    /// Which token of its answer the first of them is, from 0.
    pub index: u32,
    /// How many they are, at least 1.
    pub count: u32,
    /// Whether the answer's last token is among them.
    pub finished: bool,
    /// Prompt tokens that came from the prefix cache when the sequence first started.
    pub cached: u32,
}

impl Engine {
    /// An idle engine with an empty cache.
    pub fn new(config: &Config) -> Self {
        Self {
            scheduler: Scheduler::new(config),
            cost: config.cost,
            caching: config.enable_prefix_caching,
            acceptance: config.synthetic_acceptance_rate,
            next_id: 0,
            stats: Stats::new(config),
        }
    }

    /// Queues an ask. Its prompt and answer must fit the context, which the edge has checked.
    pub fn add(&mut self, mut ask: Ask, arrived: Nanos) -> SequenceId {
        let id = SequenceId(self.next_id);
        self.next_id += 1;
        if !self.caching {
            ask.hashes.clear();
        }
        self.scheduler
            .waiting
            .push_back(Sequence::new(id, ask, arrived));
        id
    }

    /// Takes sequences out, whose clients have left. Their blocks are free for the next step.
    pub fn abort(&mut self, ids: &HashSet<SequenceId>) {
        self.stats.aborted += self
            .scheduler
            .remove(|sequence| ids.contains(&sequence.id))
            .len() as u64;
        self.gauge();
    }

    /// Whether nothing waits and nothing runs.
    pub fn is_idle(&self) -> bool {
        self.scheduler.waiting.is_empty() && self.scheduler.running.is_empty()
    }

    /// Sequences waiting and running.
    pub fn len(&self) -> usize {
        self.scheduler.waiting.len() + self.scheduler.running.len()
    }

    /// The same as [`Engine::is_idle`].
    pub fn is_empty(&self) -> bool {
        self.is_idle()
    }

    /// Forgets every cached prefix.
    pub fn reset_prefix_cache(&mut self) {
        self.scheduler.kv.forget_all();
    }

    /// Free and all KV blocks.
    pub fn kv_blocks(&self) -> (usize, usize) {
        (self.scheduler.kv.free(), self.scheduler.kv.total())
    }

    /// What was counted so far.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The same, for what the driver counts.
    pub(crate) fn stats_mut(&mut self) -> &mut Stats {
        &mut self.stats
    }

    /// Counts from zero again what the scheduler counts.
    pub(crate) fn forget_counts(&mut self) {
        self.scheduler.counts = Counts::default();
    }

    /// Runs one step that begins at `now`.
    pub fn step(&mut self, now: Nanos) -> StepResult {
        let tokens = self.scheduler.schedule();
        self.gauge();
        let work = self.work();
        let ends = now + self.cost.step(&work);
        let before = self.stats.prompt_tokens + self.stats.generation_tokens;
        let emitted = self.advance(now, ends);
        self.stats.count_step(before, &emitted);
        self.scheduler.remove(|sequence| sequence.is_finished());
        StepResult {
            ends,
            tokens,
            work,
            emitted,
        }
    }

    /// Brings the gauges up to date: within a step they show the step.
    pub(crate) fn gauge(&mut self) {
        self.stats.running = self.scheduler.running.len() as u64;
        self.stats.waiting = self.scheduler.waiting.len() as u64;
        self.stats.kv_usage = self.scheduler.kv.usage();
        self.stats.counts = self.scheduler.counts;
    }

    fn work(&self) -> Work {
        let mut work = Work::default();
        for sequence in self
            .scheduler
            .running
            .iter()
            .filter(|sequence| 0 < sequence.scheduled)
        {
            if sequence.is_decoding() {
                work.verify(sequence.computed as u64, sequence.drafts as u64);
            } else {
                work.prefill(sequence.computed as u64, sequence.scheduled as u64);
            }
        }
        work
    }

    /// Every sequence whose tokens are all computed now has one more, and those of its guesses that were right.
    fn advance(&mut self, begins: Nanos, ends: Nanos) -> Vec<Emitted> {
        let mut emitted = Vec::with_capacity(self.scheduler.running.len());
        for sequence in &mut self.scheduler.running {
            let scheduled = std::mem::take(&mut sequence.scheduled);
            if scheduled == 0 {
                continue;
            }
            sequence.started.get_or_insert(begins);
            sequence.computed += scheduled;
            if sequence.computed < sequence.tokens.len() {
                continue;
            }
            let accepted = sequence.accepted(self.acceptance);
            self.stats.count_guesses(sequence.drafts, accepted);
            let index = sequence.answered();
            (0..=accepted).for_each(|_| sequence.answer(self.caching));
            sequence.computed += accepted;
            let token = Emitted {
                id: sequence.id,
                index,
                count: accepted as u32 + 1,
                finished: sequence.is_finished(),
                cached: sequence.cached.unwrap_or(0) as u32,
            };
            self.stats.count_tokens(sequence, &token, ends);
            emitted.push(token);
        }
        emitted
    }
}

#[cfg(test)]
mod tests;
