//! How long a step takes.
//!
//! ```text
//! step = base + prefill_tokens * prefill_token + attention_pairs * attention_pair
//!             + sequences * sequence + kv_tokens * kv_token
//! ```
//!
//! *base*: reading the weights once from memory, launches and scheduling. *prefill_token*: about 2 FLOP a parameter over
//! the reachable compute. *attention_pair*: one new prompt token looking at one token before it; small, it only shows in
//! long prompts. *sequence*: sampling, de-tokenising and the sequence's row in every matrix product. *kv_token*: reading the
//! keys and values of one cached token in a decode. The terms are added although a real device overlaps some
//! of them, so the model leans to the slow side where compute and memory are equally busy.

use measure::units::Nanos;

/// The prices of a step's parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Nanoseconds of every step that does anything.
    pub base_ns: f64,
    /// Nanoseconds per prompt token computed.
    pub prefill_token_ns: f64,
    /// Nanoseconds per pair of a new prompt token and a token it attends to.
    pub attention_pair_ns: f64,
    /// Nanoseconds per sequence in the step.
    pub sequence_ns: f64,
    /// Nanoseconds per cached token read by decodes.
    pub kv_token_ns: f64,
}

/// What one step computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Prompt tokens computed (recomputed ones of preempted sequences too).
    pub prefill_tokens: u64,
    /// Pairs of new prompt tokens and tokens attended to.
    pub attention_pairs: u64,
    /// Sequences in the step.
    pub sequences: u64,
    /// Cached tokens read by decodes.
    pub kv_tokens: u64,
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
        self.sequences += 1;
        self.kv_tokens += context;
    }
}

impl Cost {
    /// The time of a step, rounded to the nanosecond.
    pub fn step(&self, work: &Work) -> Nanos {
        let nanos = self.base_ns
            + self.prefill_token_ns * work.prefill_tokens as f64
            + self.attention_pair_ns * work.attention_pairs as f64
            + self.sequence_ns * work.sequences as f64
            + self.kv_token_ns * work.kv_tokens as f64;
        Nanos(nanos.round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COST: Cost = Cost {
        base_ns: 1e6,
        prefill_token_ns: 1e4,
        attention_pair_ns: 1.0,
        sequence_ns: 1e3,
        kv_token_ns: 10.0,
    };

    #[track_caller]
    fn check(build: impl Fn(&mut Work), nanos: u64) {
        let mut work = Work::default();
        build(&mut work);
        assert_eq!(COST.step(&work), Nanos(nanos));
    }

    #[test]
    fn an_empty_step_costs_its_base() {
        check(|_| (), 1_000_000);
    }

    #[test]
    fn a_prefill_pays_tokens_and_the_triangle_of_attention() {
        check(
            |work| work.prefill(0, 100),
            1_000_000 + 1_000_000 + 5_050 + 1_000,
        );
    }

    #[test]
    fn a_later_chunk_attends_to_the_ones_before() {
        check(
            |work| work.prefill(100, 10),
            1_000_000 + 100_000 + 1_000 + 55 + 1_000,
        );
    }

    #[test]
    fn a_decode_pays_its_row_and_the_kv_it_reads() {
        check(|work| work.decode(500), 1_000_000 + 1_000 + 5_000);
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
}
