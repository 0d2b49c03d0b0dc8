//! Tests of the module above.

use load::PointRun;
use measure::request::{Chunk, ChunkKind, ErrorKind, TokenSource};

use super::*;

pub(in crate::cli::bench) fn record(index: u64, outcome: Outcome) -> RequestRecord {
    let at = |millis: u64| Nanos::from_millis(index * 100 + millis);
    let is_ok = outcome == Outcome::Ok;
    let chunk = |millis| Chunk {
        at: at(millis),
        at_kernel: None,
        kind: ChunkKind::Answer,
        tokens: None,
    };
    RequestRecord {
        request_id: format!("bench-{index}"),
        session: index as u32,
        turn: 0,
        scheduled: at(0),
        sent: Some(at(1)),
        headers: is_ok.then(|| at(3)),
        chunks: [21, 31, 41]
            .map(chunk)
            .into_iter()
            .filter(|_| is_ok)
            .collect(),
        finish: is_ok.then(|| at(41)),
        end: Some(at(42)),
        outcome,
        error_detail: None,
        http_status: Some(200),
        retry_after: None,
        finish_reason: is_ok.then(|| "length".into()),
        prompt_tokens: Some(8),
        cached_tokens: None,
        output_tokens: is_ok.then_some(3),
        token_source: if is_ok {
            TokenSource::Usage
        } else {
            TokenSource::None
        },
        input_tokens_planned: 8,
        output_tokens_asked: 3,
        connect: None,
        coalesced_reads: 0,
        warnings: vec![],
        text: Some("a b c".into()),
        reasoning_text: None,
    }
}

fn run(failures: u64) -> PointRun {
    let of = |index| {
        if index < failures {
            Outcome::Error(ErrorKind::Truncated)
        } else {
            Outcome::Ok
        }
    };
    let records = (0..20).map(|index| record(index, of(index))).collect();
    PointRun {
        records,
        client: Default::default(),
        started_unix_ms: 0,
        stopped: false,
        ended: Nanos::ZERO,
    }
}

fn report(run: &PointRun) -> Report {
    Report::of(&run.records, run.client, Discipline::OpenLoop, None)
}

/// What a file holds.
fn whole(run: &PointRun) -> Value {
    let whole = Whole {
        report: &report(run),
        run: Value::Null,
        promise: None,
        evidence: None,
        diagnosis: None,
        rules: None,
        workload: json!({"name": "w"}),
        stopped: run.stopped,
        records: &run.records,
        with_text: false,
    };
    let written = serde_json::to_string(&whole).expect("written");
    let read: Value = serde_json::from_str(&written).expect("one whole JSON");
    assert_eq!(
        read["requests"].as_array().map(Vec::len),
        Some(run.records.len())
    );
    read
}

#[test]
fn a_record_counts_from_its_sending() {
    let json = request(&record(2, Outcome::Ok), false);
    assert_eq!(json["scheduled_ns"], 200_000_000);
    assert_eq!(json["sent_ns"], 201_000_000);
    assert_eq!(json["headers_ns"], 2_000_000);
    assert_eq!(json["ttft_ns"], 20_000_000);
    assert_eq!(json["e2e_ns"], 40_000_000);
    assert_eq!(json["gaps_ns"], json!([10_000_000, 10_000_000]));
    assert_eq!(
        (&json["outcome"], &json["token_source"]),
        (&json!("ok"), &json!("usage"))
    );
    assert!(json.get("text").is_none());
    assert_eq!(request(&record(2, Outcome::Ok), true)["text"], "a b c");
}

#[test]
fn what_has_no_value_is_null() {
    let json = request(&record(0, Outcome::Error(ErrorKind::Truncated)), false);
    for field in [
        "headers_ns",
        "ttft_ns",
        "ttfa_ns",
        "e2e_ns",
        "output_tokens",
        "finish_reason",
    ] {
        assert_eq!(json[field], Value::Null, "{field}");
    }
    assert_eq!(
        (&json["outcome"], &json["error_kind"]),
        (&json!("error"), &json!("truncated"))
    );
    assert_eq!(json["token_source"], "none");
}

#[test]
fn failures_make_a_percentile_unbounded() {
    let run = run(1);
    let json = whole(&run);
    let ttft = &json["summary"]["ttft"];
    assert_eq!(
        (&ttft["count"], &ttft["p50_unbounded"]),
        (&json!(20), &json!(false))
    );
    assert_eq!(
        (&ttft["p99_ns"], &ttft["p99_unbounded"]),
        (&Value::Null, &json!(true))
    );
    assert_eq!(
        (&json["summary"]["completed"], &json["summary"]["failed"]),
        (&json!(19), &json!(1))
    );
}

#[test]
fn the_block_is_the_one_that_people_know() {
    insta::assert_snapshot!(report(&run(0)).block(
        Some(("Request rate configured (RPS):", "10.00".into())),
        None
    ));
}

#[test]
fn a_percentile_stands_with_its_interval_or_with_what_it_would_take() {
    let of = |count, lo, hi| {
        let at = |millis: f64| Nanos((millis * 1e6) as u64);
        let estimate = Estimate {
            value: Some(at(86.69)),
            lo: Some(at(lo)),
            hi: Option::map(hi, at),
        };
        let distribution = Distribution {
            count,
            effective: f64::from(count),
            ..Distribution::default()
        };
        let (value, beside) = with_interval(99, Some(&estimate), &distribution);
        format!("{value} {beside}")
    };
    assert_eq!(of(400, 80.1, Some(95.2)), "86.69 (95 %: 80.10 to 95.20)");
    assert_eq!(
        of(100, 80.1, None),
        "- (at least 80.10; takes 368 requests, has 100)"
    );
}

#[test]
fn a_run_without_a_success_says_why() {
    let refused = |index| RequestRecord {
        http_status: Some(401),
        error_detail: Some("no such key".into()),
        ..record(index, Outcome::Error(ErrorKind::HttpStatus))
    };
    let all = PointRun {
        records: (0..20).map(refused).collect(),
        ..run(0)
    };
    let said = report(&all);
    let why = said.why_nothing().expect("nothing");
    assert_eq!(
        why,
        "no request succeeded: 20 × http_status (HTTP 401: no such key); the engine wants another API key: name the \
         environment variable that holds it with --api-key-env"
    );
    let block = said.block(None, None);
    assert!(
        block.contains("Failures") && block.contains("HTTP 401"),
        "{block}"
    );
    let json = whole(&all);
    assert_eq!(
        json["summary"]["first_failures"]["http_status"]["http_status"],
        401
    );
    assert_eq!(report(&run(1)).why_nothing(), None);
}
