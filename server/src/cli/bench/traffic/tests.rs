//! Tests of the module above.

use clap::Parser;
use measure::workload::TraceFormat;

use super::*;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    load: Traffic,
}

fn parse(line: &str) -> Result<Traffic, clap::Error> {
    let words = ["bench"].into_iter().chain(line.split_whitespace());
    Line::try_parse_from(words).map(|line| line.load)
}

fn workload(line: &str) -> Result<Workload, String> {
    parse(line).expect("arguments").workload()
}

#[track_caller]
fn level(line: &str, expected: &str) {
    let args = parse(line).expect("arguments");
    let workload = args.workload().expect("a workload");
    assert_eq!(args.level(&workload).to_string(), expected);
}

#[test]
fn rate_and_concurrency_say_how_requests_come() {
    level("", "inf");
    level("--rate inf", "inf");
    level("--rate 2.5", "2.5");
    level("--rate 2.5 --concurrency 8", "2.5");
    level("--concurrency 8", "c=8");
    level("--rate inf --concurrency 8", "c=8");
    level("--workload azure:a.csv", "x1");
    level("--workload azure:a.csv --speed 2.5 --concurrency 8", "x2.5");
    level("--workload azure:a.csv --rate 3", "3");
    level("--workload azure:a.csv --rate inf --concurrency 8", "c=8");
}

#[test]
fn what_makes_no_sense_is_refused() {
    for line in [
        "--rate 0",
        "--rate -1",
        "--rate nan",
        "--rate c=3",
        "--rate x3",
        "--concurrency 0",
        "--requests 0",
        "--requests 100001",
        "--duration 0",
        "--duration -1",
        "--arrival weekly",
        "--arrival gamma=0",
        "--burstiness 0",
        "--burstiness -1",
        "--burstiness 2 --arrival constant",
        "--speed 0",
        "--speed 2 --rate 3",
        "--window -1",
        "--window 1:2:3",
        "--workload sharegpt:",
        "--workload azure",
        "--workload synthetic:x",
        "--input-tokens uniform:1",
        "--input-tokens 1.5",
        "--input-tokens table:/nowhere",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
}

#[test]
fn lengths_are_read_as_they_are_typed() {
    for (text, expected) in [
        ("5", "5 tokens each"),
        ("uniform:10:20", "uniform 10 to 20 tokens"),
        (
            "normal:200:50.5:900",
            "normal around 200 tokens (deviation 50.5, at most 900)",
        ),
        (
            "lognormal:200:0.7",
            "log-normal around 200 tokens (sigma 0.7, at most 131072)",
        ),
    ] {
        assert_eq!(
            parse_lengths(text).map(|it| it.to_string()),
            Ok(expected.to_owned())
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lengths.txt");
    std::fs::write(&file, "12\n\n900\n").expect("written");
    let table = format!("table:{}", file.display());
    assert_eq!(
        parse_lengths(&table),
        Ok(Lengths::Table {
            values: vec![12, 900]
        })
    );
    std::fs::write(&file, "12\nmany\n").expect("written");
    let error = parse_lengths(&table).expect_err("no length");
    assert!(
        error.contains("line 2") && error.contains("one whole number a line"),
        "{error}"
    );
}

#[test]
fn options_belong_to_their_workload() {
    for line in [
        "--workload sharegpt-shaped --input-tokens 5",
        "--workload azure:a.csv --output-tokens 5",
        "--speed 2",
        "--window 5",
        "--max-context 5",
        "--turns 3",
        "--answers real",
        "--allow-repeats",
        "--workload sharegpt:a.json --output-tokens uniform:1:2",
        "--workload shared-prefix --prefix-share 1.5",
        "--workload shared-prefix --families 0",
    ] {
        assert!(workload(line).is_err(), "{line}");
    }
    let (input, output) = (Lengths::Fixed { tokens: 5 }, Lengths::Fixed { tokens: 128 });
    assert_eq!(
        workload("--input-tokens 5"),
        Ok(Workload::Synthetic { input, output })
    );
    let trace = Trace {
        file: "a.csv".into(),
        format: TraceFormat::BurstGpt,
        start_ms: 1500,
        length_ms: Some(60_000),
        max_context: Some(2048),
    };
    let line = "--workload burstgpt:a.csv --window 1.5:60 --max-context 2048";
    assert_eq!(workload(line), Ok(Workload::Trace(trace)));
}

#[test]
fn a_run_is_bounded_by_requests_or_by_time() {
    let bounds = |line: &str| {
        let args = parse(line).expect("arguments");
        let bounds = args.bounds(&args.workload().expect("a workload"));
        bounds.map(|(length, duration)| (length.min_requests, length.max_requests, duration))
    };
    assert_eq!(bounds(""), Ok((100, 100, None)));
    assert_eq!(bounds("--requests 7"), Ok((7, 7, None)));
    let second = Some(Duration::from_secs(1));
    assert_eq!(bounds("--rate 5 --duration 1"), Ok((1, 100_000, second)));
    assert_eq!(
        bounds("--rate 5 --duration 1 --requests 3"),
        Ok((1, 3, second))
    );
    assert_eq!(bounds("--workload trace:a.jsonl"), Ok((1, 100_000, None)));
    assert!(bounds("--rate 500 --duration 1000").is_err());
}
