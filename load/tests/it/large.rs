//! Events of a megabyte each, as log-probabilities make them: read whole, and as fast as they come.

use std::sync::Arc;
use std::time::Duration;

use load::{Engine, EngineOptions, run_point};
use measure::request::Outcome;
use measure::study::{Api, Endpoint};
use measure::summary::Discipline;
use tokio_util::sync::CancellationToken;

use crate::double::{Double, Ending, Script};
use crate::run::plan;

const EVENTS: usize = 8;

/// A stream of so many events with a megabyte beside each token.
fn body() -> Vec<u8> {
    let ballast = "0.1234567,".repeat(100_000);
    let event = |index| {
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"text\":\"w{index} \",\"logprobs\":{{\"token_logprobs\":[{ballast}0]}},\"finish_reason\":null}}]}}\n\n"
        )
    };
    let end = "data: {\"choices\":[{\"index\":0,\"text\":\"\",\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n";
    let events: String = (0..EVENTS).map(event).collect();
    (events + end).into_bytes()
}

#[tokio::test(flavor = "multi_thread")]
async fn events_of_a_megabyte_are_read_whole() {
    let body = body();
    let bytes = body.len();
    let script = Script {
        status: 200,
        headers: vec![("content-type".into(), "text/event-stream".into())],
        segments: vec![(Duration::ZERO, body)],
        end: Ending::Clean,
    };
    let server = Double::start(move |_| script.clone());
    let endpoint = Endpoint::new(server.url(), Api::OpenAiCompletions, "m");
    let options = EngineOptions {
        // Far below what a client needs that falls behind the line.
        idle_timeout: Duration::from_secs(2),
        ..EngineOptions::default()
    };
    let engine = Engine::connect(&endpoint, options).expect("engine");
    let run = run_point(
        &engine,
        plan(Discipline::AllAtOnce, &[0; 8], 1),
        Arc::new(()),
        CancellationToken::new(),
    );
    let run = run.await.expect("a run");
    for record in &run.records {
        assert_eq!(record.outcome, Outcome::Ok, "{:?}", record.error_detail);
        assert_eq!(record.chunks.len(), EVENTS);
    }
    let took = run.ended.as_secs_f64();
    let megabytes = (run.records.len() * bytes) as f64 / 1e6;
    println!(
        "{megabytes:.0} MB in {took:.2} s: {:.0} MB/s",
        megabytes / took
    );
}
