//! Wall times of what a point's records come to.

use divan::{Bencher, black_box};
use measure::certificate::certify;
use measure::request::{Chunk, ChunkKind, Chunks, RequestRecord};
use measure::score::Score;
use measure::slo::{Slo, judge};
use measure::summary::{Discipline, Failures, summarize};
use measure::units::Nanos;
use serde_json::json;

fn main() {
    divan::main();
}

/// So many requests of 64 events.
fn point(requests: u64) -> Vec<RequestRecord> {
    (0..requests).map(request).collect()
}

fn request(number: u64) -> RequestRecord {
    let start = number * 5_000_000;
    let mut chunks = Chunks::with_capacity(64);
    for place in 0..64 {
        let uneven = (number * 7919 + place * 104_729) % 999_983;
        chunks.push(Chunk {
            at: Nanos(start + 50_000_000 + place * 10_000_000 + uneven),
            kind: ChunkKind::Answer,
            tokens: None,
            at_kernel: None,
        });
    }
    let end = chunks.last().map(|chunk| chunk.at);
    let plain = json!({
        "request_id": "", "session": number, "turn": 0, "scheduled": start, "sent": start + 20_000, "headers": null,
        "chunks": [], "finish": end, "end": end, "outcome": "ok", "error_detail": null, "http_status": 200,
        "retry_after": null, "finish_reason": "length", "prompt_tokens": 128, "cached_tokens": null, "output_tokens": 64,
        "token_source": "usage", "input_tokens_planned": 128, "output_tokens_asked": 64, "connect": null,
        "coalesced_reads": 0, "warnings": [], "text": null, "reasoning_text": null,
    });
    RequestRecord {
        chunks,
        ..serde_json::from_value(plain).expect("a record")
    }
}

#[divan::bench(args = [500, 5000])]
fn summary(bencher: Bencher<'_, '_>, requests: u64) {
    let records = point(requests);
    bencher.bench_local(|| {
        summarize(
            black_box(&records),
            Discipline::OpenLoop,
            Failures::AsInfinity,
        )
    });
}

#[divan::bench(args = [500, 5000])]
fn certificate(bencher: Bencher<'_, '_>, requests: u64) {
    let records = point(requests);
    bencher.bench_local(|| certify(black_box(&records), Default::default()));
}

/// What a dragged SLO line costs for each point.
#[divan::bench(args = [500, 2000])]
fn judgement(bencher: Bencher<'_, '_>, requests: u64) {
    let records = point(requests);
    let scores: Vec<Score> = records.iter().map(Score::from).collect();
    let summary = summarize(&records, Discipline::OpenLoop, Failures::AsInfinity);
    let slo: Slo = "ttft:p95<51ms tpot:p95<10ms attain>=95%"
        .parse()
        .expect("an SLO");
    bencher.bench_local(|| judge(black_box(&scores), &summary, black_box(&slo)));
}
