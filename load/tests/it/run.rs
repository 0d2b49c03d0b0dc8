//! Whole points against a server that does as it is told.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use bytes::Bytes;
use load::{
    Engine, EngineOptions, Made, Observer, PlannedRequest, PlannedSession, PointError, PointPlan,
    PointRun, Progress, RequestId, run_point,
};
use measure::request::{ErrorKind, Outcome, RequestRecord};
use measure::study::{Api, Endpoint};
use measure::summary::Discipline;
use measure::units::Nanos;
use tokio_util::sync::CancellationToken;

use crate::double::{Double, Ending, Script, stream};

const MS: fn(u64) -> Duration = Duration::from_millis;

pub fn endpoint(server: &Double) -> Endpoint {
    Endpoint::new(server.url(), Api::OpenAiCompletions, "m")
}

fn engine(server: &Double) -> Engine {
    let options = EngineOptions {
        idle_timeout: MS(400),
        connect_timeout: MS(1000),
        ..EngineOptions::default()
    };
    Engine::connect(&endpoint(server), options).expect("engine")
}

fn turn(session: usize, turn: usize, think: u64) -> PlannedRequest {
    let body = Bytes::from(format!("{{\"session\":{session},\"turn\":{turn}}}"));
    PlannedRequest {
        request_id: RequestId {
            prefix: "r".into(),
            session: session as u32,
            turn: turn as u32,
        },
        body: body.into(),
        input_tokens: 5,
        output_tokens: 3,
        think: Nanos::from_millis(think),
        not_before: Nanos::ZERO,
    }
}

/// Sessions of so many turns that start at these milliseconds.
pub fn plan(discipline: Discipline, starts: &[u64], turns: usize) -> PointPlan {
    let session = |(index, start): (usize, &u64)| PlannedSession {
        start: Nanos::from_millis(*start),
        turns: (0..turns)
            .map(|number| turn(index, number, if number == 0 { 0 } else { 30 }))
            .collect(),
    };
    let sessions = starts.iter().enumerate().map(session).collect();
    PointPlan {
        sessions,
        discipline,
        concurrency: None,
        until: None,
        warmup: Vec::new(),
        drain: MS(10_000),
        made: Made::default(),
    }
}

async fn run(server: &Double, plan: PointPlan) -> PointRun {
    run_point(
        &engine(server),
        plan,
        Arc::new(()),
        CancellationToken::new(),
    )
    .await
    .expect("a run")
}

fn kinds(records: &[RequestRecord]) -> Vec<&'static str> {
    let name = |record: &RequestRecord| match record.outcome {
        Outcome::Ok => "ok",
        Outcome::Error(kind) => kind.name(),
    };
    records.iter().map(name).collect()
}

pub fn quick() -> Double {
    Double::start(|_| stream(3, MS(10), MS(5)))
}

#[tokio::test]
async fn every_arrival_keeps_its_slot_and_becomes_one_record() {
    let server = quick();
    let starts: Vec<u64> = (0..80).map(|slot| slot * slot % 97 + slot * 3).collect();
    let mut due: Vec<Nanos> = starts
        .iter()
        .map(|start| Nanos::from_millis(*start))
        .collect();
    due.sort();
    let run = run(&server, plan(Discipline::OpenLoop, &starts, 1)).await;
    let scheduled: Vec<Nanos> = run.records.iter().map(|record| record.scheduled).collect();
    assert_eq!(scheduled, due);
    assert_eq!(kinds(&run.records), ["ok"; 80]);
    assert!(
        run.records
            .iter()
            .all(|record| record.scheduled <= record.sent.expect("sent"))
    );
    assert_eq!(server.seen.posts.load(SeqCst), 80);
    assert!(!run.stopped && run.client.cpu_cores.is_some() && run.client.poll_lag_p99.is_some());
}

#[tokio::test]
async fn requests_leave_soon_after_their_slots() {
    let server = quick();
    let starts: Vec<u64> = (0..40).map(|slot| slot * 5).collect();
    let mut medians = Vec::new();
    // The best of three: other work on the machine is no fault of the pacer.
    for _ in 0..3 {
        let run = run(&server, plan(Discipline::OpenLoop, &starts, 1)).await;
        let mut lags: Vec<Nanos> = run
            .records
            .iter()
            .filter_map(RequestRecord::dispatch_lag)
            .collect();
        lags.sort();
        medians.push(lags[20]);
        if lags[20] < Nanos::from_millis(2) {
            return;
        }
    }
    panic!("median dispatch lags {medians:?}");
}

#[tokio::test]
async fn a_record_says_what_was_read_and_who_counted() {
    let server = quick();
    let run = run(&server, plan(Discipline::OpenLoop, &[0], 1)).await;
    let record = &run.records[0];
    assert_eq!(
        (
            record.output_tokens,
            record.prompt_tokens,
            record.chunks.len()
        ),
        (Some(3), Some(5), 3)
    );
    assert_eq!(
        (record.http_status, record.finish_reason.as_deref()),
        (Some(200), Some("length"))
    );
    assert!(
        Nanos::from_millis(9) < record.ttft().expect("ttft"),
        "{:?}",
        record.ttft()
    );
    let request = server.seen.requests.lock().expect("lock")[0].clone();
    assert!(
        request
            .head
            .to_ascii_lowercase()
            .contains("x-request-id: r-0-0"),
        "{}",
        request.head
    );
    assert!(
        request.head.starts_with("POST /v1/completions HTTP/1.1"),
        "{}",
        request.head
    );
    assert_eq!(request.body, "{\"session\":0,\"turn\":0}");
}

#[tokio::test]
async fn a_closed_loop_never_has_more_than_its_streams() {
    let server = quick();
    let plan = PointPlan {
        concurrency: Some(3),
        ..plan(Discipline::ClosedLoop, &[0; 14], 1)
    };
    let run = run(&server, plan).await;
    assert_eq!(
        (run.records.len(), server.seen.most_in_flight.load(SeqCst)),
        (14, 3)
    );
    assert!(run.records.iter().all(RequestRecord::is_ok));
    // Connections were opened before the clock; on a busy machine one may come back too late to be used again.
    let fresh = run
        .records
        .iter()
        .filter(|record| record.connect.is_some())
        .count();
    assert!(fresh <= 4, "{fresh} connections opened inside the clock");
}

#[tokio::test]
async fn a_cap_on_an_open_loop_shows_as_dispatch_lag() {
    let server = quick();
    let plan = PointPlan {
        concurrency: Some(2),
        ..plan(Discipline::OpenLoop, &[0; 8], 1)
    };
    let run = run(&server, plan).await;
    assert_eq!(server.seen.most_in_flight.load(SeqCst), 2);
    let most = run
        .records
        .iter()
        .filter_map(RequestRecord::dispatch_lag)
        .max();
    assert!(Nanos::from_millis(40) < most.expect("lag"), "{most:?}");
}

#[tokio::test]
async fn everything_at_once_is_really_at_once() {
    let server = Double::start(|_| stream(2, MS(150), MS(5)));
    let run = run(&server, plan(Discipline::AllAtOnce, &[0; 40], 1)).await;
    assert_eq!(
        (run.records.len(), server.seen.most_in_flight.load(SeqCst)),
        (40, 40)
    );
}

#[tokio::test]
async fn a_later_turn_is_due_when_the_answer_before_it_and_the_pause_are_over() {
    let server = quick();
    let run = run(&server, plan(Discipline::OpenLoop, &[0, 3], 3)).await;
    assert_eq!(kinds(&run.records), ["ok"; 6]);
    for session in 0..2 {
        let turns: Vec<&RequestRecord> = run
            .records
            .iter()
            .filter(|record| record.session == session)
            .collect();
        for pair in turns.windows(2) {
            let due = pair[0].end.expect("end") + Nanos::from_millis(30);
            assert_eq!((pair[1].turn, pair[1].scheduled), (pair[0].turn + 1, due));
            assert!(pair[1].dispatch_lag().expect("sent") < Nanos::from_millis(200));
        }
    }
    assert!(run.records.is_sorted_by_key(|record| record.scheduled));
}

#[tokio::test]
async fn turns_after_a_failed_one_do_not_vanish() {
    let server = Double::start(|request| {
        if request.body.contains("\"turn\":1") {
            refusal(500)
        } else {
            stream(2, MS(5), MS(5))
        }
    });
    let run = run(&server, plan(Discipline::OpenLoop, &[0], 4)).await;
    assert_eq!(
        kinds(&run.records),
        ["ok", "http_status", "cancelled", "cancelled"]
    );
    let last = &run.records[3];
    assert_eq!(
        (last.sent, last.error_detail.as_deref()),
        (None, Some("the turn before it failed"))
    );
    assert!(run.records[1].scheduled <= last.scheduled);
}

fn refusal(status: u16) -> Script {
    Script {
        status,
        headers: vec![("retry-after".into(), "7".into())],
        segments: vec![(MS(1), b"{\"error\":{\"message\":\"no\"}}".to_vec())],
        end: Ending::Clean,
    }
}

#[track_caller]
fn fails(record: &RequestRecord, kind: ErrorKind) {
    assert_eq!(
        record.outcome,
        Outcome::Error(kind),
        "{:?}",
        record.error_detail
    );
}

#[tokio::test]
async fn a_refusal_for_load_keeps_its_retry_after_and_is_not_retried() {
    let server = Double::start(|_| refusal(503));
    let run = run(&server, plan(Discipline::OpenLoop, &[0], 1)).await;
    fails(&run.records[0], ErrorKind::RateLimited);
    assert_eq!(run.records[0].retry_after.as_deref(), Some("7"));
    assert_eq!(
        (
            run.records[0].error_detail.as_deref(),
            server.seen.posts.load(SeqCst)
        ),
        (Some("no"), 1)
    );
}

#[tokio::test]
async fn a_redirect_is_a_failure_and_not_followed() {
    let redirect = Script {
        headers: vec![("location".into(), "http://169.254.169.254/".into())],
        ..refusal(307)
    };
    let server = Double::start(move |_| redirect.clone());
    let run = run(&server, plan(Discipline::OpenLoop, &[0], 1)).await;
    fails(&run.records[0], ErrorKind::HttpStatus);
    assert_eq!(
        (run.records[0].http_status, server.seen.posts.load(SeqCst)),
        (Some(307), 1)
    );
}

fn broken(end: Ending) -> Double {
    let mut script = stream(4, MS(5), MS(5));
    script.segments.truncate(2);
    Double::start(move |_| Script {
        end,
        ..script.clone()
    })
}

#[tokio::test]
async fn each_way_of_breaking_off_has_its_name_and_keeps_what_came() {
    for (end, kind) in [
        (Ending::Cut, ErrorKind::Truncated),
        (Ending::Clean, ErrorKind::Truncated),
        (Ending::Reset, ErrorKind::ConnectionReset),
        (Ending::Hang, ErrorKind::StallTimeout),
    ] {
        let server = broken(end);
        let run = run(&server, plan(Discipline::OpenLoop, &[0], 1)).await;
        fails(&run.records[0], kind);
        assert_eq!(
            (run.records[0].chunks.len(), server.seen.posts.load(SeqCst)),
            (2, 1),
            "{end:?}"
        );
    }
}

#[tokio::test]
async fn what_is_still_in_flight_at_the_end_of_the_drain_is_given_up() {
    let server = Double::start(|request| {
        stream(
            2,
            MS(if request.body.contains("\"session\":1") {
                5000
            } else {
                5
            }),
            MS(5),
        )
    });
    let options = EngineOptions {
        idle_timeout: MS(20_000),
        ..EngineOptions::default()
    };
    let engine = Engine::connect(&endpoint(&server), options).expect("engine");
    let plan = PointPlan {
        drain: MS(150),
        ..plan(Discipline::OpenLoop, &[0, 10, 20], 1)
    };
    let before = Instant::now();
    let run = run_point(&engine, plan, Arc::new(()), CancellationToken::new())
        .await
        .expect("a run");
    assert_eq!(
        (kinds(&run.records), run.stopped),
        (vec!["ok", "cancelled", "ok"], false)
    );
    assert!(run.records[1].sent.is_some() && run.records[1].end.is_some());
    assert!(before.elapsed() < MS(2500), "{:?}", before.elapsed());
}

#[tokio::test]
async fn a_closed_loop_is_not_given_up_while_sessions_still_begin() {
    let server = Double::start(|_| stream(2, MS(120), MS(5)));
    let plan = PointPlan {
        concurrency: Some(1),
        drain: MS(200),
        ..plan(Discipline::ClosedLoop, &[0; 4], 1)
    };
    let run = run(&server, plan).await;
    assert_eq!(kinds(&run.records), ["ok"; 4]);
}

#[tokio::test]
async fn a_stop_is_prompt_and_leaves_a_record_for_everything() {
    let server = Double::start(|_| stream(200, MS(20), MS(20)));
    let stop = CancellationToken::new();
    let starts: Vec<u64> = (0..20).map(|slot| slot * 100).collect();
    let plan = plan(Discipline::OpenLoop, &starts, 2);
    let engine = engine(&server);
    let stopper = stop.clone();
    tokio::spawn(async move {
        tokio::time::sleep(MS(350)).await;
        stopper.cancel();
    });
    let before = Instant::now();
    let run = run_point(&engine, plan, Arc::new(()), stop)
        .await
        .expect("a run");
    assert!(before.elapsed() < MS(1500), "{:?}", before.elapsed());
    assert!(run.stopped);
    assert_eq!(kinds(&run.records), ["cancelled"; 40]);
    let mut due = run.clone();
    let undue = due.leave_out_undue();
    assert!((30..40).contains(&undue), "{undue} had not come due");
    let sent = run
        .records
        .iter()
        .filter(|record| record.sent.is_some())
        .count();
    assert!((2..=5).contains(&sent), "{sent} were sent");
    assert!(
        run.records
            .iter()
            .any(|record| record.scheduled == Nanos::from_millis(1900) && record.sent.is_none())
    );
}

#[tokio::test]
async fn connections_that_are_closed_unsaid_are_not_used_again() {
    let server = Double::start(|_| Script {
        end: Ending::Gone,
        ..stream(2, MS(1), MS(1))
    });
    let engine = engine(&server);
    let all = || PointPlan {
        concurrency: Some(1),
        ..plan(Discipline::ClosedLoop, &[0; 20], 1)
    };
    let lost = async |plan| {
        let run = run_point(&engine, plan, Arc::new(()), CancellationToken::new());
        let run = run.await.expect("a run");
        run.records.iter().filter(|record| !record.is_ok()).count()
    };
    // Whether an end is seen before the next request is a race, until one is lost: the engine is known from then on.
    let all_lost = [lost(all()).await, lost(all()).await, lost(all()).await];
    assert!(all_lost.iter().sum::<usize>() <= 1, "{all_lost:?}");
}

#[tokio::test]
async fn a_stopped_closed_loop_has_no_record_of_slots_that_never_came() {
    let server = Double::start(|_| stream(200, MS(20), MS(20)));
    let stop = CancellationToken::new();
    let plan = PointPlan {
        concurrency: Some(2),
        ..plan(Discipline::ClosedLoop, &[0; 20], 1)
    };
    let engine = engine(&server);
    let stopper = stop.clone();
    tokio::spawn(async move {
        tokio::time::sleep(MS(200)).await;
        stopper.cancel();
    });
    let run = run_point(&engine, plan, Arc::new(()), stop)
        .await
        .expect("a run");
    assert_eq!(
        (kinds(&run.records), run.stopped),
        (vec!["cancelled"; 2], true)
    );
    assert!(run.records.iter().all(|record| record.sent.is_some()));
}

#[tokio::test]
async fn dropping_the_run_stops_the_load() {
    let server = Double::start(|_| stream(500, MS(10), MS(10)));
    let engine = engine(&server);
    let starts: Vec<u64> = (0..100).map(|slot| slot * 20).collect();
    let running = run_point(
        &engine,
        plan(Discipline::OpenLoop, &starts, 1),
        Arc::new(()),
        CancellationToken::new(),
    );
    assert!(tokio::time::timeout(MS(300), running).await.is_err());
    tokio::time::sleep(MS(200)).await;
    let sent = server.seen.posts.load(SeqCst);
    tokio::time::sleep(MS(300)).await;
    assert_eq!(
        (
            server.seen.posts.load(SeqCst),
            server.seen.in_flight.load(SeqCst)
        ),
        (sent, 0)
    );
}

#[tokio::test]
async fn an_engine_that_is_not_there_is_named_before_the_clock_starts() {
    let server = quick();
    let engine = engine(&server);
    drop(server);
    tokio::time::sleep(MS(50)).await;
    let run = run_point(
        &engine,
        plan(Discipline::OpenLoop, &[0], 1),
        Arc::new(()),
        CancellationToken::new(),
    )
    .await;
    assert!(
        matches!(run, Err(PointError::Unreachable { .. })),
        "{run:?}"
    );
}

#[tokio::test]
async fn a_refused_warm_up_ends_the_point_before_it_begins() {
    let server = Double::start(|_| refusal(401));
    let plan = PointPlan {
        warmup: vec![turn(9, 0, 0)],
        ..plan(Discipline::OpenLoop, &[0], 1)
    };
    let run = run_point(
        &engine(&server),
        plan,
        Arc::new(()),
        CancellationToken::new(),
    )
    .await;
    assert!(
        matches!(&run, Err(PointError::Refused { status: 401, why }) if why == "no"),
        "{run:?}"
    );
    assert_eq!(server.seen.posts.load(SeqCst), 1);
}

#[tokio::test]
async fn the_warm_up_comes_first_and_is_not_recorded() {
    let server = quick();
    let plan = PointPlan {
        warmup: vec![turn(7, 0, 0), turn(8, 0, 0)],
        ..plan(Discipline::OpenLoop, &[0], 1)
    };
    let run = run(&server, plan).await;
    let bodies: Vec<String> = server
        .seen
        .requests
        .lock()
        .expect("lock")
        .iter()
        .map(|request| request.body.clone())
        .collect();
    assert_eq!((run.records.len(), bodies.len()), (1, 3));
    assert_eq!(bodies[2], "{\"session\":0,\"turn\":0}");
}

#[derive(Default)]
struct Recorder(std::sync::Mutex<Vec<Progress>>);

impl Observer for Recorder {
    fn progress(&self, now: Progress) {
        self.0.lock().expect("lock").push(now);
    }
}

#[tokio::test]
async fn the_observer_sees_a_few_pictures_a_second_and_the_end() {
    let server = quick();
    let recorder = Arc::new(Recorder::default());
    let starts: Vec<u64> = (0..60).map(|slot| slot * 15).collect();
    let before = Instant::now();
    let watch = Arc::clone(&recorder) as Arc<dyn Observer>;
    run_point(
        &engine(&server),
        plan(Discipline::OpenLoop, &starts, 1),
        watch,
        CancellationToken::new(),
    )
    .await
    .expect("a run");
    let elapsed = before.elapsed();
    let seen = recorder.0.lock().expect("lock").clone();
    let most = elapsed.as_millis() / 250 + 2;
    assert!(
        (3..=most).contains(&(seen.len() as u128)),
        "{} pictures in {elapsed:?}",
        seen.len()
    );
    let last = &seen[seen.len() - 1];
    assert_eq!(
        (
            last.scheduled,
            last.sent,
            last.completed,
            last.failed,
            last.in_flight
        ),
        (60, 60, 60, 0, 0)
    );
    assert!(last.ttft_p50_ns.is_some_and(|ttft| 9_000_000 < ttft) && last.ttft_count == 60);
    assert!(seen.iter().any(|picture| 0.0 < picture.events_per_s));
}
