use bytes::Bytes;
use measure::request::{ErrorKind, Outcome};
use measure::summary::Discipline;
use measure::units::Nanos;
use std::time::Duration;

use super::*;
use crate::plan::{Made, PlannedSession, RequestId};

/// Sessions of turns, each with its messages' text: a word is a token.
fn plan(sessions: &[&[&str]]) -> PointPlan {
    let turn = |session: usize, turn: usize, text: &str| PlannedRequest {
        request_id: RequestId {
            prefix: "p".into(),
            session: session as u32,
            turn: turn as u32,
        },
        body: Body::Ready(Bytes::from(
            serde_json::json!({
                "max_tokens": 10 * turn,
                "messages": [{"role": "user", "content": text}],
            })
            .to_string(),
        )),
        input_tokens: text.split_whitespace().count() as u32,
        output_tokens: 8,
        think: Nanos::ZERO,
        not_before: Nanos::ZERO,
    };
    let sessions = sessions
        .iter()
        .enumerate()
        .map(|(session, texts)| PlannedSession {
            start: Nanos::ZERO,
            turns: texts
                .iter()
                .enumerate()
                .map(|(index, text)| turn(session, index, text))
                .collect(),
        });
    PointPlan {
        sessions: sessions.collect(),
        discipline: Discipline::OpenLoop,
        concurrency: None,
        until: None,
        warmup: Vec::new(),
        drain: Duration::from_secs(1),
        made: Made::default(),
    }
}

fn record(session: u32, turn: u32) -> RequestRecord {
    RequestRecord {
        request_id: String::new(),
        session,
        turn,
        scheduled: Nanos::ZERO,
        sent: Some(Nanos::ZERO),
        headers: None,
        chunks: Default::default(),
        finish: None,
        end: None,
        outcome: Outcome::Error(ErrorKind::Cancelled),
        error_detail: None,
        http_status: None,
        retry_after: None,
        finish_reason: None,
        prompt_tokens: None,
        cached_tokens: None,
        output_tokens: None,
        token_source: Default::default(),
        input_tokens_planned: 0,
        output_tokens_asked: 0,
        connect: None,
        coalesced_reads: 0,
        warnings: Vec::new(),
        text: None,
        reasoning_text: None,
    }
}

fn words(from: u32, count: u32) -> String {
    let all: Vec<String> = (from..from + count).map(|it| format!("w{it:04}")).collect();
    all.join(" ")
}

#[track_caller]
fn check(
    sessions: &[&[&str]],
    sent: &[(u32, u32)],
    template: u32,
    expected: (u64, std::ops::RangeInclusive<u64>),
) {
    let records: Vec<RequestRecord> = sent
        .iter()
        .map(|(session, turn)| record(*session, *turn))
        .collect();
    let shared = Sharing::of(&plan(sessions)).shared(&records, (16, true), template);
    let shared = shared.expect("little text");
    assert_eq!(shared.input_tokens, expected.0);
    assert!(
        expected.1.contains(&shared.tokens),
        "{} of {:?}",
        shared.tokens,
        expected.1
    );
}

#[test]
fn requests_of_their_own_share_nothing() {
    let (one, other) = (words(0, 100), words(1000, 100));
    check(&[&[&one], &[&other]], &[(0, 0), (1, 0)], 0, (200, 0..=0));
}

#[test]
fn what_prompts_share_is_known_whatever_the_engine_counts() {
    let (one, other) = (words(0, 100), words(1000, 100));
    let records = [record(0, 0), record(1, 0)];
    let made = Made {
        template_tokens: Some(0),
        ..Made::default()
    };
    let sharing = Sharing::of(&plan(&[&[&one], &[&other]]));
    let shared = sharing.shared_by(&Readings::default(), &records, &made);
    let shared = shared.expect("told");
    assert_eq!((shared.input_tokens, shared.tokens), (200, 0));
}

#[test]
fn a_family_shares_its_prefix_with_all_but_the_first() {
    let family = words(0, 96);
    let one = |own: u32| format!("{family} {}", words(own, 32));
    let (a, b, c) = (one(1000), one(2000), one(3000));
    let sessions: &[&[&str]] = &[&[&a], &[&b], &[&c]];
    check(sessions, &[(0, 0), (1, 0), (2, 0)], 0, (384, 192..=192));
    // One that was never sent warms nothing.
    check(sessions, &[(1, 0)], 0, (128, 0..=0));
}

#[test]
fn a_later_turn_shares_what_was_said_before() {
    let first = words(0, 64);
    let second = format!("{first} {}", words(64, 64));
    check(&[&[&first, &second]], &[(0, 0), (0, 1)], 0, (192, 64..=80));
}

#[test]
fn the_same_prompt_twice_is_shared_but_for_its_last_token() {
    let text = words(0, 64);
    check(&[&[&text], &[&text]], &[(0, 0), (1, 0)], 0, (128, 48..=48));
}

#[test]
fn a_template_is_shared_by_all() {
    let (one, other) = (words(0, 100), words(1000, 100));
    check(&[&[&one], &[&other]], &[(0, 0), (1, 0)], 20, (240, 32..=32));
}
