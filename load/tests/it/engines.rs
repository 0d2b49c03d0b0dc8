//! Streams that real engines sent, as their bytes came: each is read as its own usage says, however it is cut.
//!
//! `tests/recorded/ENGINE.jsonl` has one exchange a line: dialect, status, content type, the body without its chunked
//! framing, and the moment and length of each read. Long streams have lost events in the middle, so that their usage
//! counts more than they show. What is expected was read from the bytes by another program.

use std::path::Path;

use load::dialect::{Asked, End, Flow, Head, Stream};
use measure::request::{ErrorKind, Outcome, RequestRecord, TokenSource};
use measure::study::Api;
use measure::units::Nanos;
use serde::Deserialize;

#[derive(Deserialize)]
struct Recording {
    name: String,
    api: Api,
    status: u16,
    #[serde(rename = "type")]
    content_type: Option<String>,
    expect: Expected,
    /// Milliseconds, bytes.
    reads: Vec<(f64, usize)>,
    body: String,
}

#[derive(Deserialize)]
struct Expected {
    outcome: String,
    kind: Option<String>,
    detail: Option<String>,
    chunks: Option<usize>,
    ttft_ms: Option<f64>,
    last_ms: Option<f64>,
    text: Option<String>,
    finish_reason: Option<String>,
    output_tokens: Option<u32>,
    prompt_tokens: Option<u32>,
    token_source: Option<TokenSource>,
}

fn all() -> Vec<Recording> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let engines = ["llamacpp", "sglang", "vllm", "vllm-gemma"];
    let read = |engine: &'static str| {
        let path = folder.join(format!("{engine}.jsonl"));
        let text = std::fs::read_to_string(path).expect("file");
        let lines: Vec<Recording> = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("a recording"))
            .collect();
        lines.into_iter().map(move |mut line| {
            line.name = format!("{engine}/{}", line.name);
            line
        })
    };
    let all: Vec<Recording> = engines.into_iter().flat_map(read).collect();
    assert!(90 < all.len(), "the recordings are gone");
    all
}

fn named(name: &str) -> Recording {
    let mut all = all().into_iter();
    all.find(|recording| recording.name == name).expect(name)
}

impl Recording {
    fn moments(&self) -> Vec<(Nanos, &[u8])> {
        let mut rest = self.body.as_bytes();
        let mut moments = Vec::new();
        for (ms, length) in &self.reads {
            let (read, later) = rest.split_at(*length);
            moments.push((at(*ms), read));
            rest = later;
        }
        assert!(rest.is_empty(), "{}: bytes that nobody read", self.name);
        moments
    }

    /// Plays the reads, each in pieces of so many bytes.
    fn play(&self, piece: usize) -> RequestRecord {
        let mut stream = Stream::new(self.api, true, 8);
        let head = Head {
            status: self.status,
            content_type: self.content_type.as_deref(),
            retry_after: None,
            date: None,
            location: None,
        };
        stream.head(Nanos::ZERO, head);
        let moments = self.moments();
        let mut pieces = moments
            .iter()
            .flat_map(|(at, read)| read.chunks(piece).map(move |piece| (*at, piece)));
        if !pieces.any(|(at, piece)| stream.bytes(at, piece) == Flow::Done) {
            let last = moments.last().map_or(Nanos::ZERO, |(at, _)| *at);
            stream.end(last, End::Clean);
        }
        stream.into_record(asked(), Some(Nanos::ZERO), None)
    }
}

fn at(ms: f64) -> Nanos {
    Nanos((ms * 10.0).round() as u64 * 100_000)
}

fn asked() -> Asked {
    Asked {
        request_id: "r".into(),
        session: 0,
        turn: 0,
        scheduled: Nanos::ZERO,
        input_tokens: 1,
        output_tokens: 8,
    }
}

#[track_caller]
fn check(recording: &Recording, record: &RequestRecord) {
    let (name, expected) = (&recording.name, &recording.expect);
    let (outcome, kind) = match record.outcome {
        Outcome::Ok => ("ok", None),
        Outcome::Error(kind) => ("error", Some(kind.name())),
    };
    assert_eq!(
        (outcome, kind),
        (expected.outcome.as_str(), expected.kind.as_deref()),
        "{name}: {:?}",
        record.error_detail
    );
    if let Some(detail) = &expected.detail {
        assert_eq!(record.error_detail.as_ref(), Some(detail), "{name}");
    }
    let Some(chunks) = expected.chunks else {
        return;
    };
    assert_eq!(record.chunks.len(), chunks, "{name}: events");
    assert_eq!(record.text, expected.text, "{name}: text");
    assert_eq!(
        (record.output_tokens, Some(record.token_source)),
        (expected.output_tokens, expected.token_source),
        "{name}: output tokens"
    );
    assert_eq!(
        record.prompt_tokens, expected.prompt_tokens,
        "{name}: prompt"
    );
    assert_eq!(
        record.finish_reason, expected.finish_reason,
        "{name}: finish"
    );
    assert_eq!(record.ttft(), expected.ttft_ms.map(at), "{name}: TTFT");
    let last = record.chunks.last().map(|chunk| chunk.at);
    assert_eq!(last, expected.last_ms.map(at), "{name}: the last token");
    assert!(record.warnings.is_empty(), "{name}: {:?}", record.warnings);
}

#[test]
fn each_is_read_as_its_usage_says() {
    for recording in all() {
        check(&recording, &recording.play(usize::MAX));
    }
}

#[test]
fn a_cut_anywhere_changes_nothing() {
    for recording in all() {
        for piece in [1, 7] {
            check(&recording, &recording.play(piece));
        }
    }
}

#[test]
fn joined_into_one_read_only_the_times_change() {
    let timeless = |record: RequestRecord| {
        let tokens: Vec<_> = record
            .chunks
            .iter()
            .map(|it| (it.kind, it.tokens))
            .collect();
        (
            record.outcome,
            record.text,
            record.output_tokens,
            record.finish_reason,
            tokens,
        )
    };
    for mut recording in all() {
        let apart = timeless(recording.play(usize::MAX));
        recording.reads = vec![(1.0, recording.body.len())];
        assert_eq!(
            timeless(recording.play(usize::MAX)),
            apart,
            "{}",
            recording.name
        );
    }
}

/// The oddities that the recordings are there for, by name: where each shows, and what must come of it.
#[test]
fn what_is_odd_in_them_is_there_and_read_right() {
    // An event `data: null`, and a usage for each choice.
    let batch = named("llamacpp/completions_batch2");
    assert!(batch.body.starts_with("data: null\n\n"));
    assert_eq!(batch.play(usize::MAX).output_tokens, Some(4));
    assert_eq!(
        named("llamacpp/chat_n2").play(usize::MAX).output_tokens,
        Some(6)
    );
    // One usage for both choices.
    assert_eq!(
        named("vllm/chat_n2").play(usize::MAX).output_tokens,
        Some(6)
    );
    // Progress and pings come long before the first token.
    for name in [
        "llamacpp/chat_return_progress",
        "llamacpp/native_completion_return_progress",
        "vllm/chat_queued_keepalive",
        "vllm/completions_queued_keepalive",
    ] {
        let recording = named(name);
        let first = at(recording.reads[0].0);
        let ttft = recording.play(usize::MAX).ttft().expect("a token");
        assert!(ttft.0 > 2 * first.0, "{name}: {ttft} after {first}");
    }
    // Running usage says how many tokens each event carried.
    let merged = named("vllm/completions_stream_interval4_continuous").play(usize::MAX);
    let tokens: Vec<_> = merged.chunks.iter().map(|chunk| chunk.tokens).collect();
    assert_eq!(tokens, [Some(1), Some(4), Some(4), Some(1)]);
    // A pause in the middle is a stall, whatever pings fill it.
    let paused = named("vllm/completions_paused_midstream");
    assert!(paused.body.contains("\n: "));
    let stall = paused.play(usize::MAX).stall().expect("a stall");
    assert!(Nanos::from_millis(3000) < stall, "{stall}");
}

#[test]
fn a_stream_cut_short_before_its_end_is_never_a_success() {
    for mut recording in all() {
        let record = recording.play(usize::MAX);
        let end = recording.body.rfind("\"finish_reason\":\"").or_else(|| {
            let mark = ["\"stop\":true", "response.completed"];
            mark.iter().find_map(|mark| recording.body.find(mark))
        });
        let (Outcome::Ok, Some(end)) = (record.outcome, end) else {
            continue;
        };
        let multiple = recording.name.contains("n2") || recording.name.contains("batch2");
        if multiple {
            continue;
        }
        // Between characters, and not behind the mark itself.
        let cut = recording.body.floor_char_boundary(end);
        recording.body.truncate(cut);
        recording.reads = vec![(1.0, cut)];
        let cut = recording.play(usize::MAX);
        assert_eq!(
            cut.outcome,
            Outcome::Error(ErrorKind::Truncated),
            "{}: {:?}",
            recording.name,
            cut.error_detail
        );
    }
}
