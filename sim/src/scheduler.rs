//! Which sequences share the next step: iteration-level continuous batching, as vLLM's V1 scheduler does it.
//!
//! Running sequences come first, in the order they started, each with as many tokens as it still lacks (one, once its prompt
//! is done); then waiting ones start, first come first served, as far as the step's token budget, the number of
//! sequences and the KV cache allow. Where a running sequence finds no block, the one that started last gives up its blocks,
//! goes back to the head of the queue and will be computed anew. With speculation a decode also verifies guesses, which count
//! against the budget and need room in the cache like any token.

use std::collections::VecDeque;

use crate::config::{BLOCK_SIZE, Config};
use crate::kv::{BlockId, KvPool};
use crate::sequence::Sequence;

/// Queues, running set and KV cache.
pub struct Scheduler {
    pub(crate) waiting: VecDeque<Sequence>,
    pub(crate) running: Vec<Sequence>,
    pub(crate) kv: KvPool,
    limits: Limits,
    /// Counters for the engine's statistics.
    pub(crate) counts: Counts,
}

struct Limits {
    sequences: usize,
    tokens: usize,
    caching: bool,
    chunked: bool,
    /// Most tokens of one prompt beside others.
    prompt_tokens: usize,
    drafts: usize,
}

/// What the scheduler counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sequences that had to give up their blocks.
    pub preemptions: u64,
    /// Prompt tokens looked up in the prefix cache.
    pub cache_queries: u64,
    /// Prompt tokens found there.
    pub cache_hits: u64,
}

impl Scheduler {
    /// Empty queues and an empty cache.
    pub fn new(config: &Config) -> Self {
        Self {
            waiting: VecDeque::new(),
            running: Vec::new(),
            kv: KvPool::new(config.kv_blocks),
            limits: Limits {
                sequences: config.max_num_seqs as usize,
                tokens: config.max_num_batched_tokens as usize,
                caching: config.enable_prefix_caching,
                chunked: config.enable_chunked_prefill,
                prompt_tokens: match config.long_prefill_token_threshold {
                    0 => usize::MAX,
                    most => most as usize,
                },
                drafts: config.num_speculative_tokens as usize,
            },
            counts: Counts::default(),
        }
    }

    /// Sets `scheduled` of every running sequence for the next step. Returns the tokens of the step.
    pub(crate) fn schedule(&mut self) -> usize {
        let preempted = self.counts.preemptions;
        let left = self.continue_running(self.limits.tokens);
        // Whoever was just preempted must not start again at once and preempt in turn.
        let left = if preempted == self.counts.preemptions {
            self.start_waiting(left)
        } else {
            left
        };
        self.limits.tokens - left
    }

    /// Gives each running sequence what it lacks, within `budget`; returns what is left of it.
    fn continue_running(&mut self, mut budget: usize) -> usize {
        self.running
            .iter_mut()
            .for_each(|sequence| (sequence.scheduled, sequence.drafts) = (0, 0));
        let most = self.most_of_a_prompt();
        let mut index = 0;
        while index < self.running.len() && 0 < budget {
            let sequence = &self.running[index];
            let wanted = (sequence.tokens.len() - sequence.computed).min(most.min(budget));
            let drafts = self.drafts(sequence, budget - wanted);
            if !self.grow(index, wanted + drafts) {
                break;
            }
            let sequence = &mut self.running[index];
            (sequence.scheduled, sequence.drafts) = (wanted, drafts);
            self.remember_full_blocks(index);
            budget -= wanted + drafts;
            index += 1;
        }
        budget
    }

    /// Most tokens that a step computes of one prompt. Alone, a prompt starves nobody and has no limit.
    fn most_of_a_prompt(&self) -> usize {
        if self.limits.chunked && 1 < self.running.len() + self.waiting.len() {
            self.limits.prompt_tokens
        } else {
            usize::MAX
        }
    }

    /// Tokens guessed ahead of a sequence: none before its prompt is done, and none beyond its end.
    fn drafts(&self, sequence: &Sequence, budget: usize) -> usize {
        if !sequence.is_decoding() {
            return 0;
        }
        let lacking = (sequence.max_tokens - sequence.answered()) as usize;
        self.limits.drafts.min(budget).min(lacking - 1)
    }

    /// Blocks for `wanted` more tokens of running sequence `index`, taken from later ones where there are none free.
    /// `false`: it was itself the last one and had to go.
    fn grow(&mut self, index: usize, wanted: usize) -> bool {
        loop {
            let sequence = &mut self.running[index];
            let missing = sequence.missing_blocks(sequence.computed + wanted);
            if self.kv.take(missing, &mut sequence.blocks) {
                return true;
            }
            let was_itself = self.running.len() == index + 1;
            self.preempt_last();
            if was_itself {
                return false;
            }
        }
    }

    fn preempt_last(&mut self) {
        let Some(mut sequence) = self.running.pop() else {
            return;
        };
        self.kv.release(&sequence.blocks);
        sequence.blocks.clear();
        sequence.computed = 0;
        sequence.scheduled = 0;
        sequence.drafts = 0;
        sequence.remembered = 0;
        sequence.preemptions += 1;
        self.counts.preemptions += 1;
        self.waiting.push_front(sequence);
    }

    /// Starts waiting sequences within `budget`; returns what is left of it.
    fn start_waiting(&mut self, mut budget: usize) -> usize {
        let most = self.most_of_a_prompt();
        while 0 < budget && self.running.len() < self.limits.sequences {
            let Some(sequence) = self.waiting.front() else {
                break;
            };
            let cached = self.cached_prefix(sequence);
            let lacking = sequence.tokens.len() - cached.len() * BLOCK_SIZE;
            let wanted = lacking.min(most.min(budget));
            let whole = sequence.missing_blocks(sequence.tokens.len()) - cached.len();
            if (!self.limits.chunked && wanted < lacking) || !self.kv.fits(&cached, whole) {
                break;
            }
            self.start_first(&cached, wanted);
            budget -= wanted;
        }
        budget
    }

    /// Cached blocks the sequence can begin with. Its last token is always computed: its answer comes from there.
    fn cached_prefix(&self, sequence: &Sequence) -> Vec<BlockId> {
        if !self.limits.caching {
            return Vec::new();
        }
        let most = ((sequence.tokens.len() - 1) / BLOCK_SIZE).min(sequence.hashes.len());
        self.kv.cached_prefix(&sequence.hashes[..most])
    }

    /// Moves the head of the queue into the running set; the caller has checked that its blocks are there.
    fn start_first(&mut self, cached: &[BlockId], wanted: usize) {
        let Some(mut sequence) = self.waiting.pop_front() else {
            return;
        };
        self.kv.share(cached);
        sequence.blocks.extend_from_slice(cached);
        sequence.computed = cached.len() * BLOCK_SIZE;
        sequence.remembered = cached.len();
        sequence.scheduled = wanted;
        let missing = sequence.missing_blocks(sequence.computed + wanted);
        let taken = self.kv.take(missing, &mut sequence.blocks);
        debug_assert!(taken, "checked with fits");
        if sequence.cached.is_none() {
            sequence.cached = Some(sequence.computed);
            if self.limits.caching {
                self.counts.cache_queries += sequence.prompt_len as u64;
                self.counts.cache_hits += sequence.computed as u64;
            }
        }
        self.running.push(sequence);
        self.remember_full_blocks(self.running.len() - 1);
    }

    /// Blocks that this step fills can be shared from this step on, as in vLLM.
    fn remember_full_blocks(&mut self, index: usize) {
        if !self.limits.caching {
            return;
        }
        let sequence = &mut self.running[index];
        let full =
            ((sequence.computed + sequence.scheduled) / BLOCK_SIZE).min(sequence.hashes.len());
        for block in sequence.remembered..full {
            self.kv
                .remember(sequence.blocks[block], sequence.hashes[block]);
        }
        sequence.remembered = sequence.remembered.max(full);
    }

    /// Takes out every sequence that `leaves` says goes; its blocks are free at once.
    pub(crate) fn remove(&mut self, mut leaves: impl FnMut(&Sequence) -> bool) -> Vec<Sequence> {
        let mut gone: Vec<Sequence> = self
            .running
            .extract_if(.., |sequence| leaves(sequence))
            .collect();
        gone.iter()
            .for_each(|sequence| self.kv.release(&sequence.blocks));
        if self.waiting.iter().any(&mut leaves) {
            let (leaving, staying) = std::mem::take(&mut self.waiting)
                .into_iter()
                .partition::<Vec<_>, _>(leaves);
            self.waiting = staying.into();
            gone.extend(leaving);
        }
        gone
    }
}
