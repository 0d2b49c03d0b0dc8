//! Every recorded stream on a virtual clock: exactly, and in every cut.

use std::time::Duration;

use load::dialect::{Asked, End, Flow, Head, Stream};
use measure::request::RequestRecord;
use measure::units::Nanos;
use proptest::prelude::*;

use crate::case::{Case, Close, Times, all};

/// How the bytes of a stream reach the client.
#[derive(Clone, Copy, Debug)]
enum Cut<'a> {
    AsRecorded,
    /// Each segment in pieces of so many bytes, all at its moment.
    Pieces(usize),
    /// Everything at the last segment's moment.
    Joined,
    /// Everything in pieces of these sizes, again and again, wherever segments end; each with its wait in milliseconds.
    Anyhow(&'a [(usize, u64)]),
}

fn play(case: &Case, cut: Cut<'_>) -> (RequestRecord, Vec<(String, String)>) {
    let mut stream = Stream::new(case.api, true, 8);
    let header = |name: &str| case.headers.get(name).map(String::as_str);
    stream.head(
        Nanos::ZERO,
        Head {
            status: case.http_status,
            content_type: header("content-type"),
            retry_after: header("retry-after"),
            date: header("date"),
            location: None,
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
            Cut::Joined | Cut::Anyhow(_) if reads.is_empty() => reads.push((at, bytes)),
            Cut::Joined | Cut::Anyhow(_) => {
                reads[0].0 = at;
                reads[0].1.extend(bytes);
            }
        }
    }
    if let Cut::Anyhow(pieces) = cut {
        let whole = reads.pop().map(|(_, bytes)| bytes).unwrap_or_default();
        reads = anyhow(&whole, pieces);
        at = reads.last().map_or(at, |(last, _)| *last);
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

/// All bytes in pieces of these sizes, each after its wait.
fn anyhow(whole: &[u8], pieces: &[(usize, u64)]) -> Vec<(Nanos, Vec<u8>)> {
    let (mut rest, mut at) = (whole, Nanos::ZERO);
    let mut reads = Vec::new();
    for (size, wait) in pieces.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, after) = rest.split_at((*size).min(rest.len()));
        at = at + Nanos::from_millis(*wait);
        reads.push((at, piece.to_vec()));
        rest = after;
    }
    reads
}

#[track_caller]
fn check(cut: Cut<'_>, times: Times) {
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_cutting_changes_times_only(pieces in prop::collection::vec((prop_oneof![1usize..6, 1usize..400, 1usize..20_000], 0u64..40), 1..40)) {
        check(Cut::Anyhow(&pieces), Times::Ignored);
    }
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
