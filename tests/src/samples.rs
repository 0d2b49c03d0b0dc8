//! Small honest examples: a study on the simulator, records of requests that went well.

use measure::arrival::Arrival;
use measure::request::{Chunk, ChunkKind, Outcome, RequestRecord, TokenSource};
use measure::study::{ConfigurationSpec, EngineSpec, OnFailure, PointLength, StudySpec};
use measure::units::{Nanos, Seed};
use measure::workload::{Lengths, Workload};

/// A study that takes seconds: simulator `tiny`, one configuration, two rates, few short requests.
pub fn small_study() -> StudySpec {
    StudySpec {
        name: "small".into(),
        engine: EngineSpec::Simulator {
            preset: "tiny".into(),
        },
        workload: Workload::Synthetic {
            input: Lengths::Fixed { tokens: 16 },
            output: Lengths::Fixed { tokens: 8 },
        },
        arrival: Arrival::Poisson,
        levels: ["20", "40"]
            .map(|level| level.parse().expect("a level"))
            .to_vec(),
        adaptive: None,
        length: PointLength {
            min_requests: 10,
            max_requests: 10,
            seconds: 1,
        },
        warmup: 1,
        seed: Seed(42),
        slo: "ttft:p95<500ms tpot:p95<50ms attain>=95%"
            .parse()
            .expect("an SLO"),
        configurations: vec![configuration("baseline", &[])],
        repeats: 1,
        idle_timeout_ms: 10_000,
        drain_ms: 10_000,
        ramp_in_ms: 0,
        tokenizer: None,
        on_failure: OnFailure::Stop,
        factorial: false,
    }
}

/// The same with a second configuration that has these knobs.
pub fn two_configurations(knobs: &[(&str, &str)]) -> StudySpec {
    let mut spec = small_study();
    spec.configurations.push(configuration("other", knobs));
    spec
}

/// A configuration with knobs, as a person types them.
pub fn configuration(name: &str, knobs: &[(&str, &str)]) -> ConfigurationSpec {
    let knobs = knobs
        .iter()
        .map(|(knob, value)| ((*knob).to_owned(), (*value).into()));
    ConfigurationSpec {
        name: name.into(),
        knobs: knobs.collect(),
        ..ConfigurationSpec::default()
    }
}

/// Records of requests that went well, one every 50 ms, each with a first token after `ttft_ms`.
pub fn records(count: u32, ttft_ms: u64) -> Vec<RequestRecord> {
    (0..count).map(|index| record(index, ttft_ms)).collect()
}

/// The same of 1000 requests, enough for the interval of a p99, but that every 25th prompt is long and takes 250 ms, and the three after it wait for its end.
pub fn held_up() -> Vec<RequestRecord> {
    (0..1000)
        .map(|index| {
            let place = index % 25;
            let waits = |behind: u32| 250 - 50 * u64::from(behind);
            let (prompt, ttft) = match place {
                10 => (5000, 250),
                11..=13 => (16, waits(place - 10)),
                _ => (16, 20),
            };
            RequestRecord {
                prompt_tokens: Some(prompt),
                ..record(index, ttft)
            }
        })
        .collect()
}

fn record(index: u32, ttft_ms: u64) -> RequestRecord {
    let scheduled = Nanos::from_millis(u64::from(index) * 50);
    let after = |millis| scheduled + Nanos::from_millis(millis);
    let chunk = |at| Chunk {
        at: after(at),
        at_kernel: Some(after(at)),
        kind: ChunkKind::Answer,
        tokens: None,
    };
    RequestRecord {
        request_id: format!("r{index}"),
        session: index,
        turn: 0,
        scheduled,
        sent: Some(scheduled),
        headers: Some(after(1)),
        chunks: [ttft_ms, ttft_ms + 10, ttft_ms + 20]
            .map(chunk)
            .into_iter()
            .collect(),
        finish: Some(after(ttft_ms + 20)),
        end: Some(after(ttft_ms + 21)),
        outcome: Outcome::Ok,
        error_detail: None,
        http_status: Some(200),
        retry_after: None,
        finish_reason: Some("length".into()),
        prompt_tokens: Some(16),
        cached_tokens: None,
        output_tokens: Some(3),
        token_source: TokenSource::Usage,
        input_tokens_planned: 16,
        output_tokens_asked: 3,
        connect: None,
        coalesced_reads: 0,
        warnings: Vec::new(),
        text: None,
        reasoning_text: None,
    }
}
