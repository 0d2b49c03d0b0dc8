//! A point's records come back from Parquet exactly as they went in.

use bytes::Bytes;
use measure::request::{Chunk, ChunkKind, ErrorKind, Outcome, RequestRecord, TokenSource};
use measure::units::Nanos;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use server::records::{ReadError, from_parquet, to_parquet};
use tests::samples::records;

fn kind() -> impl Strategy<Value = ChunkKind> {
    prop_oneof![
        Just(ChunkKind::Answer),
        Just(ChunkKind::Reasoning),
        Just(ChunkKind::ToolCall)
    ]
}

fn chunk() -> impl Strategy<Value = Chunk> {
    let at = 1u64 << 40..1 << 50;
    let lag = option::of(0u64..1 << 31);
    (at, lag, kind(), option::of(0u32..65_000)).prop_map(|(at, lag, kind, tokens)| Chunk {
        at: Nanos(at),
        at_kernel: lag.map(|lag| Nanos(at - lag)),
        kind,
        tokens,
    })
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let failures = proptest::sample::select(ErrorKind::ALL.to_vec());
    prop_oneof![Just(Outcome::Ok), failures.prop_map(Outcome::Error)]
}

fn source() -> impl Strategy<Value = TokenSource> {
    prop_oneof![
        Just(TokenSource::Usage),
        Just(TokenSource::EngineFinal),
        Just(TokenSource::Tokenizer),
        Just(TokenSource::None)
    ]
}

prop_compose! {
    fn instants()(scheduled: u64, sent: Option<u64>, headers: Option<u64>, finish: Option<u64>, end: Option<u64>) -> [Option<Nanos>; 5] {
        [Some(scheduled), sent, headers, finish, end].map(|at| at.map(Nanos))
    }
}

prop_compose! {
    fn texts()(id in ".*", rest in vec(option::of(".*"), 5), warnings in vec(".*", 0..3)) -> (String, Vec<Option<String>>, Vec<String>) {
        (id, rest, warnings)
    }
}

prop_compose! {
    fn a_record()(
        at in instants(),
        (request_id, rest, warnings) in texts(),
        numbers in any::<[u32; 5]>(),
        tokens in any::<[Option<u32>; 3]>(),
        http_status: Option<u16>,
        connect: Option<u64>,
        chunks in vec(chunk(), 0..6),
        outcome in outcome(),
        token_source in source(),
    ) -> RequestRecord {
        let [scheduled, sent, headers, finish, end] = at;
        let [session, turn, input_tokens_planned, output_tokens_asked, coalesced_reads] = numbers;
        let [prompt_tokens, cached_tokens, output_tokens] = tokens;
        let mut chunks = chunks;
        chunks.sort_by_key(|chunk: &Chunk| chunk.at);
        let chunks = chunks.into_iter().collect();
        let mut rest = rest.into_iter();
        let mut text = || rest.next().flatten();
        RequestRecord {
            request_id, session, turn, scheduled: scheduled.unwrap_or_default(), sent, headers, chunks, finish, end, outcome,
            error_detail: text(), http_status, retry_after: text(), finish_reason: text(), prompt_tokens, cached_tokens,
            output_tokens, token_source, input_tokens_planned, output_tokens_asked, connect: connect.map(Nanos), coalesced_reads, warnings,
            text: text(), reasoning_text: text(),
        }
    }
}

proptest! {
    #[test]
    fn records_come_back_as_they_were(records in vec(a_record(), 0..8)) {
        let bytes = to_parquet(&records).expect("written");
        prop_assert_eq!(from_parquet(Bytes::from(bytes)).expect("read"), records);
    }
}

#[test]
fn a_thousand_requests_are_small() {
    let records = records(1000, 40);
    let bytes = to_parquet(&records).expect("written");
    assert!(bytes.len() < 60_000, "{} bytes", bytes.len());
}

#[test]
fn what_is_no_file_of_records_says_so() {
    let error = from_parquet(Bytes::from_static(b"PAR1 not")).expect_err("no file");
    assert!(matches!(error, ReadError::Parquet(_)), "{error}");
}
