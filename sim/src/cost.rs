//! How long a step takes: a roofline for each part of the model, and what the host adds.
//!
//! ```text
//! linear    = max(weights, token * tokens)                  every weight read once, or multiplied
//! attention = kv_token * kv_tokens + attention_pair * pairs decodes read their cache, prompts are computed
//! reduce    = reduce + reduce_token * tokens                several devices sum up, twice a layer
//! draft     = draft * rounds + draft_token * drafts         guessing ahead
//! device    = max(linear + attention + reduce + draft, launch)
//! host      = host + host_sequence * sequences
//! step      = gap + max(device, host)                       with asynchronous scheduling, else gap + device + host
//! ```
//!
//! The roofline stands for each part on its own, as kernels run one after another: reading weights does not hide the reading
//! of the cache. docs/simulator.md derives the prices and says where this is wrong.

use measure::diagnose::Theory;
use measure::units::Nanos;

/// The prices of a step's parts, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Reading all weights once.
    pub weights_ns: f64,
    /// Multiplying one token with all weights.
    pub token_ns: f64,
    /// A pair of a new prompt token and a token it attends to.
    pub attention_pair_ns: f64,
    /// Reading the keys and values of one cached token.
    pub kv_token_ns: f64,
    /// Agreeing among several devices, once a step: latency of all reductions.
    pub reduce_ns: f64,
    /// The same for each token: its bytes.
    pub reduce_token_ns: f64,
    /// Launching all kernels of a step one by one.
    pub eager_launch_ns: f64,
    /// Whether they are launched so, rather than as one recorded graph.
    pub eager: bool,
    /// Between the end of a step's work and the beginning of the next: sampling, copying tokens back, starting the graph.
    pub gap_ns: f64,
    /// Scheduling and preparing a step on the CPU.
    pub host_ns: f64,
    /// The same for each sequence.
    pub host_sequence_ns: f64,
    /// Whether the CPU prepares a step while the one before runs.
    pub async_scheduling: bool,
    /// One round of drafting: each guesses one token for all sequences.
    pub draft_ns: f64,
    /// Each token guessed.
    pub draft_token_ns: f64,
}

/// What one step computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Prompt tokens computed (recomputed ones of preempted sequences too).
    pub prefill_tokens: u64,
    /// Tokens of answers computed: the latest of each sequence, and drafts to be verified.
    pub decode_tokens: u64,
    /// Pairs of new prompt tokens and tokens attended to.
    pub attention_pairs: u64,
    /// Sequences in the step.
    pub sequences: u64,
    /// Cached tokens read by decodes.
    pub kv_tokens: u64,
    /// Rounds of drafting: as many as the longest draft has tokens.
    pub draft_rounds: u64,
    /// Tokens guessed, of all sequences.
    pub draft_tokens: u64,
}

impl Work {
    /// Adds a piece of prefill: `new` tokens after `before` already computed ones.
    pub fn prefill(&mut self, before: u64, new: u64) {
        self.sequences += 1;
        self.prefill_tokens += new;
        self.attention_pairs += new * before + new * (new + 1) / 2;
    }

    /// Adds the decode of one token after `context` tokens.
    pub fn decode(&mut self, context: u64) {
        self.verify(context, 0);
    }

    /// Adds the decode of one token after `context` tokens, and of `drafts` guesses after it.
    pub fn verify(&mut self, context: u64, drafts: u64) {
        self.sequences += 1;
        self.decode_tokens += 1 + drafts;
        self.kv_tokens += context;
        self.draft_rounds = self.draft_rounds.max(drafts);
        self.draft_tokens += drafts;
    }

    /// All tokens that go through the weights.
    pub fn tokens(&self) -> u64 {
        self.prefill_tokens + self.decode_tokens
    }
}

impl Cost {
    /// The time of a step, rounded to the nanosecond.
    pub fn step(&self, work: &Work) -> Nanos {
        let host = self.host_ns + self.host_sequence_ns * work.sequences as f64;
        let device = self.device_ns(work);
        let both = if self.async_scheduling {
            device.max(host)
        } else {
            device + host
        };
        Nanos((self.gap_ns + both).round() as u64)
    }

    /// What the hardware allows at these prices: launches and the host left out.
    pub fn theory(&self) -> Theory {
        let nanos = |ns: f64| Nanos(ns.round() as u64);
        Theory {
            step: nanos(self.weights_ns + self.reduce_ns + self.gap_ns),
            sequence: nanos(self.reduce_token_ns),
            cached_token: nanos(self.kv_token_ns),
            prompt_token: nanos(self.token_ns),
        }
    }

    /// What the device takes for a step, in nanoseconds.
    fn device_ns(&self, work: &Work) -> f64 {
        let tokens = work.tokens() as f64;
        let linear = self.weights_ns.max(self.token_ns * tokens);
        let attention = self.kv_token_ns * work.kv_tokens as f64
            + self.attention_pair_ns * work.attention_pairs as f64;
        let reduce = self.reduce_ns + self.reduce_token_ns * tokens;
        let draft = self.draft_ns * work.draft_rounds as f64
            + self.draft_token_ns * work.draft_tokens as f64;
        let launch = if self.eager {
            self.eager_launch_ns
        } else {
            0.0
        };
        (linear + attention + reduce + draft).max(launch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COST: Cost = Cost {
        weights_ns: 1e6,
        token_ns: 1e4,
        attention_pair_ns: 1.0,
        kv_token_ns: 10.0,
        reduce_ns: 0.0,
        reduce_token_ns: 0.0,
        eager_launch_ns: 3e6,
        eager: false,
        gap_ns: 500.0,
        host_ns: 2e5,
        host_sequence_ns: 1e3,
        async_scheduling: true,
        draft_ns: 1e5,
        draft_token_ns: 100.0,
    };

    #[track_caller]
    fn check(cost: Cost, build: impl Fn(&mut Work), nanos: u64) {
        let mut work = Work::default();
        build(&mut work);
        assert_eq!(cost.step(&work), Nanos(nanos));
    }

    #[test]
    fn few_tokens_cost_the_reading_of_the_weights() {
        check(COST, |work| work.prefill(0, 10), 500 + 1_000_000 + 55);
        check(COST, |work| work.decode(500), 500 + 1_000_000 + 5_000);
    }

    #[test]
    fn many_tokens_cost_their_multiplication_and_the_triangle_of_attention() {
        check(COST, |work| work.prefill(0, 200), 500 + 2_000_000 + 20_100);
    }

    #[test]
    fn a_later_chunk_attends_to_the_ones_before() {
        check(
            COST,
            |work| work.prefill(100, 200),
            500 + 2_000_000 + 20_000 + 20_100,
        );
    }

    #[test]
    fn chunks_cost_the_same_attention_as_the_whole() {
        let (mut whole, mut parts) = (Work::default(), Work::default());
        whole.prefill(0, 300);
        parts.prefill(0, 128);
        parts.prefill(128, 172);
        assert_eq!(whole.attention_pairs, parts.attention_pairs);
        assert_eq!(whole.prefill_tokens, parts.prefill_tokens);
    }

    #[test]
    fn drafts_cost_their_rounds_and_their_verification() {
        let drafting = |work: &mut Work| (0..50).for_each(|_| work.verify(0, 3));
        // 200 tokens through the weights, three rounds, 150 guesses.
        check(COST, drafting, 500 + 2_000_000 + 300_000 + 15_000);
    }

    #[test]
    fn the_host_hides_behind_the_device_only_when_asynchronous() {
        let sync = Cost {
            async_scheduling: false,
            ..COST
        };
        check(sync, |work| work.decode(0), 500 + 1_000_000 + 201_000);
        let slow = Cost {
            host_ns: 4e6,
            ..COST
        };
        check(slow, |work| work.decode(0), 500 + 4_001_000);
    }

    #[test]
    fn launches_are_a_floor_under_the_device() {
        let eager = Cost {
            eager: true,
            ..COST
        };
        check(eager, |work| work.decode(0), 500 + 3_000_000);
        check(eager, |work| work.prefill(0, 400), 500 + 4_000_000 + 80_200);
    }

    #[test]
    fn several_devices_pay_for_agreeing() {
        let two = Cost {
            reduce_ns: 1e5,
            reduce_token_ns: 10.0,
            ..COST
        };
        check(two, |work| work.decode(0), 500 + 1_000_000 + 100_010);
    }
}
