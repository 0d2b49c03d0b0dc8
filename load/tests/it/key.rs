//! The API key and other headers: sent where they belong, never repeated.

use std::sync::Arc;

use load::{Engine, EngineOptions, run_point};
use measure::study::Endpoint;
use measure::summary::Discipline;
use tokio_util::sync::CancellationToken;

use crate::run::{endpoint, plan, quick};

#[tokio::test]
async fn the_key_and_own_headers_are_sent() {
    let server = quick();
    // Cargo sets this variable for every test.
    let endpoint = Endpoint {
        api_key_env: Some("CARGO_PKG_NAME".into()),
        headers: [("x-team".to_owned(), "a".to_owned())].into(),
        ..endpoint(&server)
    };
    let engine = Engine::connect(&endpoint, EngineOptions::default()).expect("engine");
    run_point(
        &engine,
        plan(Discipline::OpenLoop, &[0], 1),
        Arc::new(()),
        CancellationToken::new(),
    )
    .await
    .expect("a run");
    let head = server.seen.requests.lock().expect("lock")[0]
        .head
        .to_ascii_lowercase();
    assert!(
        head.contains("authorization: bearer load") && head.contains("x-team: a"),
        "{head}"
    );
}

#[tokio::test]
async fn a_missing_key_names_its_variable() {
    let server = quick();
    let endpoint = Endpoint {
        api_key_env: Some("GOODPUT_NO_SUCH_KEY".into()),
        ..endpoint(&server)
    };
    let error = Engine::connect(&endpoint, EngineOptions::default())
        .err()
        .expect("no key")
        .to_string();
    assert!(error.contains("GOODPUT_NO_SUCH_KEY"), "{error}");
}

#[tokio::test]
async fn a_key_typed_in_place_of_its_variable_is_not_repeated() {
    let server = quick();
    let endpoint = Endpoint {
        api_key_env: Some("sk-live-SECRETKEY".into()),
        ..endpoint(&server)
    };
    let error = Engine::connect(&endpoint, EngineOptions::default())
        .err()
        .expect("no key")
        .to_string();
    assert!(!error.contains("SECRET"), "{error}");
    assert!(error.contains("never write the key itself"), "{error}");
}
