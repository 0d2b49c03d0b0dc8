//! Wall times of what a point's page draws of its requests: all of them, and a window of 40 % of the time.

use app::requests::{Given, Requests, View, panel};
use divan::{Bencher, black_box};
use measure::request::{Chunk, ChunkKind, Chunks, RequestRecord};
use measure::score::Score;
use measure::slo::judge;
use measure::summary::{Discipline, Failures, summarize};
use measure::units::Nanos;
use serde_json::json;
use uuid::Uuid;

/// Requests of the point, and tokens of each.
const REQUESTS: u64 = 10_000;
const TOKENS: u64 = 200;
/// Between two requests.
const APART: u64 = 50_000_000;

fn main() {
    divan::main();
}

/// Numbers that look like chance, and are the same for ever.
fn uneven(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40
}

fn request(number: u64) -> RequestRecord {
    let start = number * APART;
    let mut at = start + 60_000_000 + uneven(number) * 4;
    let mut chunks = Chunks::with_capacity(TOKENS as usize);
    for place in 0..TOKENS {
        chunks.push(Chunk {
            at: Nanos(at),
            kind: ChunkKind::Answer,
            tokens: None,
            at_kernel: Some(Nanos(at - 20_000)),
        });
        at += 15_000_000 + uneven(number * TOKENS + place);
    }
    let end = chunks.last().map(|chunk| chunk.at);
    let plain = json!({
        "request_id": "", "session": number, "turn": 0, "scheduled": start, "sent": start + 20_000, "headers": null,
        "chunks": [], "finish": end, "end": end, "outcome": "ok", "error_detail": null, "http_status": 200,
        "retry_after": null, "finish_reason": "length", "prompt_tokens": 128, "cached_tokens": null, "output_tokens": TOKENS,
        "token_source": "usage", "input_tokens_planned": 128, "output_tokens_asked": TOKENS, "connect": null,
        "coalesced_reads": 0, "warnings": [], "text": null, "reasoning_text": null,
    });
    RequestRecord {
        chunks,
        ..serde_json::from_value(plain).expect("a record")
    }
}

fn point() -> Requests {
    let records: Vec<RequestRecord> = (0..REQUESTS).map(request).collect();
    let slo = "ttft:p95<500ms itl:p95<50ms attain>=90%".parse();
    let slo = slo.expect("an SLO");
    let summary = summarize(&records, Discipline::OpenLoop, Failures::AsInfinity);
    let scores: Vec<Score> = records.iter().map(Score::from).collect();
    let judgement = judge(&scores, &summary, &slo);
    let given = Given {
        study: Uuid::from_u128(1),
        point: Uuid::from_u128(2),
        slo,
        discipline: Discipline::OpenLoop,
        counted: None,
        stored: Some((summary, judgement)),
        tracks: Vec::new(),
    };
    Requests::new(given, records)
}

/// From and to, in hundredths of the time in which requests were sent.
#[divan::bench(args = [(0, 100), (30, 70)], sample_count = 20)]
fn fragment(bencher: Bencher<'_, '_>, (from, to): (u64, u64)) {
    let point = point();
    let at = |hundredths: u64| format!("{}", REQUESTS * APART / 1_000_000_000 * hundredths / 100);
    let view = View::read(|key| match key {
        _ if (from, to) == (0, 100) => None,
        "from" => Some(at(from)),
        "to" => Some(at(to)),
        _ => None,
    });
    bencher.bench_local(|| panel(&black_box(&point).part(&view)).into_string());
}
