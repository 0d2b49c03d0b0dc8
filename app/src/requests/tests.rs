//! A made-up point, one request a second: due at the second, sent 2 ms later, its first token after 100 ms and two more, the last of them
//! 1 s later. Every 20th is refused. Prompts get longer.

use measure::request::{Chunk, ChunkKind, ErrorKind, Outcome, RequestRecord, TokenSource};
use measure::score::Score;
use measure::slo::judge;
use measure::summary::{Discipline, Failures, summarize};
use measure::units::Nanos;
use uuid::Uuid;

use super::view::View;
use super::*;

pub fn whole() -> View {
    View::default()
}

pub fn record(index: u32) -> RequestRecord {
    let scheduled = Nanos::from_millis(u64::from(index) * 1000);
    let after = |millis: u64| scheduled + Nanos::from_millis(millis);
    let chunk = |millis| Chunk {
        at: after(millis),
        at_kernel: None,
        kind: ChunkKind::Answer,
        tokens: None,
    };
    let failed = index % 20 == 19;
    let chunks: Vec<u64> = if failed { vec![] } else { vec![102, 302, 1302] };
    RequestRecord {
        request_id: format!("r{index}"),
        session: index,
        turn: 0,
        scheduled,
        sent: Some(after(2)),
        headers: Some(after(50)),
        chunks: chunks.into_iter().map(chunk).collect(),
        finish: (!failed).then(|| after(1302)),
        end: Some(after(if failed { 40 } else { 1302 })),
        outcome: if failed {
            Outcome::Error(ErrorKind::RateLimited)
        } else {
            Outcome::Ok
        },
        error_detail: failed.then(|| "slow\n <down>".to_owned()),
        http_status: Some(if failed { 429 } else { 200 }),
        retry_after: None,
        finish_reason: (!failed).then(|| "length".to_owned()),
        prompt_tokens: Some(16 + index),
        cached_tokens: None,
        output_tokens: (!failed).then_some(3),
        token_source: TokenSource::Usage,
        input_tokens_planned: 16,
        output_tokens_asked: 3,
        connect: None,
        coalesced_reads: 0,
        warnings: Vec::new(),
        text: None,
        reasoning_text: None,
    }
}

/// A point of so many requests, under a promise of half a second to the first token and a second a token.
pub fn point(count: u32) -> Requests {
    let records: Vec<RequestRecord> = (0..count).map(record).collect();
    let slo = "ttft:p95<500ms tpot:p95<1s attain>=90%"
        .parse()
        .expect("an SLO");
    let summary = summarize(&records, Discipline::OpenLoop, Failures::AsInfinity);
    let scores: Vec<Score> = records.iter().map(Score::from).collect();
    let judgement = judge(&scores, &summary, &slo);
    let given = Given {
        study: Uuid::from_u128(1),
        point: Uuid::from_u128(2),
        slo,
        discipline: Discipline::OpenLoop,
        counted: None,
        stored: Some((summary, judgement)),
        tracks: Vec::new(),
    };
    Requests::new(given, records)
}

fn view(from: &str, to: &str) -> View {
    View::read(|key| match key {
        "from" => Some(from.to_owned()),
        "to" => Some(to.to_owned()),
        _ => None,
    })
}

#[test]
fn the_whole_points_figures_are_the_stored_ones() {
    let point = point(40);
    let view = whole();
    let part = point.part(&view);
    let summary = part.summary();
    assert_eq!(
        point.stored,
        Some((summary.clone(), part.judgement(&summary)))
    );
}

#[test]
fn a_window_holds_what_was_sent_in_it() {
    let point = point(40);
    // Due at 10 s and sent at 10.002 s; the one due at 12 s is sent at the window's end, and belongs to the next.
    let view = view("10.002", "12.002");
    assert_eq!(point.part(&view).inside, [10, 11]);
    let mut unsent = super::tests::record(3);
    unsent.sent = None;
    let given = Given {
        study: Uuid::nil(),
        point: Uuid::nil(),
        slo: "ttft<1s attain>=90%".parse().expect("an SLO"),
        discipline: Discipline::OpenLoop,
        counted: None,
        stored: None,
        tracks: Vec::new(),
    };
    let point = Requests::new(given, vec![record(0), unsent]);
    assert_eq!(point.part(&super::tests::view("3", "3.001")).inside, [1]);
}

#[test]
fn the_ramp_in_is_left_out_until_a_window_asks_for_it() {
    let mut point = point(40);
    point.count(Some((Nanos::from_millis(5000), Nanos::from_millis(9000))));
    let all = whole();
    let part = point.part(&all);
    assert_eq!(part.inside, [5, 6, 7, 8, 9]);
    assert_eq!(part.words(), "5 of 40 requests: the ramp-in is left out");
    assert_eq!(point.part(&view("0", "3")).inside, [0, 1, 2]);
}

#[test]
fn an_empty_window_is_said() {
    let point = point(40);
    let html = panel(&point.part(&view("500", "600"))).into_string();
    assert!(
        html.contains("0 of 40 requests") && html.contains("No request was sent in this window")
    );
}

#[test]
fn the_panel_has_everything_and_no_number_that_is_none() {
    let point = point(40);
    let html = panel(&point.part(&view("10", "30"))).into_string();
    for part in [
        "id=\"window\"",
        "id=\"latencies\"",
        "id=\"over-time\"",
        "id=\"distributions\"",
        "id=\"waits\"",
        "id=\"failures\"",
        "In the window 10 s to 30 s: 20 of 40 requests",
    ] {
        assert!(html.contains(part), "{part}");
    }
    for wrong in ["NaN", "inf%", "infinity%", "mean", "average"] {
        assert!(!html.contains(wrong), "{wrong}");
    }
    assert_eq!(
        html.matches("As a table").count(),
        html.matches("<details").count()
    );
}
