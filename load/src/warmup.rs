//! Before the clock: is the engine there, are connections open, has it warmed up.

use std::sync::Arc;
use std::time::Duration;

use measure::request::{ErrorKind, Outcome, RequestRecord};
use measure::units::Nanos;
use tokio::task::JoinSet;

use crate::clock::Clock;
use crate::connection::{self, Gate};
use crate::engine::Requests;
use crate::exchange::{GiveUp, Lane, Shared, asked};
use crate::plan::PlannedRequest;
use crate::progress::Gauges;
use crate::runner::PointError;

/// Warm-up requests in flight at a time.
const AT_A_TIME: usize = 8;

/// How long connections wait for each other while they are being opened.
const PATIENCE: Duration = Duration::from_secs(2);

/// Opens `count` connections at once and leaves them idle in the pool.
pub(crate) async fn open_connections(
    engine: Shared,
    requests: Requests,
    count: usize,
) -> Result<(), PointError> {
    let count = count.max(1);
    let gate = Gate::new(count, PATIENCE);
    let mut opening = JoinSet::new();
    for _ in 0..count {
        let (http, request, gate) = (engine.http.clone(), requests.light(), Arc::clone(&gate));
        let opened = async move { connection::execute_gated(&http, request, gate).await };
        opening.spawn(tokio::time::timeout(engine.idle_timeout, opened));
    }
    // Each answer is held until all have come, since a connection that came back early would be used twice.
    let mut held = Vec::with_capacity(count);
    let mut unreachable = None;
    while let Some(opened) = opening.join_next().await {
        match opened {
            Ok(Ok(Ok(response))) => held.push(response),
            Ok(Ok(Err(error))) if error.is_connect() => {
                unreachable = Some(connection::chain(&error))
            }
            // A connection that could not be opened ahead is opened inside the clock, and counted there.
            _ => {}
        }
    }
    if let (true, Some(why)) = (held.is_empty(), unreachable) {
        return Err(PointError::Unreachable { why });
    }
    for mut response in held {
        while let Ok(Ok(Some(_))) =
            tokio::time::timeout(engine.idle_timeout, response.chunk()).await
        {}
    }
    // The pool takes connections back a little after their last byte.
    tokio::time::sleep(Duration::from_millis(5) + Duration::from_micros(50) * count as u32).await;
    Ok(())
}

/// Sends the warm-up. A refusal that all requests would share ends the point before it begins.
pub(crate) async fn warm_up(
    engine: Shared,
    requests: Requests,
    warmup: Vec<PlannedRequest>,
    mut give_up: GiveUp,
) -> Result<(), PointError> {
    let mut running: JoinSet<RequestRecord> = JoinSet::new();
    let mut waiting = warmup.into_iter();
    loop {
        while running.len() < AT_A_TIME
            && let Some(planned) = waiting.next()
        {
            running.spawn(one(engine.clone(), requests.clone(), planned));
        }
        let record = tokio::select! {
            joined = running.join_next() => joined,
            // Dropping the set drops the requests.
            _ = give_up.told() => return Ok(()),
        };
        match record {
            Some(Ok(record)) => check(&record)?,
            Some(Err(_)) => {}
            None => return Ok(()),
        }
    }
}

async fn one(engine: Shared, requests: Requests, planned: PlannedRequest) -> RequestRecord {
    let request = requests.request(&planned.request_id.to_string(), planned.body.bytes());
    let gauges = Gauges::new(1);
    let lane = Lane {
        engine: &engine,
        clock: Clock::starting_now(),
        gauges: &gauges,
    };
    let (_keep, mut give_up) = GiveUp::new();
    lane.run(request, asked(&planned, 0, 0, Nanos::ZERO), &mut give_up)
        .await
}

fn check(record: &RequestRecord) -> Result<(), PointError> {
    let why = record.error_detail.clone().unwrap_or_default();
    match (record.outcome, record.http_status) {
        (Outcome::Error(ErrorKind::HttpStatus), Some(status @ (400..=499))) => {
            Err(PointError::Refused { status, why })
        }
        (Outcome::Error(ErrorKind::ConnectFailed), _) => Err(PointError::Unreachable { why }),
        (Outcome::Error(ErrorKind::NotAStream), _) => Err(PointError::NoStream { why }),
        _ => Ok(()),
    }
}
