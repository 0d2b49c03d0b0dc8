//! Was the prefix cache as cold as the workload says? Tokens that requests can share with those before them, against the
//! tokens that the engine found in its cache.

use serde::{Deserialize, Serialize};

use super::doubt::{COUNTED, Doubt};
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
/// Where blocks and requests that were computed again would explain more than this share of the input, they explain nothing.
const FEW: f64 = 0.05;
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
    /// Of an engine's own counters and of what its answers' usage says; where both count, the larger. `why_not` says why the
    /// engine told nothing, `doubt` why what it told is not believed.
    pub(super) fn of(
        readings: &Readings,
        records: &[RequestRecord],
        expected: Option<Shared>,
        why_not: Option<&str>,
        doubt: Option<&Doubt>,
    ) -> Self {
        let last = readings.last();
        let believed = !matches!(doubt, Some(Doubt::NotOurs(_)));
        let grown = |quantity| {
            let growth = readings.counter(quantity, Whose::Ours);
            growth.grown(0, last).filter(|_| believed)
        };
        let by_page = grown(Quantity::CacheHits).or_else(|| grown(Quantity::CachedTokens));
        let usage = by_usage(records);
        let counts = usage.is_some()
            || [Quantity::CacheHits, Quantity::CachedTokens]
                .into_iter()
                .any(|it| readings.constant(it).is_some());
        let observed = by_page.into_iter().chain(usage).reduce(f64::max);
        // A request that is computed anew finds its own beginning.
        let again = grown(Quantity::Preemptions).unwrap_or(0.0) * longest(records);
        let judge = |observed| Some(judged(expected?, observed, again));
        let (warmth, sentence) = match (expected, observed) {
            (Some(expected), Some(observed)) => judged(expected, observed, again),
            (_, None) => cannot_tell(why_not.unwrap_or("the engine counts no hits")),
            (None, Some(_)) => cannot_tell("the prompts were not compared"),
        };
        let warm = |found: Option<(Warmth, String)>| {
            found.is_some_and(|(warmth, _)| warmth == Warmth::Contaminated)
        };
        let sure = match doubt {
            // The answers' own usage is of these requests, whatever the page is of.
            _ if warm(usage.and_then(judge)) => None,
            Some(Doubt::NotOurs(why)) => Some(why.clone()),
            Some(Doubt::Late(why)) if warmth != Warmth::Contaminated => Some(why.clone()),
            Some(Doubt::Anew(why)) if warmth == Warmth::Contaminated => Some(why.clone()),
            _ if by_page.is_none() && warmth != Warmth::Contaminated => silent(records),
            _ => None,
        };
        let (warmth, sentence) = match sure {
            Some(why) if expected.is_some() && counts => cannot_tell(&why),
            _ => (warmth, sentence),
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

fn cannot_tell(why: &str) -> (Warmth, String) {
    let text = format!("Whether the prefix cache was cold: cannot tell, {why}.");
    (Warmth::CannotTell, text)
}

/// Why the usage of answers says nothing of all of them, where only some have it.
fn silent(records: &[RequestRecord]) -> Option<String> {
    let answered = || records.iter().filter(|record| record.is_ok());
    let told = answered().filter(|it| it.cached_tokens.is_some()).count();
    let all = answered().count();
    ((told as f64) < COUNTED * all as f64)
        .then(|| format!("only {told} of {all} answers say what they had from it"))
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
    let rounded = (SHARE * all).max(BLOCKS * f64::from(block)) + again;
    let slack = rounded + INEXACT * most;
    let surely_explained = most + INEXACT * most + rounded.min(FEW * all);
    let of_all = |tokens: f64| match 100.0 * tokens / all {
        share if share <= 100.0 => {
            let share = three_digits(share);
            format!("{tokens:.0} of {all:.0} input tokens ({share} %)")
        }
        _ => format!("{tokens:.0} tokens beside {all:.0} of input"),
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
    if surely_explained < observed {
        let text = format!(
            "it had {seen}, where the workload itself explains {can} at most, and {assumed} and requests that were computed again may be any of the rest"
        );
        return cannot_tell(&text);
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
        check(0, 450.0, 300.0, Warmth::AsExpected);
        check(0, 900.0, 800.0, Warmth::CannotTell);
        check(0, 1001.0, 800.0, Warmth::Contaminated);
        check(5000, 5200.0, 0.0, Warmth::AsExpected);
        check(5000, 5701.0, 0.0, Warmth::Contaminated);
        check(5000, 2499.0, 0.0, Warmth::Colder);
        check(150, 0.0, 0.0, Warmth::AsExpected);
    }

    #[test]
    fn blocks_as_large_as_the_input_explain_no_hits() {
        let shared = |input_tokens| Shared {
            input_tokens,
            block: 1056,
            block_known: true,
            ..Shared::default()
        };
        for (input_tokens, observed, expected) in [
            (2500, 0.0, Warmth::AsExpected),
            (2500, 125.0, Warmth::AsExpected),
            (2500, 2250.0, Warmth::CannotTell),
            (100_000, 4224.0, Warmth::AsExpected),
            (100_000, 90_000.0, Warmth::Contaminated),
        ] {
            let (warmth, sentence) = judged(shared(input_tokens), observed, 0.0);
            assert_eq!(warmth, expected, "{sentence}");
        }
    }

    #[test]
    fn more_hits_than_input_are_no_share_of_it() {
        let shared = Shared {
            input_tokens: 1000,
            block: 16,
            ..Shared::default()
        };
        let (warmth, sentence) = judged(shared, 104_000.0, 0.0);
        assert_eq!(warmth, Warmth::Contaminated);
        assert!(
            sentence.contains("104000 tokens beside 1000 of input"),
            "{sentence}"
        );
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
        for expected in [None, Some(Shared::default())] {
            let cache = Cache::of(
                &Readings::default(),
                &[],
                expected,
                Some("the engine has no /metrics"),
                None,
            );
            assert_eq!(cache.warmth, Warmth::CannotTell);
            assert!(
                cache
                    .sentence
                    .ends_with("cannot tell, the engine has no /metrics."),
                "{}",
                cache.sentence
            );
        }
    }
}
