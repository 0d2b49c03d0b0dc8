//! The first small request to an engine that says nothing of itself: fields that it refuses are left out.

use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use load::dialect::{Limit, Quirks};
use load::{TrialError, Wire, probe, quirks};
use measure::study::{Api, Endpoint};

use crate::double::{Double, Ending, Request, Script, stream};

fn refusal(status: u16, body: &str) -> Script {
    Script {
        status,
        headers: vec![("content-type".into(), "application/json".into())],
        segments: vec![(Duration::ZERO, body.as_bytes().to_vec())],
        end: Ending::Clean,
    }
}

/// What the trial finds, and how many requests it took.
async fn trial(
    answer: impl Fn(&Request) -> Script + Send + Sync + 'static,
) -> (Result<Quirks, TrialError>, usize) {
    let server = Double::start(answer);
    let endpoint = Endpoint::new(server.url(), Api::OpenAiCompletions, "m");
    let found = probe(&endpoint, Wire::default(), Duration::from_secs(5)).await;
    let found = found.expect("an engine");
    let quirks = quirks(&endpoint, Wire::default(), &found, Quirks::default()).await;
    (quirks, server.seen.posts.load(SeqCst))
}

fn good() -> Script {
    stream(4, Duration::ZERO, Duration::ZERO)
}

/// A server that refuses each of these fields by name.
fn without(fields: &'static [&'static str]) -> impl Fn(&Request) -> Script {
    move |request| {
        let refused = fields
            .iter()
            .find(|field| request.body.contains(&format!("\"{field}\":")));
        match refused {
            Some(field) => refusal(
                400,
                &format!(
                    "{{\"error\":{{\"message\":\"Unrecognized request argument supplied: {field}\"}}}}"
                ),
            ),
            None => good(),
        }
    }
}

#[tokio::test]
async fn an_engine_that_takes_everything_is_asked_once() {
    let (quirks, posts) = trial(|_| good()).await;
    assert_eq!((quirks.expect("quirks"), posts), (Quirks::default(), 1));
}

#[tokio::test]
async fn what_is_refused_is_left_out_and_the_rest_is_kept() {
    let all = Quirks::default();
    let completion = Limit::MaxCompletionTokens;
    let usage = false;
    let cases: [(&[&str], Quirks); 4] = [
        (
            &["max_tokens"],
            Quirks {
                limit: completion,
                ..all
            },
        ),
        (&["stream_options"], Quirks { usage, ..all }),
        (
            &["ignore_eos", "seed"],
            Quirks {
                ignore_eos: false,
                seed: false,
                ..all
            },
        ),
        (
            &[
                "max_tokens",
                "stream_options",
                "ignore_eos",
                "temperature",
                "seed",
            ],
            Quirks {
                limit: completion,
                usage,
                ignore_eos: false,
                temperature: false,
                seed: false,
                ..all
            },
        ),
    ];
    for (fields, expected) in cases {
        let (quirks, posts) = trial(without(fields)).await;
        assert_eq!(
            (quirks.expect("quirks"), posts),
            (expected, fields.len() + 1),
            "{fields:?}"
        );
    }
}

#[tokio::test]
async fn a_limit_that_is_silently_ignored_is_noticed() {
    let (quirks, posts) = trial(|request| {
        let kept = request.body.contains("max_completion_tokens");
        stream(if kept { 4 } else { 40 }, Duration::ZERO, Duration::ZERO)
    })
    .await;
    let expected = Quirks {
        limit: Limit::MaxCompletionTokens,
        ..Quirks::default()
    };
    assert_eq!((quirks.expect("quirks"), posts), (expected, 2));
}

#[tokio::test]
async fn what_every_request_would_be_told_ends_it_at_once() {
    for (status, body, mend) in [
        (
            401,
            "no key",
            "status 401 (no key); name the environment variable",
        ),
        (403, "not you", "status 403 (not you)"),
        (
            404,
            "no model m",
            "status 404 (no model m); check URL, dialect and model",
        ),
        (
            422,
            "the prompt is empty",
            "status 422: the prompt is empty",
        ),
    ] {
        let (quirks, posts) = trial(move |_| refusal(status, body)).await;
        let error = quirks.expect_err("refused").to_string();
        assert!(error.contains(mend), "{error}");
        assert_eq!(posts, 1);
    }
}

#[tokio::test]
async fn trouble_that_may_pass_is_left_to_the_run() {
    let cut = Script {
        end: Ending::Cut,
        ..good()
    };
    for script in [
        refusal(503, "busy"),
        refusal(429, "slow down"),
        refusal(500, "oops"),
        cut,
    ] {
        let (quirks, posts) = trial(move |_| script.clone()).await;
        assert_eq!((quirks.expect("quirks"), posts), (Quirks::default(), 1));
    }
}
