//! What a run says: the JSON that scripts read, and the block that people know from `vllm bench serve`.

use std::fmt::Write;

use load::PointRun;
use measure::certificate::{Certificate, Innocence, certify};
use measure::quantile::{Distribution, Estimate};
use measure::request::{Outcome, RequestRecord};
use measure::slo::Metric;
use measure::summary::{Discipline, Failures, Summary, summarize};
use measure::units::Nanos;
use serde_json::{Map, Value, json};

/// A run's numbers.
pub(super) struct Report {
    summary: Summary,
    certificate: Certificate,
}

const METRICS: [(&str, Metric); 7] = [
    ("ttft", Metric::Ttft),
    ("ttfa", Metric::Ttfa),
    ("scheduled_ttft", Metric::ScheduledTtft),
    ("tpot", Metric::Tpot),
    ("itl", Metric::Itl),
    ("stall", Metric::Stall),
    ("e2e", Metric::E2e),
];

impl Report {
    pub(super) fn of(run: &PointRun, discipline: Discipline) -> Self {
        Self {
            summary: summarize(&run.records, discipline, Failures::AsInfinity),
            certificate: certify(&run.records, run.client),
        }
    }

    pub(super) fn completed(&self) -> u32 {
        self.summary.completed
    }

    /// `{"summary": {...}, "requests": [...]}`
    pub(super) fn json(&self, records: &[RequestRecord], with_text: bool) -> Value {
        let requests: Vec<Value> = records
            .iter()
            .map(|record| request(record, with_text))
            .collect();
        json!({ "summary": self.summary_json(), "requests": requests })
    }

    fn summary_json(&self) -> Value {
        let summary = &self.summary;
        let mut json = json!({
            "duration_ns": summary.duration.0,
            "scheduled": summary.scheduled,
            "sent": summary.sent,
            "completed": summary.completed,
            "failed": summary.failed,
            "failures": summary.failures,
            "offered_rate": summary.offered_rate,
            "sent_rate": summary.sent_rate,
            "completed_per_s": summary.completed_per_s,
            "input_tokens": summary.input_tokens,
            "cached_tokens": summary.cached_tokens,
            "output_tokens": summary.output_tokens,
            "output_unknown": summary.output_unknown,
            "output_tokens_per_s": summary.output_tokens_per_s,
            "input_tokens_per_s": summary.input_tokens_per_s,
            "max_in_flight": summary.max_in_flight,
            "tokens_per_chunk": summary.tokens_per_chunk,
            "certificate": self.certificate,
        });
        if let Value::Object(fields) = &mut json {
            for (name, metric) in METRICS {
                fields.insert(name.to_owned(), distribution(summary.of(metric)));
            }
        }
        json
    }

    /// The block that people know.
    pub(super) fn block(&self, rate: Option<f64>, concurrency: Option<u32>) -> String {
        let summary = &self.summary;
        let mut block = Block::default();
        block.head("=", " Serving Benchmark Result ");
        block.whole("Successful requests:", summary.completed.into());
        block.whole("Failed requests:", summary.failed.into());
        if let Some(concurrency) = concurrency {
            block.whole("Maximum request concurrency:", concurrency.into());
        }
        if let Some(rate) = rate {
            block.number("Request rate configured (RPS):", Some(rate));
        }
        block.number(
            "Benchmark duration (s):",
            Some(summary.duration.as_secs_f64()),
        );
        block.whole("Total input tokens:", summary.input_tokens);
        block.whole("Total generated tokens:", summary.output_tokens);
        block.number("Request throughput (req/s):", summary.completed_per_s);
        block.number(
            "Output token throughput (tok/s):",
            summary.output_tokens_per_s,
        );
        block.whole("Peak concurrent requests:", summary.max_in_flight.into());
        let total = summary
            .input_tokens_per_s
            .zip(summary.output_tokens_per_s)
            .map(|(input, output)| input + output);
        block.number("Total token throughput (tok/s):", total);
        block.latency("Time to First Token", "TTFT", &summary.ttft);
        block.latency(
            "Time per Output Token (excl. 1st token)",
            "TPOT",
            &summary.tpot,
        );
        // Several tokens in a chunk make the gap one of chunks, and it is called so.
        let chunked = summary
            .tokens_per_chunk
            .is_some_and(|tokens| 1.005 < tokens);
        let gap = if chunked {
            ("Gap between Chunks", "Gap")
        } else {
            ("Inter-token Latency", "ITL")
        };
        block.latency(gap.0, gap.1, &summary.itl);
        block.latency("End-to-end Latency", "E2EL", &summary.e2e);
        block.head("=", "");
        block.client(&self.certificate);
        block.0
    }
}

/// Fifty characters wide, as the tool that people know prints it.
#[derive(Default)]
struct Block(String);

impl Block {
    fn head(&mut self, fill: &str, text: &str) {
        let free = 50 - text.len();
        let (before, after) = (free / 2, free - free / 2);
        self.line(&format!(
            "{}{text}{}",
            fill.repeat(before),
            fill.repeat(after)
        ));
    }

    fn line(&mut self, text: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{text}");
    }

    fn whole(&mut self, label: &str, value: u64) {
        self.line(&format!("{label:<40} {value:<10}"));
    }

    fn number(&mut self, label: &str, value: Option<f64>) {
        match value {
            Some(value) => self.line(&format!("{label:<40} {value:<10.2}")),
            None => self.line(&format!("{label:<40} {:<10}", "-")),
        }
    }

    fn latency(&mut self, title: &str, name: &str, distribution: &Distribution) {
        self.head("-", title);
        for (percentile, estimate) in percentiles(distribution) {
            let millis = |value: Option<Nanos>| value.map_or(f64::INFINITY, Nanos::as_millis_f64);
            self.number(
                &format!("P{percentile} {name} (ms):"),
                estimate.map(|estimate| millis(estimate.value)),
            );
        }
        self.whole(&format!("{name} samples:"), distribution.count.into());
    }

    fn client(&mut self, certificate: &Certificate) {
        let verdict = match certificate.innocence {
            Innocence::Clean => "clean",
            Innocence::Suspect => "suspect",
            Innocence::Void => "void",
        };
        self.line(&format!("{:<40} {verdict:<10}", "Client:"));
        for reason in &certificate.reasons {
            self.line(&format!("  {reason}"));
        }
    }
}

fn percentiles(distribution: &Distribution) -> [(u32, Option<Estimate>); 3] {
    [
        (50, distribution.p50),
        (95, distribution.p95),
        (99, distribution.p99),
    ]
}

/// `count` and, for each percentile, value, interval and whether failures make it infinite.
fn distribution(distribution: &Distribution) -> Value {
    let mut fields = Map::new();
    fields.insert("count".into(), distribution.count.into());
    fields.insert("failed".into(), distribution.failed.into());
    fields.insert("effective".into(), distribution.effective.into());
    for (percentile, estimate) in percentiles(distribution) {
        let of = |part: fn(&Estimate) -> Option<Nanos>| {
            json!(estimate.as_ref().and_then(part).map(|nanos| nanos.0))
        };
        fields.insert(format!("p{percentile}_ns"), of(|estimate| estimate.value));
        fields.insert(format!("p{percentile}_lo_ns"), of(|estimate| estimate.lo));
        fields.insert(format!("p{percentile}_hi_ns"), of(|estimate| estimate.hi));
        let unbounded = estimate.is_some_and(|estimate| estimate.value.is_none());
        fields.insert(format!("p{percentile}_unbounded"), unbounded.into());
    }
    Value::Object(fields)
}

/// One scheduled request. What has no value is null.
fn request(record: &RequestRecord, with_text: bool) -> Value {
    let nanos = |value: Option<Nanos>| value.map(|nanos| nanos.0);
    let (outcome, error_kind) = match record.outcome {
        Outcome::Ok => ("ok", None),
        Outcome::Error(kind) => ("error", Some(kind.name())),
    };
    let headers = record
        .headers
        .zip(record.sent)
        .map(|(headers, sent)| headers.since(sent));
    let mut json = json!({
        "request_id": record.request_id,
        "session": record.session,
        "turn": record.turn,
        "scheduled_ns": record.scheduled.0,
        "sent_ns": nanos(record.sent),
        "headers_ns": nanos(headers),
        "ttft_ns": nanos(record.ttft()),
        "ttfa_ns": nanos(record.ttfa()),
        "e2e_ns": nanos(record.e2e()),
        "gaps_ns": record.gaps().map(|gap| gap.0).collect::<Vec<_>>(),
        "chunk_count": record.chunks.len(),
        "prompt_tokens": record.prompt_tokens,
        "cached_tokens": record.cached_tokens,
        "output_tokens": record.output_tokens,
        "token_source": record.token_source,
        "outcome": outcome,
        "error_kind": error_kind,
        "error_detail": record.error_detail,
        "http_status": record.http_status,
        "finish_reason": record.finish_reason,
        "warnings": record.warnings,
    });
    if let (true, Value::Object(fields)) = (with_text, &mut json) {
        fields.insert("text".into(), json!(record.text));
        fields.insert("reasoning_text".into(), json!(record.reasoning_text));
    }
    json
}

#[cfg(test)]
mod tests {
    use measure::request::{Chunk, ChunkKind, ErrorKind, TokenSource};

    use super::*;

    fn record(index: u64, outcome: Outcome) -> RequestRecord {
        let at = |millis: u64| Nanos::from_millis(index * 100 + millis);
        let is_ok = outcome == Outcome::Ok;
        let chunk = |millis| Chunk {
            at: at(millis),
            kind: ChunkKind::Answer,
            tokens: None,
        };
        RequestRecord {
            request_id: format!("bench-{index}"),
            session: index as u32,
            turn: 0,
            scheduled: at(0),
            sent: Some(at(1)),
            headers: is_ok.then(|| at(3)),
            chunks: if is_ok {
                vec![chunk(21), chunk(31), chunk(41)]
            } else {
                vec![]
            },
            finish: is_ok.then(|| at(41)),
            end: Some(at(42)),
            outcome,
            error_detail: None,
            http_status: Some(200),
            retry_after: None,
            finish_reason: is_ok.then(|| "length".into()),
            prompt_tokens: Some(8),
            cached_tokens: None,
            output_tokens: is_ok.then_some(3),
            token_source: if is_ok {
                TokenSource::Usage
            } else {
                TokenSource::None
            },
            input_tokens_planned: 8,
            output_tokens_asked: 3,
            connected_fresh: false,
            coalesced_reads: 0,
            warnings: vec![],
            text: Some("a b c".into()),
            reasoning_text: None,
        }
    }

    fn run(failures: u64) -> PointRun {
        let of = |index| {
            if index < failures {
                Outcome::Error(ErrorKind::Truncated)
            } else {
                Outcome::Ok
            }
        };
        let records = (0..20).map(|index| record(index, of(index))).collect();
        PointRun {
            records,
            client: Default::default(),
            started_unix_ms: 0,
            stopped: false,
        }
    }

    #[test]
    fn a_record_counts_from_its_sending() {
        let json = request(&record(2, Outcome::Ok), false);
        assert_eq!(json["scheduled_ns"], 200_000_000);
        assert_eq!(json["sent_ns"], 201_000_000);
        assert_eq!(json["headers_ns"], 2_000_000);
        assert_eq!(json["ttft_ns"], 20_000_000);
        assert_eq!(json["e2e_ns"], 40_000_000);
        assert_eq!(json["gaps_ns"], json!([10_000_000, 10_000_000]));
        assert_eq!(
            (&json["outcome"], &json["token_source"]),
            (&json!("ok"), &json!("usage"))
        );
        assert!(json.get("text").is_none());
        assert_eq!(request(&record(2, Outcome::Ok), true)["text"], "a b c");
    }

    #[test]
    fn what_has_no_value_is_null() {
        let json = request(&record(0, Outcome::Error(ErrorKind::Truncated)), false);
        for field in [
            "headers_ns",
            "ttft_ns",
            "ttfa_ns",
            "e2e_ns",
            "output_tokens",
            "finish_reason",
        ] {
            assert_eq!(json[field], Value::Null, "{field}");
        }
        assert_eq!(
            (&json["outcome"], &json["error_kind"]),
            (&json!("error"), &json!("truncated"))
        );
        assert_eq!(json["token_source"], "none");
    }

    #[test]
    fn failures_make_a_percentile_unbounded() {
        let run = run(1);
        let json = Report::of(&run, Discipline::OpenLoop).json(&run.records, false);
        let ttft = &json["summary"]["ttft"];
        assert_eq!(
            (&ttft["count"], &ttft["p50_unbounded"]),
            (&json!(20), &json!(false))
        );
        assert_eq!(
            (&ttft["p99_ns"], &ttft["p99_unbounded"]),
            (&Value::Null, &json!(true))
        );
        assert_eq!(
            (&json["summary"]["completed"], &json["summary"]["failed"]),
            (&json!(19), &json!(1))
        );
    }

    #[test]
    fn the_block_is_the_one_that_people_know() {
        insta::assert_snapshot!(Report::of(&run(0), Discipline::OpenLoop).block(Some(10.0), None));
    }
}
