//! The limits of the client's own machine: what they are called, and that they are never the engine's failures.
//!
//! A limit belongs to a whole process or a whole network, so each is set in a child: this test program, started again
//! with one test. Where no child may have a network of its own, the tests of ports say so and check nothing.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use load::{Engine, EngineOptions, PointError, PointPlan, PointRun, run_point};
use measure::certificate::{Innocence, certify};
use measure::request::{ErrorKind, Outcome, RequestRecord};
use measure::study::{Api, Endpoint};
use measure::summary::Discipline;
use tokio_util::sync::CancellationToken;

use crate::double::{Double, stream};
use crate::run::plan;

const MS: fn(u64) -> Duration = Duration::from_millis;
/// Tells a child that it is one, and where the server is.
const CHILD: &str = "GOODPUT_TEST_CHILD";

/// In a child: where the server is.
fn in_child() -> Option<String> {
    std::env::var(CHILD).ok()
}

/// Runs a test of this module once more, in a shell that has prepared its surroundings.
fn child(test: &str, (shell, prepare): (&[&str], &str), server: &str) {
    let program = std::env::current_exe().expect("this program");
    let script = format!("{prepare} && exec \"$0\" --exact limits::{test} --nocapture");
    let ran = Command::new(shell[0])
        .args(&shell[1..])
        .args(["-c", &script])
        .arg(program)
        .env(CHILD, server)
        .output()
        .expect("a shell");
    let said = [ran.stdout, ran.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
}

/// Runs it in a network of its own, with these settings of it.
fn child_with_network(test: &str, settings: &str) {
    let shell = ["unshare", "--user", "--map-root-user", "--net", "sh"];
    let prepare = format!("ip link set lo up && {settings}");
    let may = Command::new(shell[0])
        .args(&shell[1..])
        .args(["-c", &prepare])
        .status();
    if may.is_ok_and(|status| status.success()) {
        child(test, (&shell, &prepare), "");
    } else {
        eprintln!("{test}: not checked, since no process here may have a network of its own");
    }
}

async fn run(url: &str, plan: PointPlan) -> Result<PointRun, PointError> {
    run_over(&engine(url), plan).await
}

fn engine(url: &str) -> Engine {
    engine_with(url, EngineOptions::default())
}

fn engine_with(url: &str, options: EngineOptions) -> Engine {
    let endpoint = Endpoint::new(url.to_owned(), Api::OpenAiCompletions, "m");
    Engine::connect(&endpoint, options).expect("engine")
}

async fn run_over(engine: &Engine, plan: PointPlan) -> Result<PointRun, PointError> {
    run_point(engine, plan, Arc::new(()), CancellationToken::new()).await
}

fn closed(streams: u32, sessions: usize) -> PointPlan {
    PointPlan {
        concurrency: Some(streams),
        ..plan(Discipline::ClosedLoop, &vec![0; sessions], 1)
    }
}

fn of(records: &[RequestRecord], outcome: Outcome) -> Vec<&RequestRecord> {
    let of = records.iter().filter(|record| record.outcome == outcome);
    of.collect()
}

/// Every request either succeeded or met the client's limit, with words that name it, and the certificate says so.
#[track_caller]
fn only_limited(run: &PointRun, least: usize, words: &[&str]) {
    let limited = of(&run.records, Outcome::Error(ErrorKind::ClientLimit));
    let fine = of(&run.records, Outcome::Ok);
    assert!(
        least <= limited.len() && !fine.is_empty(),
        "{} limited, {} fine",
        limited.len(),
        fine.len()
    );
    assert_eq!(limited.len() + fine.len(), run.records.len());
    for record in &limited {
        let detail = record.error_detail.as_deref().unwrap_or_default();
        assert!(words.iter().all(|word| detail.contains(word)), "{detail}");
        assert_eq!((record.sent, record.http_status), (None, None));
    }
    let certificate = certify(&run.records, run.client);
    assert_eq!(certificate.innocence, Innocence::Void);
    let says = |reason: &String| words.iter().all(|word| reason.contains(word));
    assert!(
        certificate.reasons.iter().any(says),
        "{:?}",
        certificate.reasons
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn more_streams_than_files_are_refused_with_numbers() {
    let Some(url) = in_child() else {
        let server = Double::start(|_| stream(3, MS(10), MS(5)));
        child(
            "more_streams_than_files_are_refused_with_numbers",
            (&["sh"], "ulimit -n 200"),
            &server.url(),
        );
        assert_eq!(server.seen.posts.load(SeqCst), 20, "what fits is sent");
        return;
    };
    for plan in [closed(300, 400), plan(Discipline::AllAtOnce, &[0; 300], 1)] {
        let refused = run(&url, plan).await;
        assert!(
            matches!(
                refused,
                Err(PointError::TooFewFiles {
                    needed: 300,
                    each: 1,
                    allowed: 200
                })
            ),
            "{refused:?}"
        );
    }
    let run = run(&url, closed(10, 20)).await.expect("a run");
    assert_eq!(of(&run.records, Outcome::Ok).len(), 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_soft_limit_of_files_is_raised() {
    let Some(url) = in_child() else {
        let server = Double::start(|_| stream(3, MS(300), MS(5)));
        child(
            "a_soft_limit_of_files_is_raised",
            (&["sh"], "ulimit -Sn 64"),
            &server.url(),
        );
        assert_eq!(server.seen.most_in_flight.load(SeqCst), 300);
        return;
    };
    let run = run(&url, closed(300, 300)).await.expect("a run");
    assert_eq!(of(&run.records, Outcome::Ok).len(), 300);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_run_out_during_a_point_are_the_client_s_limit() {
    let Some(url) = in_child() else {
        // Slower than the arrivals, so that they pile up.
        let server = Double::start(|_| stream(3, MS(900), MS(5)));
        child(
            "files_that_run_out_during_a_point_are_the_client_s_limit",
            (&["sh"], "ulimit -n 200"),
            &server.url(),
        );
        return;
    };
    let starts: Vec<u64> = (0..300).collect();
    let run = run(&url, plan(Discipline::OpenLoop, &starts, 1)).await;
    only_limited(&run.expect("a run"), 50, &["200 files", "ulimit -Hn"]);
}

/// An engine in the client's own process has the other end of each connection: what is left is for two.
#[tokio::test(flavor = "multi_thread")]
async fn an_engine_in_the_same_process_is_left_its_half_of_the_files() {
    let Some(url) = in_child() else {
        let server = Double::start(|_| stream(3, MS(900), MS(5)));
        child(
            "an_engine_in_the_same_process_is_left_its_half_of_the_files",
            (&["sh"], "ulimit -n 200"),
            &server.url(),
        );
        assert!(server.seen.most_in_flight.load(SeqCst) < 70);
        return;
    };
    let inside = engine_with(
        &url,
        EngineOptions {
            in_process: true,
            ..EngineOptions::default()
        },
    );
    let refused = run_over(&inside, plan(Discipline::AllAtOnce, &[0; 70], 1)).await;
    assert!(
        matches!(
            refused,
            Err(PointError::TooFewFiles {
                needed: 70,
                each: 2,
                allowed: 200
            })
        ),
        "{refused:?}"
    );
    let starts: Vec<u64> = (0..100).collect();
    let run = run_over(&inside, plan(Discipline::OpenLoop, &starts, 1)).await;
    let words = ["200 files", "half of those left are the engine's"];
    only_limited(&run.expect("a run"), 30, &words);
}

#[tokio::test(flavor = "multi_thread")]
async fn ports_that_run_out_during_a_point_are_the_client_s_limit() {
    if in_child().is_none() {
        return child_with_network(
            "ports_that_run_out_during_a_point_are_the_client_s_limit",
            "echo 40000 40049 > /proc/sys/net/ipv4/ip_local_port_range",
        );
    }
    let server = Double::start(|_| stream(3, MS(900), MS(5)));
    let starts: Vec<u64> = (0..120).collect();
    let run = run(&server.url(), plan(Discipline::OpenLoop, &starts, 1)).await;
    let run = run.expect("a run");
    let address = server.address.to_string();
    only_limited(
        &run,
        60,
        &["50 local ports", &address, "ip_local_port_range"],
    );
    // The server's own port is one of the fifty.
    assert_eq!(server.seen.most_in_flight.load(SeqCst), 49);
}

#[tokio::test(flavor = "multi_thread")]
async fn more_streams_than_ports_are_refused_with_numbers() {
    if in_child().is_none() {
        return child_with_network(
            "more_streams_than_ports_are_refused_with_numbers",
            "echo 40000 40049 > /proc/sys/net/ipv4/ip_local_port_range && echo 0 > /proc/sys/net/ipv4/tcp_tw_reuse",
        );
    }
    let server = Double::start(|_| stream(3, MS(10), MS(5)));
    let refused = run(&server.url(), closed(51, 60)).await;
    assert!(
        matches!(
            refused,
            Err(PointError::TooFewPorts {
                needed: 51,
                free: 50,
                range: 50,
                waiting: 0
            })
        ),
        "{refused:?}"
    );
    // Idle connections of its own are used again, not counted against it.
    let first = engine(&server.url());
    for _ in 0..2 {
        let run = run_over(&first, closed(40, 60)).await.expect("a run");
        assert_eq!(of(&run.records, Outcome::Ok).len(), 60);
    }
    // Closed by the client, they hold their ports for a minute.
    drop(first);
    tokio::time::sleep(MS(300)).await;
    let refused = run(&server.url(), closed(20, 20)).await;
    assert!(
        matches!(
            refused,
            Err(PointError::TooFewPorts {
                needed: 20,
                range: 50,
                waiting: 40..,
                free: ..=10
            })
        ),
        "{refused:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn hundreds_of_streams_are_really_in_flight() {
    let server = Double::start(|_| stream(2, MS(500), MS(5)));
    let run = run(&server.url(), closed(256, 256)).await.expect("a run");
    assert_eq!(of(&run.records, Outcome::Ok).len(), 256);
    assert_eq!(server.seen.most_in_flight.load(SeqCst), 256);
}
