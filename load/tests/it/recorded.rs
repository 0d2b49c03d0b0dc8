//! Every recorded stream on a virtual clock: exactly, and in every cut.

use std::time::Duration;

use load::dialect::{Asked, End, Flow, Head, Stream};
use measure::request::RequestRecord;
use measure::units::Nanos;

use crate::case::{Case, Close, Times, all};

/// How the bytes of a stream reach the client.
#[derive(Clone, Copy, Debug)]
enum Cut {
    AsRecorded,
    /// Each segment in pieces of so many bytes, all at its moment.
    Pieces(usize),
    /// Everything at the last segment's moment.
    Joined,
}

fn play(case: &Case, cut: Cut) -> (RequestRecord, Vec<(String, String)>) {
    let mut stream = Stream::new(case.api, true, 8);
    let header = |name: &str| case.headers.get(name).map(String::as_str);
    stream.head(
        Nanos::ZERO,
        Head {
            status: case.http_status,
            content_type: header("content-type"),
            retry_after: header("retry-after"),
            date: header("date"),
        },
    );
    let mut at = Nanos::ZERO;
    let mut reads: Vec<(Nanos, Vec<u8>)> = Vec::new();
    for segment in &case.segments {
        at = at + Nanos::from_millis(segment.after_ms);
        let bytes = segment.bytes();
        match cut {
            Cut::AsRecorded => reads.push((at, bytes)),
            Cut::Pieces(size) => reads.extend(bytes.chunks(size).map(|piece| (at, piece.to_vec()))),
            Cut::Joined if reads.is_empty() => reads.push((at, bytes)),
            Cut::Joined => {
                reads[0].0 = at;
                reads[0].1.extend(bytes);
            }
        }
    }
    let done = reads
        .iter()
        .any(|(at, bytes)| stream.bytes(*at, bytes) == Flow::Done);
    if !done {
        let idle = Duration::from_millis(case.client.idle_timeout_ms.unwrap_or(1000));
        stream.end(
            at,
            match case.close {
                Close::Clean => End::Clean,
                Close::Reset => End::Reset("connection reset by peer".into()),
                Close::Hang => End::Stalled(idle),
            },
        );
    }
    let tool_calls = stream.tool_calls().to_vec();
    let asked = Asked {
        request_id: case.id.clone(),
        session: 0,
        turn: 0,
        scheduled: Nanos::ZERO,
        input_tokens: 1,
        output_tokens: 8,
    };
    (
        stream.into_record(asked, Some(Nanos::ZERO), None),
        tool_calls,
    )
}

#[track_caller]
fn check(cut: Cut, times: Times) {
    let faults: Vec<String> = all()
        .iter()
        .flat_map(|case| {
            let (record, tool_calls) = play(case, cut);
            case.faults(&record, Some(&tool_calls), times)
        })
        .collect();
    assert!(faults.is_empty(), "{cut:?}\n{}", faults.join("\n"));
}

#[test]
fn each_is_read_exactly() {
    check(Cut::AsRecorded, Times::Exact);
}

#[test]
fn a_cut_at_every_byte_changes_nothing() {
    check(Cut::Pieces(1), Times::Exact);
}

#[test]
fn a_cut_at_every_third_byte_changes_nothing() {
    check(Cut::Pieces(3), Times::Exact);
}

#[test]
fn joined_into_one_read_only_the_times_change() {
    check(Cut::Joined, Times::Ignored);
}

#[test]
fn the_first_token_is_in_the_segment_that_completes_it() {
    for case in all() {
        let Some(segment) = case.expect["ttft_after_segment"].as_u64() else {
            continue;
        };
        let at: u64 = case.segments[..=segment as usize]
            .iter()
            .map(|segment| segment.after_ms)
            .sum();
        let (record, _) = play(&case, Cut::AsRecorded);
        assert_eq!(
            record.ttft(),
            Some(Nanos::from_millis(at)),
            "{} {}",
            case.id,
            case.name
        );
    }
}
