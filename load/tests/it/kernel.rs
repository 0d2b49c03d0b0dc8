//! The kernel's time of arrival: on a host whose cores are busy it stays near the truth, where our own reading does not.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use load::{Engine, EngineOptions, run_point};
use measure::request::{Chunk, RequestRecord};
use measure::study::{Api, Endpoint};
use measure::summary::Discipline;
use measure::units::Nanos;
use tokio_util::sync::CancellationToken;

use crate::run::plan;

const TOKENS: usize = 300;
const GAP: Duration = Duration::from_millis(4);
/// A write that took less was not interrupted.
const PROMPT: Duration = Duration::from_micros(200);

/// A moment of writing, and how long the write took: a writer that lost its core meanwhile knows the moment badly.
type Written = (Instant, Duration);

/// Answers one request with a token every [`GAP`]; when each was written.
fn server() -> (SocketAddr, JoinHandle<Vec<Written>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let address = listener.local_addr().expect("address");
    let serve = move || {
        let (mut socket, _) = listener.accept().expect("a client");
        socket.set_nodelay(true).expect("nodelay");
        let mut request = [0; 4096];
        assert!(0 < socket.read(&mut request).expect("a request"));
        let head =
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        socket.write_all(head).expect("head");
        let mut written = Vec::new();
        for token in 0..TOKENS {
            std::thread::sleep(GAP);
            let finish = if token + 1 == TOKENS {
                "\"length\""
            } else {
                "null"
            };
            let event = format!(
                "data: {{\"choices\":[{{\"text\":\" w\",\"finish_reason\":{finish}}}]}}\n\n"
            );
            let begun = Instant::now();
            socket.write_all(event.as_bytes()).expect("event");
            written.push((begun, begun.elapsed()));
        }
        socket.write_all(b"data: [DONE]\n\n").expect("end");
        written
    };
    (address, std::thread::spawn(serve))
}

/// Keeps every core busy until told otherwise.
fn spinners(stop: &Arc<AtomicBool>) -> Vec<JoinHandle<()>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let spin = |_| {
        let stop = Arc::clone(stop);
        std::thread::spawn(move || {
            while !stop.load(Relaxed) {
                std::hint::spin_loop();
            }
        })
    };
    (0..cores * 2).map(spin).collect()
}

async fn one_stream() -> (RequestRecord, Vec<Written>) {
    let (address, serving) = server();
    let endpoint = Endpoint::new(format!("http://{address}"), Api::OpenAiCompletions, "m");
    let engine = Engine::connect(&endpoint, EngineOptions::default()).expect("engine");
    let plan = plan(Discipline::OpenLoop, &[0], 1);
    let mut run = run_point(&engine, plan, Arc::new(()), CancellationToken::new())
        .await
        .expect("a run");
    (run.records.remove(0), serving.join().expect("server"))
}

/// The 95th percentile of how far gaps by this moment are from the gaps between writes.
fn error(record: &RequestRecord, written: &[Written], moment: impl Fn(&Chunk) -> Nanos) -> Nanos {
    let moments: Vec<Nanos> = record.chunks.iter().map(|chunk| moment(&chunk)).collect();
    let gaps = moments.windows(2).map(|pair| pair[1].since(pair[0]).0);
    let prompt = |pair: &[Written]| pair.iter().all(|(_, took)| *took < PROMPT);
    let true_gaps = written.windows(2).map(|pair| {
        let gap = (pair[1].0 - pair[0].0).as_nanos() as u64;
        prompt(pair).then_some(gap)
    });
    let mut errors: Vec<u64> = gaps
        .zip(true_gaps)
        .filter_map(|(gap, truth)| Some(gap.abs_diff(truth?)))
        .collect();
    assert!(TOKENS / 4 < errors.len(), "the writer had no core");
    errors.sort_unstable();
    Nanos(errors[errors.len() * 95 / 100])
}

#[tokio::test]
async fn on_busy_cores_the_kernel_s_moments_are_nearer_the_truth_than_our_own() {
    let stop = Arc::new(AtomicBool::new(false));
    let spinning = spinners(&stop);
    let mut seen = Vec::new();
    for _ in 0..5 {
        let (record, written) = one_stream().await;
        assert_eq!((record.is_ok(), record.chunks.len()), (true, TOKENS));
        let by_kernel = error(&record, &written, Chunk::arrived);
        let by_reading = error(&record, &written, |chunk| chunk.at);
        seen.push((by_kernel, by_reading));
        if by_kernel.0 * 2 < by_reading.0 {
            break;
        }
    }
    stop.store(true, Relaxed);
    spinning
        .into_iter()
        .for_each(|thread| thread.join().expect("a spinner"));
    let helped = seen
        .last()
        .is_some_and(|(kernel, reading)| kernel.0 * 2 < reading.0);
    assert!(
        helped,
        "error of ITL at p95, by the kernel and by reading: {seen:?}"
    );
    println!("error of ITL at p95, by the kernel and by reading: {seen:?}");
}
