//! What is measured of the instrument's inner parts: each thing once a call, from fixed bytes. Shared by the benchmarks (wall
//! time) and the counts (instructions).

use std::hint::black_box;

use load::dialect::{Asked, Head, Stream};
use load::sse::Decoder;
use measure::certificate::certify;
use measure::request::RequestRecord;
use measure::study::Api;
use measure::summary::{Discipline, Failures, summarize};
use measure::units::Nanos;

/// Tokens of a stream.
const TOKENS: u64 = 64;
/// Requests of a point.
const REQUESTS: u64 = 500;

/// A thing to do, by its name.
pub type Work = (&'static str, fn() -> Box<dyn Fn()>);

/// All of them.
pub const ALL: [Work; 5] = [
    ("decode 64 events", decode),
    ("record a stream of 64 events, openai.chat", || {
        record(Api::OpenAiChat, &CHAT)
    }),
    ("record a stream of 64 events, openai.completions", || {
        record(Api::OpenAiCompletions, &COMPLETIONS)
    }),
    ("summary of 500 requests of 64 events", summary),
    ("certificate of 500 requests", certificate),
];

/// What stands before and after a token's text.
type Form = [&'static str; 2];

const CHAT: Form = [
    r#"data: {"id":"chatcmpl-9c5d","object":"chat.completion.chunk","created":1764000000,"model":"m","choices":[{"index":0,"delta":{"content":""#,
    r#""},"logprobs":null,"finish_reason":null}]}"#,
];
const COMPLETIONS: Form = [
    r#"data: {"id":"cmpl-9c5d","object":"text_completion","created":1764000000,"model":"m","choices":[{"index":0,"text":""#,
    r#"","logprobs":null,"finish_reason":null}]}"#,
];

/// The reads of a stream, one event each, as they come from a socket.
fn reads([before, after]: &Form) -> Vec<Vec<u8>> {
    let event = |token: u64| format!("{before} word{token}{after}\n\n").into_bytes();
    let last = r#"data: {"choices":[{"index":0,"text":"","delta":{},"finish_reason":"length"}]}"#;
    let usage = r#"data: {"choices":[],"usage":{"prompt_tokens":128,"total_tokens":192,"completion_tokens":64}}"#;
    let end = format!("{last}\n\n{usage}\n\ndata: [DONE]\n\n").into_bytes();
    (0..TOKENS).map(event).chain([end]).collect()
}

fn decode() -> Box<dyn Fn()> {
    let reads = reads(&CHAT);
    Box::new(move || {
        let mut decoder = Decoder::default();
        for read in &reads {
            let pushed = decoder.push(black_box(read), &mut |event| {
                black_box(&event);
            });
            black_box(pushed.is_ok());
        }
    })
}

fn one(api: Api, reads: &[Vec<u8>], number: u64) -> RequestRecord {
    let start = number * 5_000_000;
    let mut stream = Stream::new(api, false, TOKENS as u32);
    let head = Head {
        status: 200,
        content_type: Some("text/event-stream"),
        retry_after: None,
        date: None,
        location: None,
    };
    stream.head(Nanos(start + 1_000_000), head);
    for (place, read) in (0..).zip(reads) {
        // Some unevenness, so that percentiles have something to sort.
        let at =
            start + 50_000_000 + place * 10_000_000 + (number * 7919 + place * 104_729) % 999_983;
        black_box(stream.bytes(Nanos(at), black_box(read)));
    }
    let asked = Asked {
        request_id: String::new(),
        session: number as u32,
        turn: 0,
        scheduled: Nanos(start),
        input_tokens: 128,
        output_tokens: TOKENS as u32,
    };
    stream.into_record(asked, Some(Nanos(start + 20_000)), None)
}

fn record(api: Api, form: &'static Form) -> Box<dyn Fn()> {
    let reads = reads(form);
    Box::new(move || {
        black_box(one(api, &reads, 1));
    })
}

fn point() -> Vec<RequestRecord> {
    let reads = reads(&COMPLETIONS);
    let records: Vec<RequestRecord> = (0..REQUESTS)
        .map(|number| one(Api::OpenAiCompletions, &reads, number))
        .collect();
    assert!(records.iter().all(RequestRecord::is_ok), "{:?}", records[0]);
    records
}

fn summary() -> Box<dyn Fn()> {
    let records = point();
    Box::new(move || {
        black_box(summarize(
            black_box(&records),
            Discipline::OpenLoop,
            Failures::AsInfinity,
        ));
    })
}

fn certificate() -> Box<dyn Fn()> {
    let records = point();
    Box::new(move || {
        black_box(certify(black_box(&records), Default::default()));
    })
}
