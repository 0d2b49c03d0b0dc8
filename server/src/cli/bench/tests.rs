//! Tests of the module above.

use clap::Parser;

use measure::study::{EngineSpec, StudySpec};
use measure::workload::{Answers, Lengths};

use super::*;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    bench: BenchArgs,
}

fn parse(line: &str) -> Result<BenchArgs, clap::Error> {
    let words = ["bench", "--url", "http://127.0.0.1:1"]
        .into_iter()
        .chain(line.split_whitespace());
    Line::try_parse_from(words).map(|line| line.bench)
}

#[test]
fn bad_arguments_are_refused_before_anything_is_sent() {
    for line in [
        "--rate 0",
        "--rate -1",
        "--rate nan",
        "--rate c=3",
        "--concurrency 0",
        "--requests 0",
        "--api grpc",
        "--workload sharegpt:",
        "--header x",
        "--rules llmperf",
        "--metrics on",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
}

#[test]
fn a_model_is_one_that_the_engine_serves() {
    let served = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(choose(None, &served(&["a"])), Ok("a".into()));
    assert_eq!(choose(Some("a"), &served(&["b", "a"])), Ok("a".into()));
    assert_eq!(choose(Some("a"), &[]), Ok("a".into()));
    assert_eq!(
        choose(Some("x"), &served(&["a", "b"])),
        Err("the engine does not serve the model \"x\"; it serves a, b".into())
    );
    assert!(choose(None, &served(&["a", "b"])).is_err());
}

#[test]
fn the_url_keeps_the_studios_rule() {
    assert_eq!(check_url("http://127.0.0.1:8000/v1"), Ok(()));
    for (url, part) in [
        ("ftp://x", "must begin with http://"),
        ("http://u:p@x", "must not carry a name or password"),
    ] {
        let error = check_url(url).expect_err(url);
        assert!(
            error.starts_with("--url") && error.contains(part),
            "{error}"
        );
        assert!(!error.contains("u:p"), "{error}");
    }
}

/// A study on an engine by URL, with this workload.
fn on_an_engine(workload: Workload) -> StudySpec {
    StudySpec {
        engine: EngineSpec::Endpoint(Endpoint::new(
            "http://127.0.0.1:8000",
            Api::default(),
            "llama",
        )),
        workload,
        ..StudySpec::goodput_exercise()
    }
}

#[track_caller]
fn survives_the_command_line(workload: Workload) {
    let spec = on_an_engine(workload);
    let lines = app::drawn::written::command::lines(&spec).expect("lines");
    assert_eq!(lines.len(), spec.levels.len());
    for (line, level) in lines.iter().zip(&spec.levels) {
        let words = shlex(line);
        let args = Line::try_parse_from(&words[1..]).expect(line).bench;
        let (workload, (length, _)) = {
            let workload = args.traffic.workload().expect(line);
            let bounds = args.traffic.bounds(&workload).expect(line);
            (workload, bounds)
        };
        assert_eq!(workload, spec.workload, "{line}");
        assert_eq!(args.traffic.level(&workload), *level, "{line}");
        assert_eq!(args.traffic.arrival(), spec.arrival);
        let point = spec.plan().into_iter().find(|it| it.level == *level);
        let point = point.expect("a point at each level");
        assert_eq!(length.max_requests, point.requests);
        assert_eq!(args.slo.as_ref(), Some(&spec.slo));
        assert_eq!(args.seed, point.seed.0);
    }
}

/// Words of a shell's line whose quotes hold no quotes.
fn shlex(line: &str) -> Vec<String> {
    let pieces = line.split('\'').enumerate();
    let mut words = Vec::new();
    for (index, piece) in pieces {
        match index % 2 {
            0 => words.extend(piece.split_whitespace().map(str::to_owned)),
            _ => words.push(piece.to_owned()),
        }
    }
    words
}

#[test]
fn a_study_as_command_lines_is_the_same_load() {
    let uniform = Lengths::Uniform { min: 5, max: 90 };
    let log_normal = Lengths::LogNormal {
        median: 200,
        sigma: 0.7,
        max: 2000,
    };
    survives_the_command_line(Workload::Synthetic {
        input: log_normal.clone(),
        output: Lengths::Fixed { tokens: 64 },
    });
    survives_the_command_line(Workload::SharedPrefix {
        families: 3,
        prefix_tokens: 512,
        share: 0.5,
        input: uniform.clone(),
        output: log_normal,
    });
    survives_the_command_line(Workload::ShareGptShaped {
        scale: 1.0,
        max_turns: 4,
        think_ms: 250,
        max_context: 1900,
        answers: Answers::Real,
    });
    survives_the_command_line(Workload::PromptFile {
        file: "prompts.jsonl".into(),
        output: Some(uniform),
        repeats: true,
    });
}

#[test]
fn a_study_as_command_lines_reaches_the_engine_as_it_does() {
    let mut spec = on_an_engine(Workload::Synthetic {
        input: Lengths::Fixed { tokens: 64 },
        output: Lengths::Fixed { tokens: 64 },
    });
    let mut endpoint = Endpoint::new("https://127.0.0.1:8000", Api::default(), "-x");
    endpoint.connection.insecure = true;
    endpoint.connection.http2 = true;
    endpoint.connection.proxy = Some("http://127.0.0.1:3128".into());
    spec.engine = EngineSpec::Endpoint(endpoint);
    let lines = app::drawn::written::command::lines(&spec).expect("lines");
    let words = shlex(&lines[0]);
    let args = Line::try_parse_from(&words[1..]).expect(&lines[0]).bench;
    assert_eq!(args.model.as_deref(), Some("-x"));
    let wire = args.wire.wire();
    assert!(matches!(wire.trust, load::Trust::Insecure) && wire.http2);
    assert_eq!(
        wire.proxy.map(|it| it.to_string()).as_deref(),
        Some("http://127.0.0.1:3128/")
    );
}

#[test]
fn what_only_a_study_can_is_no_command_line() {
    let spec = on_an_engine(StudySpec::goodput_exercise().workload);
    let why = app::drawn::written::command::lines(&spec);
    assert_eq!(why, Err("lengths scaled down are a study's alone"));
}
