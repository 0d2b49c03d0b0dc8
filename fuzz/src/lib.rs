//! What must hold for any bytes whatever: no panic, the same reading in every cut, bounded memory, and no success that is
//! not complete.
//!
//! The decoders and dialects are compiled from their sources alone, without the rest of the instrument, so that the
//! targets build in seconds. The first bytes of an input say how it is cut and how it ends, the rest is the body.

#[path = "../../load/src/dialect/mod.rs"]
pub mod dialect;
#[path = "../../load/src/ndjson.rs"]
pub mod ndjson;
#[path = "../../load/src/sse.rs"]
pub mod sse;
#[path = "../../load/src/scrape/text.rs"]
pub mod text;

use std::time::Duration;

use dialect::{Asked, End, Flow, Head, Stream};
use measure::request::{Outcome, RequestRecord};
use measure::study::Api;
use measure::units::Nanos;
use sse::Event;

/// Bytes that say how an input is cut and how it ends.
const CONTROL: usize = 4;

/// The event stream's decoder.
pub fn sse(input: &[u8]) {
    decoder(input, |pieces| {
        let mut seen = Vec::new();
        let mut decoder = sse::Decoder::default();
        for piece in pieces {
            decoder.push(piece, &mut |event| seen.push(named(event))).expect("short");
        }
        decoder.finish(&mut |event| seen.push(named(event))).expect("short");
        seen
    });
}

/// The decoder of lines.
pub fn ndjson(input: &[u8]) {
    decoder(input, |pieces| {
        let mut seen = Vec::new();
        let mut decoder = ndjson::Decoder::default();
        for piece in pieces {
            decoder.push(piece, &mut |event| seen.push(named(event))).expect("short");
        }
        decoder.finish(&mut |event| seen.push(named(event)));
        seen
    });
}

/// An engine's metrics page: what is read of it, written down again, is read alike.
pub fn metrics(input: &[u8]) {
    let page = String::from_utf8_lossy(input);
    for sample in text::samples(&page).flatten() {
        assert!(!sample.name.is_empty() && !sample.name.contains(['{', '"', ' ']));
        let labels: Vec<(String, String)> =
            sample.labels().map(|(name, value)| (name.to_owned(), value.into_owned())).collect();
        let quoted = |text: &str| {
            text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
        };
        let written: Vec<String> =
            labels.iter().map(|(name, value)| format!("{name}=\"{}\"", quoted(value))).collect();
        let line = format!("{}{{{}}} {:?}", sample.name, written.join(","), sample.value);
        let again = text::samples(&line).next().expect("a line").expect("a sample");
        let read: Vec<(String, String)> =
            again.labels().map(|(name, value)| (name.to_owned(), value.into_owned())).collect();
        assert_eq!((again.name, read), (sample.name, labels), "{line}");
        assert!(again.value == sample.value || (again.value.is_nan() && sample.value.is_nan()));
    }
}

fn named(event: Event<'_>) -> (u8, Vec<u8>) {
    match event {
        Event::Data(data) => (0, data.to_vec()),
        Event::Failure(data) => (1, data.to_vec()),
        Event::Unframed(line) => (2, line.to_vec()),
        Event::Junk(line) => (3, line.to_vec()),
    }
}

fn decoder(input: &[u8], decode: impl Fn(&[&[u8]]) -> Vec<(u8, Vec<u8>)>) {
    let Some((control, body)) = input.split_first_chunk::<CONTROL>() else {
        return;
    };
    let whole = decode(&[body]);
    assert_eq!(decode(&pieces(control, body)), whole, "a cut changed the events");
    let out: usize = whole.iter().map(|(_, data)| data.len()).sum();
    assert!(out <= body.len(), "more out than in");
    assert!(whole.iter().all(|(_, data)| !data.is_empty()), "an empty event");
}

/// The body in pieces; the control bytes are the lengths, in turn.
fn pieces<'a>(control: &[u8], mut body: &'a [u8]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for length in control.iter().cycle() {
        if body.is_empty() {
            break;
        }
        let (piece, rest) = body.split_at(usize::from(length % 32 + 1).min(body.len()));
        pieces.push(piece);
        body = rest;
    }
    pieces
}

/// A whole response in a dialect.
pub fn dialect(api: Api, input: &[u8]) {
    let Some((control, body)) = input.split_first_chunk::<CONTROL>() else {
        return;
    };
    let (whole, done) = play(api, control, &[body]);
    let (cut, cut_done) = play(api, control, &pieces(control, body));
    assert_eq!(done, cut_done, "a cut changed the end");
    check(control, &whole, done);
    assert_eq!(timeless(cut), timeless(whole), "a cut changed the reading");
}

/// How the head is and how the body ends.
fn ends(control: &[u8]) -> (Head<'static>, End) {
    let head = Head {
        status: if control[0] >= 250 { 429 } else { 200 },
        content_type: Some(match control[1] {
            250.. => "application/json",
            _ => "text/event-stream",
        }),
        retry_after: None,
        date: None,
        location: None,
    };
    let end = match control[2] {
        0..200 => End::Clean,
        200..220 => End::Truncated("cut".into()),
        220..240 => End::Reset("reset".into()),
        _ => End::Stalled(Duration::from_secs(1)),
    };
    (head, end)
}

fn play(api: Api, control: &[u8], pieces: &[&[u8]]) -> (RequestRecord, bool) {
    let (head, end) = ends(control);
    let mut stream = Stream::new(api, true, 8);
    stream.head(Nanos(1), head);
    let mut at = 1;
    let done = pieces.iter().any(|piece| {
        at += 1;
        let before = stream.chunk_count();
        let flow = stream.bytes(Nanos(at), piece);
        assert!(before <= stream.chunk_count(), "tokens vanished");
        flow == Flow::Done
    });
    if !done {
        stream.end(Nanos(at), end);
    }
    let asked = Asked {
        request_id: String::new(),
        session: 0,
        turn: 0,
        scheduled: Nanos::ZERO,
        input_tokens: 1,
        output_tokens: 8,
    };
    (stream.into_record(asked, Some(Nanos(1)), None), done)
}

fn check(control: &[u8], record: &RequestRecord, done: bool) {
    let (head, end) = ends(control);
    if record.outcome == Outcome::Ok {
        assert!(done || end == End::Clean, "a success without an end");
        assert_eq!(head.status, 200, "a refusal as success");
        assert!(record.chunks.len() > 0, "a success without a token");
        assert!(record.ttft().is_some() && record.e2e() >= record.ttft());
    } else {
        assert!(record.error_detail.is_some(), "a failure without a word");
    }
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    assert!(length(&record.text) <= 1 << 20 && length(&record.reasoning_text) <= 1 << 20);
    assert!(length(&record.error_detail) <= 2048, "an unbounded detail");
}

/// What no cut may change.
fn timeless(record: RequestRecord) -> impl PartialEq + std::fmt::Debug {
    let kinds: Vec<_> = record.chunks.iter().map(|chunk| (chunk.kind, chunk.tokens)).collect();
    (
        (record.outcome, record.error_detail, kinds),
        (record.text, record.reasoning_text, record.finish_reason),
        (record.output_tokens, record.prompt_tokens, record.cached_tokens),
        (record.token_source, record.warnings),
    )
}
