//! Pages that are not the point's: frozen, another engine's, several engines' in turn, read too late, with numbers of no engine.

use super::super::cache::{Shared, Warmth};
use super::super::foreign::Presence;
use super::super::reading::{Amount, Reading, Source, Value};
use super::super::report::{Evidence, Look, Seen};
use super::*;
use crate::testing::answered;

/// A hundred requests of ten tokens each, of which so many say how much of their input was in the cache.
fn records(cached: Option<u32>, telling: usize) -> Vec<RequestRecord> {
    let one = |index: u32| RequestRecord {
        cached_tokens: cached.filter(|_| (index as usize) < telling),
        prompt_tokens: Some(100),
        ..answered(index, f64::from(index) * 10.0, 50.0, &[5.0; 9])
    };
    (0..100).map(one).collect()
}

/// Requests, output tokens, hits and looked-up tokens of each look.
fn evidence(looks: &[(i64, [f64; 4])], records: &[RequestRecord]) -> Evidence {
    let names = [
        Quantity::Finished,
        Quantity::OutputTokens,
        Quantity::CacheHits,
        Quantity::CacheQueries,
    ];
    let value = |(quantity, number)| Value {
        quantity,
        source: 0,
        amount: Amount::Number(number),
    };
    let reading = |(at_ms, numbers): &(i64, [f64; 4])| Reading {
        at_ms: *at_ms,
        values: names.into_iter().zip(*numbers).map(value).collect(),
    };
    let seen = Seen {
        engine: Look {
            readings: Readings {
                sources: vec![Source {
                    name: String::new(),
                    ours: true,
                }],
                readings: looks.iter().map(reading).collect(),
            },
            by: "vLLM".into(),
            ..Look::default()
        },
        ..Seen::default()
    };
    let shared = Shared {
        input_tokens: 10_000,
        block: 16,
        ..Shared::default()
    };
    Evidence::of(&seen, records, &[], Some(shared))
}

#[track_caller]
fn check(evidence: &Evidence, presence: Presence, warmth: Warmth, says: &str) {
    let (foreign, cache) = (&evidence.foreign, &evidence.cache);
    assert_eq!(foreign.presence, presence, "{}", foreign.sentence);
    assert_eq!(cache.warmth, warmth, "{}", cache.sentence);
    let said = format!("{} {}", foreign.sentence, cache.sentence);
    assert!(said.contains(says), "{said}");
    let voids = presence == Presence::Others;
    let warm = usize::from(warmth == Warmth::Contaminated);
    assert_eq!(evidence.findings().len(), usize::from(voids) + warm);
}

const FROZEN: [f64; 4] = [7.0, 70.0, 0.0, 700.0];

#[test]
fn a_frozen_page_tells_nothing() {
    let frozen = [(-500, FROZEN), (2000, FROZEN)];
    let told = evidence(&frozen, &records(None, 0));
    let (presence, warmth) = (Presence::CannotTell, Warmth::CannotTell);
    let says = "counted 0 requests where 100 were answered";
    check(&told, presence, warmth, says);
    assert_eq!(told.cache.cold(None), None);
}

#[test]
fn beside_a_frozen_page_the_answers_own_usage_is_seen() {
    let frozen = [(-500, FROZEN), (2000, FROZEN)];
    let told = evidence(&frozen, &records(Some(95), 100));
    let (presence, warmth) = (Presence::CannotTell, Warmth::Contaminated);
    check(
        &told,
        presence,
        warmth,
        "9500 of 10000 input tokens (95.0 %)",
    );
    assert_eq!(told.cache.cold(Some(true)), Some(false));
}

#[test]
fn of_page_and_usage_the_larger_counts() {
    let page = |hits| [(-500, [0.0; 4]), (2000, [100.0, 1000.0, hits, 10_000.0])];
    for (hits, cached, warmth) in [
        (0.0, 95, Warmth::Contaminated),
        (9500.0, 0, Warmth::Contaminated),
        (0.0, 0, Warmth::AsExpected),
    ] {
        let told = evidence(&page(hits), &records(Some(cached), 100));
        check(&told, Presence::Alone, warmth, "");
    }
}

#[test]
fn some_answers_usage_does_not_speak_for_all() {
    let none = Evidence::of(
        &Seen::default(),
        &records(Some(0), 12),
        &[],
        Some(Shared {
            input_tokens: 10_000,
            block: 16,
            ..Shared::default()
        }),
    );
    let (presence, warmth) = (Presence::CannotTell, Warmth::CannotTell);
    check(&none, presence, warmth, "only 12 of 100 answers");
}

#[test]
fn a_page_first_read_within_the_point_has_missed_the_beginning() {
    let at = |first, count: f64, hits| {
        let last = [count, 10.0 * count, hits, 10_000.0];
        evidence(&[(first, [0.0; 4]), (9000, last)], &records(None, 0))
    };
    let (presence, warmth) = (Presence::CannotTell, Warmth::CannotTell);
    let says = "first read 2.60 s after the point had begun";
    check(&at(2600, 100.0, 0.0), presence, warmth, says);
    check(&at(-1, 100.0, 0.0), Presence::Alone, Warmth::AsExpected, "");
    // What is too much even so is too much.
    let (presence, warmth) = (Presence::Others, Warmth::Contaminated);
    check(&at(2600, 150.0, 9000.0), presence, warmth, "50 of somebody");
}

#[test]
fn replicas_that_answer_in_turn_are_nobodys_traffic() {
    let look = |index: usize| {
        let base = [1000.0, 50_000.0][index % 2] + 10.0 * index as f64;
        let numbers = [base, 8.0 * base, base, 10.0 * base];
        (1000 * index as i64 - 500, numbers)
    };
    let turns: Vec<_> = (0..10).map(look).collect();
    let told = evidence(&turns, &records(None, 0));
    let (presence, warmth) = (Presence::CannotTell, Warmth::CannotTell);
    check(&told, presence, warmth, "several engines answer");
    let names: Vec<&str> = told.figures.iter().map(|it| it.name.as_str()).collect();
    assert!(!names.contains(&"Prefix cache hits"), "{names:?}");
    // One fall may be a start anew or another's page: what is too much is not believed.
    let few = [(-500, turns[1].1), (500, turns[2].1), (1500, turns[3].1)];
    let told = evidence(&few, &records(None, 0));
    check(&told, presence, warmth, "fell while the point ran");
}

#[test]
fn numbers_of_no_engine_leave_sentences_short() {
    let odd = |value: f64| {
        let looks = [(-500, [0.0; 4]), (2000, [value; 4])];
        evidence(&looks, &records(Some(0), 100))
    };
    for value in [1e308, 9e14, f64::INFINITY, f64::NAN, -5.0] {
        let told = odd(value);
        let figures = told.figures.iter().map(|it| &it.value);
        for text in told.statements.iter().chain(figures) {
            assert!(text.len() < 300, "{value}: {text}");
            assert!(!text.contains("inf") && !text.contains("NaN"), "{text}");
        }
    }
}
