//! Held to what the tools' own functions say of the same requests (tests/data/rules/regenerate.py).

use serde_json::Value;

use super::*;
use crate::request::{Chunk, ChunkKind, ErrorKind, Outcome, TokenSource};
use crate::slo::judge;
use crate::summary::{Discipline, Failures, summarize};
use crate::testing::{answered, failed, ms, scores, sent};

fn file(name: &str) -> Value {
    let text = match name {
        "requests" => include_str!("../../tests/data/rules/requests.json"),
        "vllm" => include_str!("../../tests/data/rules/vllm.json"),
        "sglang" => include_str!("../../tests/data/rules/sglang.json"),
        "guidellm" => include_str!("../../tests/data/rules/guidellm.json"),
        "aiperf" => include_str!("../../tests/data/rules/aiperf.json"),
        _ => include_str!("../../tests/data/rules/loadgen.json"),
    };
    serde_json::from_str(text).expect("JSON")
}

fn outcome(name: &str) -> Outcome {
    let kind = ErrorKind::ALL.into_iter().find(|kind| kind.name() == name);
    kind.map_or(Outcome::Ok, Outcome::Error)
}

fn record(session: usize, made: &Value) -> RequestRecord {
    let at = |name: &str| made[name].as_u64().map(Nanos);
    let number = |name: &str| made[name].as_u64().map(|number| number as u32);
    let chunk = |at: &Value| Chunk {
        at: Nanos(at.as_u64().expect("a time")),
        // The other tools have no kernel to ask.
        at_kernel: at.as_u64().map(|at| Nanos(at - 1000)),
        kind: ChunkKind::Answer,
        tokens: None,
    };
    RequestRecord {
        scheduled: at("scheduled").expect("scheduled"),
        sent: at("sent"),
        connect: at("connect"),
        chunks: made["chunks"]
            .as_array()
            .expect("chunks")
            .iter()
            .map(chunk)
            .collect(),
        finish: at("finish"),
        end: at("end"),
        outcome: outcome(made["outcome"].as_str().expect("outcome")),
        prompt_tokens: number("prompt"),
        output_tokens: number("n"),
        output_tokens_asked: number("asked").expect("asked"),
        token_source: TokenSource::Usage,
        ..sent(session as u32, 0.0)
    }
}

fn records(made: &Value) -> Vec<RequestRecord> {
    let made = made.as_array().expect("requests").iter();
    made.enumerate()
        .map(|(at, made)| record(at, made))
        .collect()
}

fn slo() -> Slo {
    "ttft<260ms tpot<21ms e2e<900ms attain>=95%"
        .parse()
        .expect("SLO")
}

#[track_caller]
fn near(what: &str, ours: Option<f64>, theirs: &Value, within: f64) {
    let told = theirs.as_f64();
    let far = match (ours, told) {
        (Some(a), Some(b)) => within * b.abs() < (a - b).abs(),
        (a, b) => a.is_some() != b.is_some(),
    };
    assert!(!far, "{what}: {ours:?}, not {told:?}");
}

/// `rates` is how closely the tool prints them.
#[track_caller]
fn agrees(what: &str, reading: &Reading, told: &Value, rates: f64) {
    for (name, ours) in [("completed", reading.completed), ("failed", reading.failed)] {
        assert_eq!(Some(u64::from(ours)), told[name].as_u64(), "{what} {name}");
    }
    for (name, ours, within) in [
        ("requests_per_s", reading.requests_per_s, rates),
        ("output_tokens_per_s", reading.output_tokens_per_s, rates),
        ("good_requests_per_s", reading.good_requests_per_s, 1e-9),
        ("attainment", reading.attainment, 1e-9),
    ] {
        near(&format!("{what} {name}"), ours, &told[name], within);
    }
    for (name, ours) in [
        ("ttft_ms", reading.ttft),
        ("tpot_ms", reading.tpot),
        ("itl_ms", reading.itl),
        ("e2e_ms", reading.e2e),
    ] {
        for (place, ours) in ours.into_iter().enumerate() {
            near(
                &format!("{what} {name}[{place}]"),
                ours,
                &told[name][place],
                1e-9,
            );
        }
    }
}

#[track_caller]
fn check(tool: Tool) {
    let (requests, told) = (file("requests"), file(tool.name()));
    assert!(
        tool.title().contains(
            told["version"]
                .as_str()
                .expect("version")
                .trim_end_matches(".0")
        )
    );
    for point in ["calm", "rough", "uncounted"] {
        let records = records(&requests[point]);
        let reading = read(tool, &records, Some(&slo()), Nanos::ZERO);
        agrees(
            &format!("{tool} {point}"),
            &reading,
            &told["told"][point],
            1e-9,
        );
    }
}

#[test]
fn vllm_says_so_itself() {
    check(Tool::Vllm);
}

#[test]
fn sglang_says_so_itself() {
    check(Tool::Sglang);
}

#[test]
fn guidellm_says_so_itself() {
    check(Tool::Guidellm);
}

#[test]
fn aiperf_says_so_itself() {
    check(Tool::Aiperf);
}

#[test]
fn loadgen_says_so_itself_as_far_as_it_prints() {
    let said = file("loadgen");
    let records = records(&said["requests"]);
    let reading = read(Tool::Mlperf, &records, Some(&slo()), Nanos::ZERO);
    agrees("loadgen", &reading, &said["told"], 1e-5);
}

#[test]
fn a_part_of_a_point_began_when_its_window_did() {
    let later = |ms: f64| answered(0, 10_000.0 + ms, 100.0, &[50.0; 18]);
    let records = [later(0.0), later(500.0)];
    let per_s = |began| read(Tool::Vllm, &records, None, ms(began)).requests_per_s;
    assert_eq!(
        per_s(10_000.0).map(|it| (it * 1e6).round()),
        Some((2e6f64 / 1.5).round())
    );
    assert!(per_s(0.0) < per_s(10_000.0));
}

#[test]
fn of_nothing_no_tool_says_anything() {
    let lost = [failed(0, 0.0, ErrorKind::ConnectFailed)];
    for tool in Tool::ALL {
        for records in [&[][..], &lost] {
            let reading = read(tool, records, Some(&slo()), Nanos::ZERO);
            let latencies = [reading.ttft, reading.tpot, reading.itl, reading.e2e];
            assert_eq!(latencies, [[None; 3]; 4], "{tool}");
            let rates = [
                reading.requests_per_s,
                reading.output_tokens_per_s,
                reading.good_requests_per_s,
            ];
            assert!(
                rates.iter().flatten().all(|rate| *rate == 0.0),
                "{tool}: {rates:?}"
            );
        }
    }
}

#[test]
fn a_bound_that_no_tool_knows_leaves_goodput_untold() {
    let records = [answered(0, 0.0, 100.0, &[50.0; 18])];
    let good = |slo: &str| {
        let slo = slo.parse().expect("SLO");
        read(Tool::Vllm, &records, Some(&slo), Nanos::ZERO).good_requests_per_s
    };
    assert!(good("ttft<1s").is_some());
    assert_eq!(good("stall<1s ttft<1s"), None);
}

#[test]
fn a_row_says_why_only_where_figures_differ() {
    // One answered as it should be, one that failed: 50 % of the requests weigh on our p95.
    let records = [
        answered(0, 0.0, 100.0, &[50.0; 18]),
        failed(1, 500.0, ErrorKind::RateLimited),
    ];
    let summary = summarize(&records, Discipline::OpenLoop, Failures::AsInfinity);
    let judgement = judge(&scores(&records), &summary, &slo());
    let reading = read(Tool::Vllm, &records, Some(&slo()), Nanos::ZERO);
    let rows = differences(Tool::Vllm, &summary, Some(&judgement), &reading);
    let of = |metric: &str| rows.iter().find(|row| row.metric == metric).expect("a row");
    assert_eq!(of("TTFT").ours.text(), "unbounded / unbounded / unbounded");
    assert_eq!(of("TTFT").theirs.text(), "100 / 100 / 100");
    assert!(of("TTFT").why.contains("failures are left out"));
    assert!(of("Completed").same && of("Completed").why.is_empty());
    assert_eq!(of("Attainment").theirs.text(), "–");
    let without = differences(Tool::Vllm, &summary, None, &reading);
    assert!(without.iter().all(|row| row.metric != "Goodput"));
}

#[test]
fn a_reason_is_one_that_these_requests_have() {
    let one = |index: u32| RequestRecord {
        scheduled: ms(f64::from(index) * 100.0),
        ..answered(index, f64::from(index) * 100.0 + 3.0, 100.0, &[50.0; 18])
    };
    let records: Vec<RequestRecord> = (0..50).map(one).collect();
    let summary = summarize(&records, Discipline::OpenLoop, Failures::AsInfinity);
    for tool in Tool::ALL {
        let judgement = judge(&scores(&records), &summary, &slo());
        let reading = read(tool, &records, Some(&slo()), Nanos::ZERO);
        for row in differences(tool, &summary, Some(&judgement), &reading) {
            assert_eq!(row.why.is_empty(), row.same, "{row:?}");
            let why = row.why.to_lowercase();
            for absent in ["failures", "burst", "nobody counted", "successes only"] {
                assert!(!why.contains(absent), "{tool:?}, {absent}: {row:?}");
            }
        }
    }
}

#[test]
fn every_tool_has_a_name_that_is_read_back() {
    for tool in Tool::ALL {
        assert_eq!(tool.name().parse(), Ok(tool));
    }
    assert!("genai-perf".parse::<Tool>().is_err());
}
