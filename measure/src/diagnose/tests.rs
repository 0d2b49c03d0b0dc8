//! Rules on records made by hand. How often they are right is tried on scenarios (`sim/tests/it/diagnosis`).

use super::*;
use crate::certificate::{ClientEvidence, Innocence};
use crate::evidence::{Look, RoundTrip, Seen, Shared};
use crate::request::ErrorKind;
use crate::summary::{Discipline, Failures, summarize};
use crate::testing::{answered, failed, ms};

mod places; // requests that wait for a place

/// What is known of a point beside its records.
#[derive(Default)]
struct Known {
    round_trip: Option<Nanos>,
    client: ClientEvidence,
    made: Vec<Turn>,
    slots: Option<u32>,
    engine: Option<Look>,
    shared: Option<Shared>,
    /// What is held against the point beside its requests.
    findings: Vec<(Innocence, String)>,
}

fn diagnosed(records: &[RequestRecord], known: &Known) -> Diagnosis {
    let summary = summarize(records, Discipline::OpenLoop, Failures::AsInfinity);
    let trip = known.round_trip.map(|median| RoundTrip {
        min: median,
        median,
        tries: 5,
    });
    let seen = Seen {
        round_trips: [trip, trip],
        engine: known.engine.clone().unwrap_or_default(),
        ..Seen::default()
    };
    diagnose(Case {
        records,
        summary: &summary,
        client: &certify(records, known.client).with(known.findings.clone()),
        evidence: Some(&Evidence::of(&seen, records, &[], known.shared)),
        theory: None,
        made: &known.made,
        slots: known.slots,
    })
}

/// So many requests, one every 50 ms, with a TTFT of 20 ms and five gaps of 10 ms, changed by `but`.
fn requests(count: u32, but: impl Fn(u32, RequestRecord) -> RequestRecord) -> Vec<RequestRecord> {
    let one = |index| answered(index, 50.0 * f64::from(index), 20.0, &[10.0; 5]);
    (0..count).map(|index| but(index, one(index))).collect()
}

/// Nobody counts hits, and a template that is assumed is all that prompts share.
#[test]
fn prompts_that_share_nothing_are_not_reused_whoever_counts() {
    let known = Known {
        shared: Some(Shared {
            input_tokens: 60 * 300,
            tokens: 32 * 300,
            own_tokens: 0,
            block: 16,
            block_known: false,
        }),
        ..Known::default()
    };
    let diagnosis = diagnosed(&requests(300, plain), &known);
    for cause in [Cause::ColdCache, Cause::EvictedPrefixes] {
        let found = diagnosis.of(cause).expect("a finding of each");
        assert_eq!(found.standing, Standing::RuledOut, "{found:#?}");
    }
}

fn plain(_: u32, record: RequestRecord) -> RequestRecord {
    record
}

#[track_caller]
fn cannot_tell(records: &[RequestRecord], says: &str) -> Diagnosis {
    let diagnosis = diagnosed(records, &Known::default());
    let Answer::CannotTell { why } = &diagnosis.answer else {
        panic!("{:?}", diagnosis.answer);
    };
    assert!(why.iter().any(|it| it.contains(says)), "{why:?}");
    diagnosis
}

#[test]
fn few_requests_and_failures_say_nothing() {
    cannot_tell(&requests(39, plain), "39 answered requests are too few");
    let half = |index, record: RequestRecord| match index % 2 {
        0 => record,
        _ => failed(index, 50.0 * f64::from(index), ErrorKind::HttpStatus),
    };
    cannot_tell(&requests(100, half), "50.0 % of the requests failed");
}

#[test]
fn without_metrics_nothing_is_blamed_and_what_is_missing_is_named() {
    let diagnosis = cannot_tell(&requests(100, plain), "Neither shown nor ruled out");
    let kv = diagnosis.of(Cause::KvBound).expect("a finding of each");
    assert_eq!(kv.standing, Standing::CannotTell);
    assert!(
        kv.missing.iter().any(|it| it.contains("metrics page")),
        "{:?}",
        kv.missing
    );
    let long = diagnosis
        .of(Cause::LongPrefills)
        .expect("a finding of each");
    assert_eq!(long.standing, Standing::RuledOut);
    assert_eq!(long.advice, None);
}

#[test]
fn a_tail_that_no_rule_explains_is_said() {
    let slow = |index, record: RequestRecord| match index % 25 {
        7 => answered(index, 50.0 * f64::from(index), 20.0, &[40.0; 5]),
        _ => record,
    };
    cannot_tell(
        &requests(200, slow),
        "No rule explains it: TPOT p99 is 4.00 times its p50.",
    );
}

/// Every 25th prompt is long and takes 250 ms, and the three after it wait for its end.
fn held_up() -> Vec<RequestRecord> {
    requests(200, |index, record| {
        let at = 50.0 * f64::from(index);
        let (prompt, ttft) = match index % 25 {
            10 => (5000, 250.0),
            11..=13 => (10, 250.0 - 50.0 * f64::from(index % 25 - 10)),
            _ => return record,
        };
        RequestRecord {
            prompt_tokens: Some(prompt),
            ..answered(index, at, ttft, &[10.0; 5])
        }
    })
}

#[test]
fn long_prompts_are_named_from_the_records_alone() {
    let diagnosis = diagnosed(&held_up(), &Known::default());
    let named = diagnosis.named().expect("a cause");
    assert_eq!(named.cause, Cause::LongPrefills);
    assert_eq!(named.speaks_against, Vec::<String>::new());
    let advice = named.advice.as_ref().expect("advice");
    assert_eq!(advice.turn, Turn::CapLongPrompts);
    let sentence = advice.prediction.expect("a prediction").sentence();
    assert_eq!(
        sentence,
        "TTFT p99 of the requests with up to 40 prompt tokens falls by at least 30.0 %."
    );
}

#[test]
fn a_turn_that_is_made_already_rules_its_cause_out() {
    let known = Known {
        made: vec![Turn::CapLongPrompts],
        ..Known::default()
    };
    let diagnosis = diagnosed(&held_up(), &known);
    let long = diagnosis
        .of(Cause::LongPrefills)
        .expect("a finding of each");
    assert_eq!(long.standing, Standing::RuledOut);
    assert!(
        long.speaks_against[0].contains("already"),
        "{:?}",
        long.speaks_against
    );
    assert_eq!(diagnosis.named(), None);
}

#[test]
fn a_way_of_a_third_of_the_ttft_is_named_and_a_short_one_is_not() {
    for (way, is_named) in [(15.0, true), (6.7, true), (6.6, false), (4.0, false)] {
        let known = Known {
            round_trip: Some(ms(way)),
            ..Known::default()
        };
        let diagnosis = diagnosed(&requests(100, plain), &known);
        let named = diagnosis.named().map(|it| it.cause);
        assert_eq!(named == Some(Cause::NetworkBound), is_named, "{way} ms");
    }
}

#[test]
fn a_late_client_comes_before_everything_else() {
    let late = |index, record: RequestRecord| match index % 20 {
        3 => RequestRecord {
            sent: Some(record.scheduled + ms(8.0)),
            ..record
        },
        _ => record,
    };
    let known = Known {
        round_trip: Some(ms(15.0)),
        ..Known::default()
    };
    let diagnosis = diagnosed(&requests(200, late), &known);
    let named = diagnosis.named().expect("a cause");
    assert_eq!(named.cause, Cause::ClientBound);
    let advice = named.advice.as_ref().and_then(|it| it.prediction);
    let sentence = advice.expect("a prediction").sentence();
    assert_eq!(
        sentence,
        "p99 of how late the client sends is at most 5.00 ms."
    );
    let way = diagnosis
        .of(Cause::NetworkBound)
        .expect("a finding of each");
    assert_eq!(way.standing, Standing::Shown);
}

#[test]
fn a_diagnosis_is_read_back_as_it_was_written() {
    let diagnosis = diagnosed(&held_up(), &Known::default());
    let text = serde_json::to_string(&diagnosis).expect("JSON");
    let back: Diagnosis = serde_json::from_str(&text).expect("a diagnosis");
    assert_eq!(back, diagnosis);
    let causes: Vec<Cause> = back.findings.iter().map(|it| it.cause).collect();
    assert_eq!(causes, Cause::ALL);
}
