//! Tests of the module above.

use clap::Parser;

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
