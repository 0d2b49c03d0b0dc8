//! What the server's log says: the figures that a client should have reported.

use super::measured::Percentiles;
use anyhow::Context;
use serde::Deserialize;
use std::path::Path;

/// One request, as the server saw it. Times are CLOCK_MONOTONIC in nanoseconds.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Request {
    pub seq: u64,
    pub client_id: String,
    pub status: u16,
    pub fault: Option<String>,
    pub disconnected: bool,
    pub head_rx_ns: u64,
    pub rx_ns: u64,
    pub first_ns: u64,
    pub last_ns: u64,
    pub end_ns: u64,
    pub late_max_ns: u64,
    pub max_tokens: u32,
    pub sent_tokens: u32,
    pub tok_ns: Vec<u64>,
}

impl Request {
    /// Whether a client that says it went well is right.
    pub fn is_whole(&self) -> bool {
        self.status == 200
            && self.fault.is_none()
            && !self.disconnected
            && self.sent_tokens == self.max_tokens
    }
}

/// All requests, in the order in which they were read.
pub fn read(log: &Path) -> anyhow::Result<Vec<Request>> {
    let text = std::fs::read_to_string(log)
        .with_context(|| format!("cannot read the truth in {}", log.display()))?;
    let requests: Result<Vec<Request>, _> = text.lines().map(serde_json::from_str).collect();
    let mut requests = requests.context("the truth server's log is no log")?;
    requests.sort_by_key(|request| request.seq);
    Ok(requests)
}

/// The true figures of a run.
pub struct Figures {
    pub ttft: Percentiles,
    pub tpot: Percentiles,
    pub itl: Percentiles,
    pub e2e: Percentiles,
    pub events: u64,
    /// The worst lag of a write behind its deadline, p99 over requests: the server's own error, in milliseconds.
    pub late_p99: f64,
    /// From the first request to the last token.
    pub from_ns: u64,
    pub to_ns: u64,
}

/// Figures of the requests that went well.
pub fn figures(requests: &[Request]) -> Figures {
    let whole = || requests.iter().filter(|request| request.is_whole());
    let ms = |later: u64, sooner: u64| later.saturating_sub(sooner) as f64 / 1e6;
    let several = whole().filter(|request| 1 < request.sent_tokens);
    let tpot = several
        .map(|request| ms(request.last_ns, request.first_ns) / f64::from(request.sent_tokens - 1));
    let gaps = whole().flat_map(|request| {
        request
            .tok_ns
            .windows(2)
            .map(move |pair| ms(pair[1], pair[0]))
    });
    let late = Percentiles::of(whole().map(|request| ms(request.late_max_ns, 0)).collect());
    Figures {
        ttft: Percentiles::of(
            whole()
                .map(|request| ms(request.first_ns, request.rx_ns))
                .collect(),
        ),
        tpot: Percentiles::of(tpot.collect()),
        itl: Percentiles::of(gaps.collect()),
        e2e: Percentiles::of(
            whole()
                .map(|request| ms(request.last_ns, request.rx_ns))
                .collect(),
        ),
        events: whole().map(|request| u64::from(request.sent_tokens)).sum(),
        late_p99: late.p99,
        from_ns: requests
            .iter()
            .map(|request| request.rx_ns)
            .min()
            .unwrap_or_default(),
        to_ns: requests
            .iter()
            .map(|request| request.last_ns)
            .max()
            .unwrap_or_default(),
    }
}
