//! What clients say: their result files, as figures in milliseconds.

use super::Client;
use crate::bench::measured::Percentiles;
use anyhow::Context;
use serde_json::Value;
use std::path::Path;

/// A client's own word.
#[derive(Debug, Default)]
pub struct Said {
    pub ttft: Option<Percentiles>,
    pub tpot: Option<Percentiles>,
    pub itl: Option<Percentiles>,
    pub e2e: Option<Percentiles>,
    pub certificate: Option<String>,
    pub reasons: Vec<String>,
    /// Where it says what became of each.
    pub requests: Vec<SaidRequest>,
}

/// One request, by the client's word.
#[derive(Debug, Default)]
pub struct SaidRequest {
    pub id: String,
    pub scheduled_ns: u64,
    pub sent_ns: Option<u64>,
    pub ok: bool,
    pub kind: Option<String>,
    pub events: u64,
}

/// Reads a result file.
pub fn read(client: Client, out: &Path) -> anyhow::Result<Said> {
    let text = std::fs::read_to_string(out)
        .with_context(|| format!("{} wrote no result", client.name()))?;
    // Some append a line for each run.
    let text = if client.is_peer() {
        text.lines().last().unwrap_or_default()
    } else {
        &text
    };
    let json: Value = serde_json::from_str(text)
        .with_context(|| format!("the result of {} is no JSON", client.name()))?;
    Ok(match client {
        Client::Goodput => goodput(&json),
        Client::Floor => floor(&json),
        Client::SglangBench | Client::Vllm => peer(&json),
    })
}

fn goodput(json: &Value) -> Said {
    let summary = &json["summary"];
    let of = |name: &str| {
        let metric = &summary[name];
        let ms = |p: &str| metric[p].as_f64().map(|ns| ns / 1e6);
        Some(Percentiles {
            n: metric["count"].as_u64()? as usize,
            p50: ms("p50_ns")?,
            p95: ms("p95_ns")?,
            p99: ms("p99_ns")?,
        })
    };
    let requests = json["requests"].as_array().into_iter().flatten();
    let reasons = summary["certificate"]["reasons"].as_array().into_iter();
    Said {
        ttft: of("ttft"),
        tpot: of("tpot"),
        itl: of("itl"),
        e2e: of("e2e"),
        certificate: text(&summary["certificate"]["innocence"]),
        reasons: reasons.flatten().filter_map(text).collect(),
        requests: requests
            .map(|request| SaidRequest {
                id: text(&request["request_id"]).unwrap_or_default(),
                scheduled_ns: request["scheduled_ns"].as_u64().unwrap_or_default(),
                sent_ns: request["sent_ns"].as_u64(),
                ok: request["outcome"] == "ok",
                kind: text(&request["error_kind"]),
                events: request["chunk_count"].as_u64().unwrap_or_default(),
            })
            .collect(),
    }
}

fn floor(json: &Value) -> Said {
    let of = |name: &str| serde_json::from_value(json[name].clone()).ok();
    let stamps = |name: &str| {
        let stamps = json[name].as_array().into_iter().flatten();
        stamps.filter_map(Value::as_u64).collect::<Vec<_>>()
    };
    let (scheduled, sent) = (stamps("scheduled_ns"), stamps("sent_ns"));
    let requests = scheduled.into_iter().zip(sent).enumerate();
    Said {
        ttft: of("ttft_ms"),
        tpot: of("tpot_ms"),
        itl: of("itl_ms"),
        e2e: of("e2e_ms"),
        requests: requests
            .map(|(number, (scheduled_ns, sent))| SaidRequest {
                id: format!("floor-{number}"),
                scheduled_ns,
                sent_ns: Some(sent),
                ok: true,
                ..SaidRequest::default()
            })
            .collect(),
        ..Said::default()
    }
}

/// `p50_ttft_ms` or `median_ttft_ms`, as vLLM and SGLang name them.
fn peer(json: &Value) -> Said {
    let of = |name: &str| {
        let at = |p: &str| json[format!("{p}_{name}_ms")].as_f64();
        Some(Percentiles {
            n: json["completed"].as_u64()? as usize,
            p50: at("p50").or_else(|| at("median"))?,
            p95: at("p95").unwrap_or(f64::NAN),
            p99: at("p99")?,
        })
    };
    Said {
        ttft: of("ttft"),
        tpot: of("tpot"),
        itl: of("itl"),
        e2e: of("e2el").or_else(|| of("e2e_latency")),
        ..Said::default()
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}
