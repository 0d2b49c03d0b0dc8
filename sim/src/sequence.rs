//! One sequence on its way through the engine.

use measure::sampling::derive;
use measure::units::Nanos;

use crate::config::BLOCK_SIZE;
use crate::kv::BlockId;
use crate::tokens::{Token, answer_token, block_hash};

/// Keeps the draws of guesses apart from those of words.
const GUESS: u64 = 0x6775_6573;

/// Names a sequence for as long as the engine lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SequenceId(pub u64);

/// What a client asks of the engine.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The prompt.
    pub prompt: Vec<Token>,
    /// Length of the answer, at least 1.
    pub max_tokens: u32,
    /// Decides the words of the answer.
    pub seed: u64,
    /// Hashes of the prompt's full blocks, made by [`prompt_hashes`]; empty without prefix caching.
    pub hashes: Vec<u64>,
}

/// Hashes of the full blocks of a prompt.
pub fn prompt_hashes(prompt: &[Token]) -> Vec<u64> {
    let chain = |before: &mut u64, block: &[Token]| {
        *before = block_hash(*before, block);
        Some(*before)
    };
    prompt.chunks_exact(BLOCK_SIZE).scan(0, chain).collect()
}

/// A sequence waiting or running.
#[derive(Debug)]
pub(crate) struct Sequence {
    pub id: SequenceId,
    /// Prompt, then the answer so far.
    pub tokens: Vec<Token>,
    pub prompt_len: usize,
    pub max_tokens: u32,
    pub seed: u64,
    /// Tokens whose KV is there (at the end of the current step).
    pub computed: usize,
    /// Tokens computed in the current step; zero outside it.
    pub scheduled: usize,
    /// Guesses after them that the current step verifies.
    pub drafts: usize,
    pub blocks: Vec<BlockId>,
    /// Hashes of the full blocks of `tokens`; empty without prefix caching.
    pub hashes: Vec<u64>,
    /// Leading blocks that are already findable by content.
    pub remembered: usize,
    /// Prompt tokens found in the cache when it first started; `None` before.
    pub cached: Option<usize>,
    pub arrived: Nanos,
    /// Begin of the first step it took part in.
    pub started: Option<Nanos>,
    /// End of the step of its first token.
    pub first_token: Nanos,
    /// End of the step of its latest token.
    pub last_token: Option<Nanos>,
    /// How often it had to give up its blocks.
    pub preemptions: u32,
}

impl Sequence {
    pub fn new(id: SequenceId, ask: Ask, arrived: Nanos) -> Self {
        let Ask {
            prompt,
            max_tokens,
            seed,
            hashes,
        } = ask;
        Self {
            id,
            prompt_len: prompt.len(),
            tokens: prompt,
            max_tokens: max_tokens.max(1),
            seed,
            computed: 0,
            scheduled: 0,
            drafts: 0,
            blocks: Vec::new(),
            hashes,
            remembered: 0,
            cached: None,
            arrived,
            started: None,
            first_token: Nanos::ZERO,
            last_token: None,
            preemptions: 0,
        }
    }

    /// Tokens of the answer so far.
    pub fn answered(&self) -> u32 {
        (self.tokens.len() - self.prompt_len) as u32
    }

    /// Whether all but the latest token of an answer under way is computed: the next step decodes.
    pub fn is_decoding(&self) -> bool {
        self.prompt_len < self.tokens.len() && self.computed + 1 == self.tokens.len()
    }

    /// Guesses that are right, of those the current step verifies: each has the chance `rate`, and the first wrong one ends them.
    pub fn accepted(&self, rate: f64) -> usize {
        let is_right = |guess: &usize| {
            let draw = derive(
                self.seed,
                &[u64::from(self.answered()), *guess as u64, GUESS],
            );
            (draw >> 11) as f64 / ((1u64 << 53) as f64) < rate
        };
        (0..self.drafts).take_while(is_right).count()
    }

    /// Blocks that are missing for its first `tokens` tokens.
    pub fn missing_blocks(&self, tokens: usize) -> usize {
        tokens
            .div_ceil(BLOCK_SIZE)
            .saturating_sub(self.blocks.len())
    }

    /// Appends the next token of the answer.
    pub fn answer(&mut self, caching: bool) {
        let index = self.answered();
        self.tokens.push(answer_token(self.seed, index));
        if caching && self.tokens.len().is_multiple_of(BLOCK_SIZE) {
            let before = self.hashes.last().copied().unwrap_or(0);
            self.hashes.push(block_hash(
                before,
                &self.tokens[self.tokens.len() - BLOCK_SIZE..],
            ));
        }
    }

    pub fn is_finished(&self) -> bool {
        self.max_tokens <= self.answered()
    }
}
