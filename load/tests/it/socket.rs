//! Every recorded stream over a real socket: the same reading, and times within a few milliseconds.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use bytes::Bytes;
use load::{
    Engine, EngineOptions, Made, PlannedRequest, PlannedSession, PointPlan, RequestId, run_point,
};
use measure::request::RequestRecord;
use measure::study::Endpoint;
use measure::summary::Discipline;
use measure::units::Nanos;
use tokio_util::sync::CancellationToken;

use crate::case::{Case, Close, Times, all};
use crate::double::{Double, Ending, Script};

fn script(case: &Case) -> Script {
    Script {
        status: case.http_status,
        headers: case.headers.clone().into_iter().collect(),
        segments: case
            .segments
            .iter()
            .map(|segment| (Duration::from_millis(segment.after_ms), segment.bytes()))
            .collect(),
        end: match case.close {
            Close::Clean => Ending::Clean,
            Close::Reset => Ending::Reset,
            Close::Hang => Ending::Hang,
        },
    }
}

async fn replay(case: &Case) -> RequestRecord {
    let script = script(case);
    let server = Double::start(move |_| script.clone());
    let endpoint = Endpoint::new(server.url(), case.api, "m");
    let idle_timeout = Duration::from_millis(case.client.idle_timeout_ms.unwrap_or(5000));
    let options = EngineOptions {
        idle_timeout,
        keep_text: true,
        ..EngineOptions::default()
    };
    let engine = Engine::connect(&endpoint, options).expect("engine");
    let turn = PlannedRequest {
        request_id: RequestId {
            prefix: case.id.as_str().into(),
            session: 0,
            turn: 0,
        },
        body: Bytes::from_static(b"{}").into(),
        input_tokens: 1,
        output_tokens: 8,
        think: Nanos::ZERO,
        not_before: Nanos::ZERO,
    };
    let sessions = vec![PlannedSession {
        start: Nanos::ZERO,
        turns: vec![turn],
    }];
    let drain = Duration::from_secs(20);
    let plan = PointPlan {
        sessions,
        discipline: Discipline::OpenLoop,
        concurrency: None,
        until: None,
        warmup: Vec::new(),
        drain,
        made: Made::default(),
    };
    let mut run = run_point(&engine, plan, Arc::new(()), CancellationToken::new())
        .await
        .expect("a run");
    assert_eq!(
        server.seen.posts.load(SeqCst),
        1,
        "{} {}: exactly one request",
        case.id,
        case.name
    );
    run.records.remove(0)
}

/// The faults of the best of three tries: a shared machine is late now and then.
async fn faults(case: Case) -> Vec<String> {
    let mut faults = Vec::new();
    for _ in 0..3 {
        faults = case.faults(&replay(&case).await, None, Times::Within(15.0));
        if faults.is_empty() {
            break;
        }
    }
    faults
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_recorded_stream_is_read_alike_from_a_socket() {
    let mut running = tokio::task::JoinSet::new();
    let mut waiting = all().into_iter();
    let mut found = Vec::new();
    loop {
        while running.len() < 12
            && let Some(case) = waiting.next()
        {
            running.spawn(faults(case));
        }
        match running.join_next().await {
            Some(faults) => found.extend(faults.expect("no panic")),
            None => break,
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
