//! What a scenario asks of the engine.

use measure::sampling::{Draws, derive};
use measure::units::Nanos;

use crate::engine::{Ask, prompt_hashes};
use crate::rehearsal::Session;
use crate::tokens::Token;

/// Sessions that arrive by chance and what each asks. Lengths are drawn evenly between their ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// How many sessions.
    pub sessions: usize,
    /// Session starts per second, Poisson.
    pub rate: f64,
    /// Every so many sessions a crowd arrives at once; zero for never.
    pub crowd_every: usize,
    /// How many arrive then.
    pub crowd: usize,
    /// Fewest and most tokens of a prompt, without what it shares with others.
    pub prompt: (u32, u32),
    /// Every so many prompts one is long; zero for never.
    pub long_every: usize,
    /// Tokens of those.
    pub long_prompt: u32,
    /// Fewest and most tokens of an answer.
    pub answer: (u32, u32),
    /// Prompts begin with one of so many texts; zero for none.
    pub prefixes: usize,
    /// Tokens of each such text.
    pub prefix: u32,
    /// Whether the same was asked before, and is still in the prefix cache.
    pub warm: bool,
}

impl Default for Load {
    /// Single chats of middle length that share nothing.
    fn default() -> Self {
        Self {
            sessions: 300,
            rate: 1.0,
            crowd_every: 0,
            crowd: 0,
            prompt: (100, 400),
            long_every: 0,
            long_prompt: 0,
            answer: (50, 150),
            prefixes: 0,
            prefix: 0,
            warm: false,
        }
    }
}

impl Load {
    /// The sessions of this load, by order of arrival. The same seed gives the same sessions, whatever the rate.
    pub fn sessions(&self, seed: u64) -> Vec<Session> {
        let mut gaps = Draws::new(derive(seed, &[0]));
        let mut sizes = Draws::new(derive(seed, &[1]));
        let mut at = 0.0;
        (0..self.sessions)
            .map(|index| {
                let gap = gaps.exponential(1.0) / self.rate;
                if !self.is_in_crowd(index) {
                    at += gap;
                }
                Session {
                    start: Nanos::from_secs_f64(at),
                    turns: vec![(self.ask(seed, index, &mut sizes), Nanos::ZERO)],
                }
            })
            .collect()
    }

    /// Whether this session comes together with the one before.
    fn is_in_crowd(&self, index: usize) -> bool {
        let cycle = self.crowd_every + self.crowd;
        self.crowd_every != 0 && self.crowd_every < index % cycle
    }

    fn ask(&self, seed: u64, index: usize, sizes: &mut Draws) -> Ask {
        let mut between = |(least, most): (u32, u32)| {
            least + sizes.below((most.saturating_sub(least) + 1) as usize) as u32
        };
        let (mut own, max_tokens) = (between(self.prompt), between(self.answer));
        let group = sizes.below(self.prefixes.max(1));
        if (index + 1).checked_rem(self.long_every) == Some(0) {
            own = self.long_prompt;
        }
        let mut prompt: Vec<Token> = Vec::new();
        if self.prefixes != 0 {
            prompt.extend(words(derive(seed, &[2, group as u64]), self.prefix));
        }
        prompt.extend(words(derive(seed, &[3, index as u64]), own));
        Ask {
            hashes: prompt_hashes(&prompt),
            prompt,
            max_tokens,
            seed: derive(seed, &[4, index as u64]),
        }
    }
}

/// So many tokens of a text of its own.
fn words(text: u64, count: u32) -> impl Iterator<Item = Token> {
    let mut draws = Draws::new(text);
    (0..count).map(move |_| draws.below(1 << 30) as Token)
}
