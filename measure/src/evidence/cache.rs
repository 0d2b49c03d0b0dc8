//! Was the prefix cache as cold as the workload says? Tokens that requests can share with those before them, against the
//! tokens that the engine found in its cache.

use serde::{Deserialize, Serialize};

use super::quantity::Quantity;
use super::reading::{Readings, Whose};
use super::said::Finding;
use crate::certificate::Innocence;
use crate::request::RequestRecord;
use crate::units::three_digits;

/// Block of an engine that does not say: vLLM's on GPUs.
pub const USUAL_BLOCK: u32 = 16;
/// More than expected by this share of all input tokens is no rounding.
const SHARE: f64 = 0.02;
/// Blocks that may be rounded otherwise.
const BLOCKS: f64 = 4.0;
/// What is expected is known to this share: tokens are estimated from text.
const INEXACT: f64 = 0.1;
/// Fewer hits than this share of what is expected are told.
const FEWER: f64 = 0.5;

/// What requests share with those before them, by the workload alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shared {
    /// Input tokens of all requests that were sent.
    pub input_tokens: u64,
    /// Those that a cache can have at most, if nothing else was ever sent to it.
    pub tokens: u64,
    /// Those of them that do not depend on a chat template.
    pub own_tokens: u64,
    /// The block they were rounded down to.
    pub block: u32,
    /// Whether the engine told its block, or the usual one is assumed.
    pub block_known: bool,
}

/// How warm the cache was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Warmth {
    /// As the workload explains it.
    AsExpected,
    /// Warmer: it had what this point never sent.
    Contaminated,
    /// Colder: it is too small, shared out or off.
    Colder,
    /// Nobody counted.
    CannotTell,
}

/// The cache, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    /// How warm it was.
    pub warmth: Warmth,
    /// What can be shared at most.
    pub expected: Option<Shared>,
    /// Tokens found in the cache.
    pub observed_tokens: Option<f64>,
    /// In a sentence.
    pub sentence: String,
}

impl Cache {
    /// Of an engine's own counters; where it has none, of what its answers' usage says.
    pub fn of(
        readings: &Readings,
        records: &[RequestRecord],
        expected: Option<Shared>,
        why_not: Option<&str>,
    ) -> Self {
        let last = readings.last();
        let grown = |quantity| readings.counter(quantity, Whose::Ours).grown(0, last);
        let by_page = grown(Quantity::CacheHits).or_else(|| grown(Quantity::CachedTokens));
        let observed = by_page.or_else(|| by_usage(records));
        // A request that is computed anew finds its own beginning.
        let again = grown(Quantity::Preemptions).unwrap_or(0.0) * longest(records);
        let (warmth, sentence) = match (expected, observed) {
            (Some(expected), Some(observed)) => judged(expected, observed, again),
            (_, None) => {
                let why = why_not.unwrap_or("the engine counts no hits");
                let text = format!("Whether the prefix cache was cold: cannot tell, {why}.");
                (Warmth::CannotTell, text)
            }
            (None, Some(_)) => (
                Warmth::CannotTell,
                "Whether the prefix cache was cold: cannot tell, the prompts were not compared."
                    .to_owned(),
            ),
        };
        Self {
            warmth,
            expected,
            observed_tokens: observed,
            sentence,
        }
    }

    /// What it means for the point.
    pub fn finding(&self) -> Option<Finding> {
        (self.warmth == Warmth::Contaminated).then(|| (Innocence::Suspect, self.sentence.clone()))
    }

    /// Whether the cache was cold, given whether it was reset before: what was seen counts for more than what was asked.
    pub fn cold(&self, reset: Option<bool>) -> Option<bool> {
        match self.warmth {
            Warmth::AsExpected => Some(true),
            Warmth::Contaminated => Some(false),
            Warmth::Colder | Warmth::CannotTell => reset,
        }
    }
}

fn by_usage(records: &[RequestRecord]) -> Option<f64> {
    let told = records.iter().filter_map(|record| record.cached_tokens);
    told.map(f64::from).reduce(|all, more| all + more)
}

fn longest(records: &[RequestRecord]) -> f64 {
    let tokens = records.iter().map(|record| {
        record.prompt_tokens.unwrap_or(record.input_tokens_planned) + record.output_tokens_asked
    });
    tokens.max().map_or(0.0, f64::from)
}

fn judged(expected: Shared, observed: f64, again: f64) -> (Warmth, String) {
    let Shared {
        input_tokens,
        tokens,
        own_tokens,
        block,
        block_known,
    } = expected;
    let (all, most) = (input_tokens as f64, tokens as f64);
    let slack = (SHARE * all).max(BLOCKS * f64::from(block)) + INEXACT * most + again;
    let of_all = |tokens: f64| {
        let share = if 0.0 < all { 100.0 * tokens / all } else { 0.0 };
        format!(
            "{tokens:.0} of {all:.0} input tokens ({} %)",
            three_digits(share)
        )
    };
    let (seen, can) = (of_all(observed), of_all(most));
    let assumed = if block_known {
        format!("blocks of {block}")
    } else {
        format!("blocks of {block}, assumed")
    };
    if most + slack < observed {
        let text = format!(
            "The prefix cache was contaminated: it had {seen}, where the workload itself explains {can} at most ({assumed})."
        );
        return (Warmth::Contaminated, text);
    }
    let surely = own_tokens as f64;
    if SHARE * all < surely && observed < FEWER * surely {
        let text = format!(
            "The prefix cache had {seen}, where the workload would let it have {can} ({assumed}): it is off, too small or shared out."
        );
        return (Warmth::Colder, text);
    }
    let text = format!(
        "The prefix cache had {seen}; the workload itself explains {can} at most ({assumed})."
    );
    (Warmth::AsExpected, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tokens: u64, observed: f64, again: f64, expected: Warmth) {
        let shared = Shared {
            input_tokens: 10_000,
            tokens,
            own_tokens: tokens,
            block: 16,
            block_known: false,
        };
        let (warmth, sentence) = judged(shared, observed, again);
        assert_eq!(warmth, expected, "{sentence}");
    }

    #[test]
    fn hits_beyond_what_the_workload_shares_are_contamination() {
        check(0, 0.0, 0.0, Warmth::AsExpected);
        check(0, 200.0, 0.0, Warmth::AsExpected);
        check(0, 201.0, 0.0, Warmth::Contaminated);
        check(0, 900.0, 800.0, Warmth::AsExpected);
        check(5000, 5200.0, 0.0, Warmth::AsExpected);
        check(5000, 5701.0, 0.0, Warmth::Contaminated);
        check(5000, 2499.0, 0.0, Warmth::Colder);
        check(150, 0.0, 0.0, Warmth::AsExpected);
    }

    #[test]
    fn what_was_seen_counts_for_more_than_what_was_asked() {
        for (warmth, reset, cold) in [
            (Warmth::AsExpected, None, Some(true)),
            (Warmth::Contaminated, Some(true), Some(false)),
            (Warmth::CannotTell, Some(true), Some(true)),
            (Warmth::CannotTell, None, None),
            (Warmth::Colder, Some(false), Some(false)),
        ] {
            let cache = Cache {
                warmth,
                expected: None,
                observed_tokens: None,
                sentence: String::new(),
            };
            assert_eq!(cache.cold(reset), cold, "{warmth:?} {reset:?}");
        }
    }

    #[test]
    fn without_a_count_nobody_can_tell() {
        let cache = Cache::of(
            &Readings::default(),
            &[],
            None,
            Some("the engine has no /metrics"),
        );
        assert_eq!(cache.warmth, Warmth::CannotTell);
        assert!(
            cache
                .sentence
                .ends_with("cannot tell, the engine has no /metrics.")
        );
    }
}
