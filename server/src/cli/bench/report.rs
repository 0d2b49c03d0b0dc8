//! What a run says: the JSON that scripts read, and the block that people know from `vllm bench serve`.

use std::fmt::Write;

use measure::certificate::{Calibration, Certificate, ClientEvidence, Demand, Innocence, certify};
use measure::evidence::Evidence;
use measure::quantile::{Distribution, Estimate};
use measure::request::{Outcome, RequestRecord};
use measure::slo::Metric;
use measure::summary::{Discipline, Failures, Summary, summarize};
use measure::units::Nanos;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

mod interval; // beside a percentile

use interval::with_interval;

/// What a certificate rests on without a look beside the run.
const NOT_LOOKED: &str = "  By its own clock alone: who else used this host or the engine was not\n  looked at (--metrics auto does, and a busy host makes it suspect).";

/// A run's numbers.
pub(super) struct Report {
    summary: Summary,
    certificate: Certificate,
    /// Whether anybody looked at what was beside it.
    looked: bool,
}

const METRICS: [(&str, Metric); 9] = [
    ("ttft", Metric::Ttft),
    ("ttfa", Metric::Ttfa),
    ("scheduled_ttft", Metric::ScheduledTtft),
    ("scheduled_ttfa", Metric::ScheduledTtfa),
    ("scheduled_e2e", Metric::ScheduledE2e),
    ("tpot", Metric::Tpot),
    ("itl", Metric::Itl),
    ("stall", Metric::Stall),
    ("e2e", Metric::E2e),
];

impl Report {
    /// The figures of these records. With the calibration of this host, where there is one, the certificate says what lies
    /// beyond half of it.
    pub(super) fn of(
        records: &[RequestRecord],
        client: ClientEvidence,
        discipline: Discipline,
        calibration: Option<&Calibration>,
    ) -> Self {
        let summary = summarize(records, discipline, Failures::AsInfinity);
        let mut certificate = certify(records, client);
        if let Some(calibration) = calibration {
            let demand = Demand::of(records, &summary);
            certificate = certificate.calibrated(calibration, demand);
        }
        Self {
            summary,
            certificate,
            looked: false,
        }
    }

    /// What was found beside the run counts as well, where anybody looked.
    pub(super) fn beside(mut self, evidence: Option<&Evidence>) -> Self {
        let findings = evidence.map(Evidence::findings);
        self.looked = findings.is_some();
        self.certificate = self.certificate.with(findings.unwrap_or_default());
        self
    }

    /// Whether the client was innocent.
    pub(super) fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// The figures.
    pub(super) fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Why no request succeeded, with the mend; `None` when one did.
    pub(super) fn why_nothing(&self) -> Option<String> {
        let summary = &self.summary;
        if 0 < summary.completed {
            return None;
        }
        let what = summary.failures_in_words().join(", ");
        let mend = match summary.mend() {
            Some(mend) if mend.contains("API key") => format!("; {mend} with --api-key-env"),
            Some(mend) => format!("; {mend}"),
            None => String::new(),
        };
        Some(format!("no request succeeded: {what}{mend}"))
    }

    pub(super) fn summary_json(&self) -> Value {
        let summary = &self.summary;
        let mut json = json!({
            "duration_ns": summary.duration.0,
            "scheduled": summary.scheduled,
            "sent": summary.sent,
            "completed": summary.completed,
            "failed": summary.failed,
            "failures": summary.failures,
            "first_failures": summary.first_failures,
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
            "remarks": summary.remarks,
            "capacity": summary.capacity,
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
    pub(super) fn block(&self, rate: Option<(&str, String)>, concurrency: Option<u32>) -> String {
        let summary = &self.summary;
        let mut block = Block::default();
        block.head("=", " Serving Benchmark Result ");
        block.whole("Successful requests:", summary.completed.into());
        block.whole("Failed requests:", summary.failed.into());
        if let Some(concurrency) = concurrency {
            block.whole("Maximum request concurrency:", concurrency.into());
        }
        if let Some((label, rate)) = rate {
            block.line(&format!("{label:<40} {rate:<10}"));
        }
        block.number("Request rate offered (req/s):", summary.offered_rate);
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
        block.failures(summary);
        block.head("=", "");
        block.client(&self.certificate);
        if !self.looked {
            block.line(NOT_LOOKED);
        }
        for remark in &summary.remarks {
            block.line(&format!("Note: {remark}"));
        }
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
            let (value, beside) = with_interval(percentile, estimate.as_ref(), distribution);
            let label = format!("P{percentile} {name} (ms):");
            self.line(&format!("{label:<40} {value:<10} {beside}"));
        }
        self.whole(&format!("{name} samples:"), distribution.count.into());
    }

    fn failures(&mut self, summary: &Summary) {
        if 0 < summary.failed {
            self.head("-", "Failures");
            for words in summary.failures_in_words() {
                self.line(&words);
            }
        }
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

/// `{"summary": {...}, "run": {...}, "promise": ..., "evidence": ..., "diagnosis": ..., "rules": ..., "workload": {...}, "requests": [...]}`, made request by request while it is written: of a hundred
/// thousand the whole would be a gigabyte.
pub(super) struct Whole<'a> {
    pub report: &'a Report,
    /// When, by what, and against which engine.
    pub run: Value,
    /// An SLO and what became of it, where one was given.
    pub promise: Option<Value>,
    /// What was seen beside the run, where that was asked for.
    pub evidence: Option<&'a Evidence>,
    /// Why it is slow, where that was asked for.
    pub diagnosis: Option<Value>,
    /// The figures by other tools' rules, where they were asked for.
    pub rules: Option<Value>,
    pub workload: Value,
    /// Whether it is but a part of what was asked for.
    pub stopped: bool,
    pub records: &'a [RequestRecord],
    pub with_text: bool,
}

impl Serialize for Whole<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut whole = serializer.serialize_map(None)?;
        let mut summary = self.report.summary_json();
        summary["stopped"] = self.stopped.into();
        whole.serialize_entry("summary", &summary)?;
        whole.serialize_entry("run", &self.run)?;
        whole.serialize_entry("promise", &self.promise)?;
        whole.serialize_entry("evidence", &self.evidence)?;
        whole.serialize_entry("diagnosis", &self.diagnosis)?;
        whole.serialize_entry("rules", &self.rules)?;
        whole.serialize_entry("workload", &self.workload)?;
        whole.serialize_entry("requests", &Requests(self))?;
        whole.end()
    }
}

struct Requests<'a>(&'a Whole<'a>);

impl Serialize for Requests<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Whole {
            records, with_text, ..
        } = self.0;
        serializer.collect_seq(records.iter().map(|record| request(record, *with_text)))
    }
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
        "connect_ns": nanos(record.connect),
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
        "retry_after": record.retry_after,
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
pub(super) mod tests;
