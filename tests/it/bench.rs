//! `goodput bench` against the simulator: what scripts outside rely on.

use std::path::Path;

use measure::knobs::Knobs;
use serde_json::Value;

/// Runs the command line in a thread of its own, as `main` does.
pub fn goodput(args: &[&str]) -> u8 {
    let args: Vec<_> = std::iter::once("goodput")
        .chain(args.iter().copied())
        .map(Into::into)
        .collect();
    std::thread::spawn(move || server::cli::run(args))
        .join()
        .expect("no panic")
}

fn engine() -> anyhow::Result<sim::Running> {
    Ok(sim::start(sim::Config::preset("tiny", &Knobs::new())?)?)
}

fn read(path: &Path) -> anyhow::Result<Value> {
    Ok(serde_json::from_slice(&std::fs::read(path)?)?)
}

/// Runs against a fresh simulator and reads the JSON file.
fn bench(args: &[&str]) -> anyhow::Result<(u8, Value)> {
    let (engine, dir) = (engine()?, tempfile::tempdir()?);
    let file = dir.path().join("out.json");
    let file_text = file.to_string_lossy();
    let base = [
        "bench",
        "--url",
        &engine.url,
        "--input-tokens",
        "16",
        // Long enough that a busy machine does not read a whole answer at once, which would leave no gaps to judge.
        "--output-tokens",
        "64",
        "--json",
        &file_text,
    ];
    let status = goodput(&[&base, args].concat());
    Ok((status, read(&file)?))
}

#[test]
fn every_scheduled_request_has_a_record() -> anyhow::Result<()> {
    let (status, json) = bench(&[
        "--rate",
        "50",
        "--requests",
        "12",
        "--warmup",
        "3",
        "--seed",
        "7",
    ])?;
    assert_eq!(status, 0);
    let requests = json["requests"].as_array().expect("records");
    assert_eq!(requests.len(), 12, "warm-up left out");
    let scheduled: Vec<u64> = requests
        .iter()
        .filter_map(|it| it["scheduled_ns"].as_u64())
        .collect();
    assert!(
        scheduled.len() == 12 && scheduled.is_sorted(),
        "{scheduled:?}"
    );
    let fields = [
        "request_id",
        "scheduled_ns",
        "sent_ns",
        "headers_ns",
        "ttft_ns",
        "ttfa_ns",
        "e2e_ns",
        "gaps_ns",
        "chunk_count",
        "prompt_tokens",
        "output_tokens",
        "token_source",
        "outcome",
        "error_kind",
        "http_status",
        "finish_reason",
    ];
    for request in requests {
        for field in fields {
            assert!(request.get(field).is_some(), "{field} is missing");
        }
        assert_eq!(
            (&request["outcome"], &request["error_kind"]),
            (&"ok".into(), &Value::Null)
        );
        assert_eq!(
            (&request["output_tokens"], &request["token_source"]),
            (&64.into(), &"usage".into())
        );
        let gaps = request["gaps_ns"].as_array().map_or(0, Vec::len) as u64;
        assert_eq!(request["chunk_count"].as_u64(), Some(gaps + 1));
        assert!(request["ttft_ns"].as_u64() <= request["e2e_ns"].as_u64());
        assert!(request.get("text").is_none());
    }
    Ok(())
}

#[test]
fn the_summary_counts_and_names_its_percentiles() -> anyhow::Result<()> {
    let (_, json) = bench(&["--requests", "10"])?;
    let summary = &json["summary"];
    assert_eq!(
        (
            &summary["scheduled"],
            &summary["completed"],
            &summary["failed"]
        ),
        (&10.into(), &10.into(), &0.into())
    );
    for field in ["duration_ns", "output_tokens_per_s"] {
        assert!(
            summary[field].as_f64().is_some_and(|value| 0.0 < value),
            "{field}"
        );
    }
    for field in ["offered_rate", "sent_rate"] {
        assert!(summary.get(field).is_some(), "{field}");
    }
    for metric in [
        "ttft",
        "ttfa",
        "scheduled_ttft",
        "scheduled_ttfa",
        "scheduled_e2e",
        "tpot",
        "itl",
        "stall",
        "e2e",
    ] {
        let it = &summary[metric];
        assert!(
            it["count"].as_u64().is_some_and(|count| 0 < count),
            "{metric}: {it}"
        );
        for percentile in ["p50", "p95", "p99"] {
            assert!(
                it[format!("{percentile}_ns")].is_u64(),
                "{metric} {percentile}: {it}"
            );
            assert_eq!(it[format!("{percentile}_unbounded")], false);
        }
    }
    Ok(())
}

#[test]
fn the_same_seed_asks_the_same() -> anyhow::Result<()> {
    let starts = |json: &Value| {
        let requests = json["requests"].as_array().cloned().unwrap_or_default();
        requests
            .iter()
            .map(|it| {
                (
                    it["scheduled_ns"].clone(),
                    it["prompt_tokens"].clone(),
                    it["text"].clone(),
                )
            })
            .collect::<Vec<_>>()
    };
    let args = ["--rate", "100", "--requests", "8", "--text"];
    let (one, two) = (bench(&args)?.1, bench(&args)?.1);
    assert_eq!(starts(&one), starts(&two));
    assert!(
        one["requests"][0]["text"]
            .as_str()
            .is_some_and(|text| !text.is_empty())
    );
    assert!(one["requests"][0].get("reasoning_text").is_some());
    assert_ne!(
        starts(&one),
        starts(&bench(&[&args[..], &["--seed", "1"]].concat())?.1)
    );
    Ok(())
}

#[test]
fn completions_closed_loops_and_caps_work() -> anyhow::Result<()> {
    let streams = |json: &Value| {
        json["summary"]["max_in_flight"]
            .as_u64()
            .unwrap_or_default()
    };
    let (status, json) = bench(&[
        "--api",
        "openai.completions",
        "--concurrency",
        "2",
        "--requests",
        "10",
    ])?;
    assert_eq!((status, streams(&json)), (0, 2));
    let (status, json) = bench(&["--rate", "2000", "--concurrency", "3", "--requests", "30"])?;
    assert!(status == 0 && streams(&json) <= 3, "{}", streams(&json));
    Ok(())
}

#[test]
fn an_engine_that_cannot_be_used_is_status_3() -> anyhow::Result<()> {
    let gone = format!(
        "http://{}",
        std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?
    );
    assert_eq!(goodput(&["bench", "--url", &gone]), 3);
    assert_eq!(
        goodput(&[
            "bench",
            "--url",
            &gone,
            "--no-probe",
            "--model",
            "m",
            "--requests",
            "1"
        ]),
        3
    );
    let engine = engine()?;
    assert_eq!(
        goodput(&["bench", "--url", &engine.url, "--model", "another"]),
        3
    );
    Ok(())
}

#[test]
fn no_success_is_status_1_and_still_a_file() -> anyhow::Result<()> {
    let (engine, dir) = (engine()?, tempfile::tempdir()?);
    let file = dir.path().join("out.json");
    let args = [
        "bench",
        "--url",
        &engine.url,
        "--no-probe",
        "--model",
        "another",
        "--requests",
        "3",
        "--json",
        &file.to_string_lossy(),
    ];
    assert_eq!(goodput(&args), 1);
    let json = read(&file)?;
    assert_eq!(
        (&json["summary"]["completed"], &json["summary"]["failed"]),
        (&0.into(), &3.into())
    );
    let (request, ttft) = (&json["requests"][0], &json["summary"]["ttft"]);
    assert_eq!(
        (&request["outcome"], &request["error_kind"]),
        (&"error".into(), &"http_status".into())
    );
    assert_eq!(
        (&request["http_status"], &request["ttft_ns"]),
        (&404.into(), &Value::Null)
    );
    assert_eq!(
        (&ttft["p99_ns"], &ttft["p99_unbounded"]),
        (&Value::Null, &true.into())
    );
    Ok(())
}

#[test]
fn an_earlier_file_outlives_a_run_that_never_begins() -> anyhow::Result<()> {
    let (engine, dir) = (engine()?, tempfile::tempdir()?);
    let file = dir.path().join("keep.json");
    let named = file.to_string_lossy();
    let bench = |url: &str| {
        goodput(&[
            "bench",
            "--url",
            url,
            "--json",
            &named,
            "--requests",
            "2",
            "--output-tokens",
            "2",
        ])
    };
    std::fs::write(&file, "earlier")?;
    assert_eq!(bench("http://127.0.0.1:1"), 3);
    assert_eq!(std::fs::read_to_string(&file)?, "earlier");
    assert_eq!(bench(&engine.url), 0);
    assert_eq!(read(&file)?["summary"]["completed"], 2);
    assert_eq!(
        std::fs::read_dir(dir.path())?.count(),
        1,
        "nothing half done stays"
    );
    Ok(())
}

#[test]
fn bad_arguments_are_status_2() -> anyhow::Result<()> {
    let engine = engine()?;
    let url = ["bench", "--url", engine.url.as_str()];
    let bad: [&[&str]; 8] = [
        &["--rate", "0"],
        &["--rate", "-3"],
        &["--requests", "0"],
        &["--api", "grpc"],
        &["--workload", "sharegpt:/nowhere/file.json"],
        &["--json", "/nowhere/out.json"],
        &["--api-key-env", "GOODPUT_TEST_NO_SUCH_KEY"],
        &["--no-probe"],
    ];
    for args in bad {
        assert_eq!(goodput(&[&url, args].concat()), 2, "{args:?}");
    }
    assert_eq!(goodput(&["bench"]), 2);
    for url in ["not a url", "ftp://127.0.0.1", "http://u:p@127.0.0.1:1"] {
        assert_eq!(goodput(&["bench", "--url", url]), 2, "{url}");
    }
    Ok(())
}

/// Runs on a file of that content, named FILE in the arguments.
fn bench_of(content: &str, args: &[&str]) -> anyhow::Result<(u8, Value)> {
    let (engine, dir) = (engine()?, tempfile::tempdir()?);
    let (data, out) = (dir.path().join("data"), dir.path().join("out.json"));
    std::fs::write(&data, content)?;
    let (data, out_text) = (data.to_string_lossy(), out.to_string_lossy());
    let args: Vec<String> = args.iter().map(|arg| arg.replace("FILE", &data)).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let base = ["bench", "--url", &engine.url, "--json", &out_text];
    let status = goodput(&[&base, &args[..]].concat());
    let json = read(&out).unwrap_or(Value::Null);
    Ok((status, json))
}

fn millis(json: &Value) -> Vec<u64> {
    let requests = json["requests"].as_array().expect("records").iter();
    let due = requests.filter_map(|it| it["scheduled_ns"].as_u64());
    due.map(|nanos| nanos / 1_000_000).collect()
}

#[test]
fn a_trace_is_replayed_at_its_speed_and_told() -> anyhow::Result<()> {
    let trace = "TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:17:03.0,30,4
2023-11-16 18:17:04.0,20,0
2023-11-16 18:17:05.0,20,3
2023-11-16 18:17:23.0,20,3
";
    let args = [
        "--workload",
        "azure:FILE",
        "--speed",
        "20",
        "--window",
        "0:10",
    ];
    let (status, json) = bench_of(trace, &args)?;
    assert_eq!((status, millis(&json)), (0, vec![0, 100]));
    let requests = &json["requests"];
    assert_eq!(
        (&requests[0]["output_tokens"], &requests[1]["output_tokens"]),
        (&4.into(), &3.into())
    );
    let workload = &json["workload"];
    assert_eq!(workload["level"], "x20");
    assert_eq!(workload["made"]["rows"]["dropped"]["no_output"], 1);
    Ok(())
}

#[test]
fn lengths_are_right_in_the_engines_own_tokens() -> anyhow::Result<()> {
    let (_, json) = bench(&["--requests", "5"])?;
    let made = &json["workload"]["made"];
    let template = made["template_tokens"].as_u64().expect("measured");
    assert_eq!(made["length_source"], "calibrated_estimate");
    for request in json["requests"].as_array().expect("records") {
        assert_eq!(request["prompt_tokens"].as_u64(), Some(16 + template));
    }
    let (_, json) = bench(&["--requests", "5", "--no-calibration"])?;
    assert_eq!(json["workload"]["made"]["length_source"], "estimate");
    Ok(())
}

#[test]
fn repeats_are_refused_or_counted() -> anyhow::Result<()> {
    let prompts = "{\"prompt\": \"a\"}\n{\"prompt\": \"b\"}\n{\"prompt\": \"c\"}\n";
    let base = [
        "--workload",
        "prompts:FILE",
        "--requests",
        "10",
        "--output-tokens",
        "3",
    ];
    assert_eq!(bench_of(prompts, &base)?.0, 2);
    let (status, json) = bench_of(prompts, &[&base[..], &["--allow-repeats"]].concat())?;
    let rows = &json["workload"]["made"]["rows"];
    assert_eq!(
        (status, &rows["used"], &rows["repeats"]),
        (0, &3.into(), &7.into())
    );
    Ok(())
}

#[test]
fn time_bounds_a_run_and_the_ramp_in_is_in_no_figure() -> anyhow::Result<()> {
    let args = [
        "--rate",
        "40",
        "--arrival",
        "constant",
        "--duration",
        "1",
        "--ramp-in",
        "0.5",
    ];
    let (status, json) = bench(&args)?;
    assert_eq!((status, millis(&json).len()), (0, 40));
    assert_eq!(json["summary"]["scheduled"], 20);
    assert_eq!(json["workload"]["made"]["steady_ns"][0], 500_000_000);
    // The engine sets the pace: as many as it takes in the time, each of them whole.
    let (status, json) = bench(&["--concurrency", "2", "--duration", "0.5"])?;
    let due = millis(&json);
    assert!(
        status == 0 && 2 < due.len() && due.iter().all(|due| *due <= 500),
        "{due:?}"
    );
    assert_eq!(json["summary"]["completed"], due.len());
    Ok(())
}

#[test]
fn turns_carry_real_answers_where_that_is_asked() -> anyhow::Result<()> {
    let args = [
        "--workload",
        "sharegpt-shaped",
        "--turns",
        "3",
        "--concurrency",
        "2",
        "--requests",
        "8",
        "--answers",
        "real",
    ];
    let (status, json) = bench_of("", &args)?;
    assert_eq!(
        (status, &json["workload"]["made"]["real_answers"]),
        (0, &true.into())
    );
    let later = json["requests"]
        .as_array()
        .expect("records")
        .iter()
        .filter(|it| it["turn"] != 0);
    let later: Vec<&Value> = later.collect();
    assert!(!later.is_empty() && later.iter().all(|it| it["outcome"] == "ok"));
    Ok(())
}

#[test]
fn why_a_run_is_slow_is_told_where_it_is_asked() -> anyhow::Result<()> {
    let load = ["--rate", "50", "--requests", "60"];
    let (status, json) = bench(&[&load[..], &["--diagnose", "--metrics", "auto"]].concat())?;
    assert_eq!(status, 0);
    let diagnosis = &json["diagnosis"];
    let findings = diagnosis["findings"].as_array().map_or(0, Vec::len);
    assert_eq!((&diagnosis["version"], findings), (&1.into(), 15));
    assert!(diagnosis["answer"]["kind"].is_string(), "{diagnosis}");
    assert_eq!(diagnosis["hardware"], Value::Null, "nobody states it");
    let (_, without) = bench(&load)?;
    assert_eq!(without["diagnosis"], Value::Null);
    Ok(())
}

#[test]
fn other_tools_rules_stand_beside_the_own_figures() -> anyhow::Result<()> {
    let (status, json) = bench(&[
        "--requests",
        "10",
        "--rules",
        "vllm,mlperf",
        "--slo",
        "ttft<60s",
    ])?;
    assert_eq!(status, 0);
    let tables = json["rules"].as_array().expect("tables");
    let tools: Vec<&Value> = tables.iter().map(|table| &table["tool"]).collect();
    assert_eq!(tools, ["vllm", "mlperf"]);
    let rows = tables[0]["rows"].as_array().expect("rows");
    let row = |metric: &str| {
        rows.iter()
            .find(|row| row["metric"] == metric)
            .expect("a row")
    };
    assert_eq!(row("Completed")["theirs"], 10.0);
    // All are good, and vLLM divides by a little more or less than we do.
    let theirs = row("Goodput")["theirs"].as_f64().expect("a rate");
    let ours = row("Goodput")["ours"].as_f64().expect("a rate");
    assert!((theirs / ours - 1.0).abs() < 0.2, "{theirs} {ours}");
    let (_, without) = bench(&["--requests", "2"])?;
    assert_eq!(without["rules"], Value::Null);
    Ok(())
}
