//! Zero tolerance: requests that go wrong on purpose, in every way there is, against the log of the server that did it.
//! `cargo xtask bench` does the same with a hundred thousand.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use sim::truth::{Config, Fault, Faults, Record};

use crate::bench::goodput;

const REQUESTS: usize = 3000;

/// What a fault may be called.
fn names(fault: Fault) -> &'static [&'static str] {
    match fault {
        Fault::ResetBefore | Fault::ResetAfter => &["connection_reset"],
        Fault::Stall => &["stall_timeout"],
        // Ended before anything was said.
        Fault::Truncate => &["truncated", "empty_stream"],
        Fault::Cut => &["truncated", "connection_reset"],
        Fault::InBandError => &["in_band_error"],
        Fault::TooManyRequests => &["rate_limited"],
        Fault::Unavailable => &["http_status"],
        Fault::Empty => &["empty_stream"],
        Fault::Abort => &["aborted"],
        Fault::Malformed => &["malformed_event"],
    }
}

/// Runs a point against a server that fails on purpose; the records of both, by request.
fn run(api: &str) -> anyhow::Result<(Vec<Value>, Vec<Record>)> {
    let config = Config {
        ttft_ns: 3_000_000,
        itl_ns: 1_000_000,
        faults: Faults {
            share: 0.4,
            kinds: Vec::new(),
        },
        seed: 9,
        ..Config::default()
    };
    let server = sim::truth::start(config, "127.0.0.1:0".parse()?, None)?;
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("out.json");
    let requests = REQUESTS.to_string();
    let status = goodput(&[
        "bench",
        "--url",
        &server.url,
        "--api",
        api,
        "--model",
        sim::truth::MODEL,
        "--no-probe",
        "--concurrency",
        "128",
        "--requests",
        &requests,
        "--input-tokens",
        "8",
        "--output-tokens",
        "8",
        "--idle-timeout-ms",
        "1200",
        "--json",
        &file.to_string_lossy(),
    ]);
    assert_eq!(status, 0);
    // The last streams that stalled are noticed by the server a moment after the client gave them up.
    std::thread::sleep(Duration::from_millis(200));
    let said: Value = serde_json::from_slice(&std::fs::read(&file)?)?;
    let records = said["requests"].as_array().cloned().unwrap_or_default();
    Ok((records, server.end()))
}

/// What is wrong with a record, in view of the truth.
fn lie(said: &Value, truth: &Record) -> Option<String> {
    let kind = said["error_kind"].as_str();
    let right = match truth.fault {
        None => kind.is_none() && truth.is_whole(),
        Some(fault) => kind.is_some_and(|kind| names(fault).contains(&kind)),
    };
    let events = said["chunk_count"].as_u64();
    let counted = kind.is_some() || events == Some(truth.tok_ns.len() as u64);
    (!right || !counted).then(|| format!("said {kind:?} with {events:?} events; truth: {truth:?}"))
}

#[track_caller]
fn check(api: &str) -> anyhow::Result<()> {
    let (said, log) = run(api)?;
    assert_eq!(said.len(), REQUESTS, "a record for each request");
    let mut truth: BTreeMap<&str, &Record> = BTreeMap::new();
    for record in &log {
        let before = truth.insert(&record.client_id, record);
        assert!(before.is_none(), "sent twice: {record:?}");
    }
    let mut lies = Vec::new();
    for record in &said {
        let id = record["request_id"].as_str().unwrap_or_default();
        let known = truth
            .remove(id)
            .ok_or_else(|| anyhow::anyhow!("{record} is not in the server's log"))?;
        lies.extend(lie(record, known));
    }
    assert!(truth.is_empty(), "never recorded: {truth:?}");
    assert!(lies.is_empty(), "{} lies, such as {}", lies.len(), lies[0]);
    let kinds: std::collections::BTreeSet<_> =
        log.iter().filter_map(|record| record.fault).collect();
    assert_eq!(kinds.len(), Fault::ALL.len(), "every kind came up");
    Ok(())
}

#[test]
fn nothing_is_lost_doubled_or_called_ok_that_was_not() -> anyhow::Result<()> {
    check("openai.completions")
}

#[test]
fn nor_with_chats() -> anyhow::Result<()> {
    check("openai.chat")
}
