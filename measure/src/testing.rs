//! Records and scores for tests, processes whose truth is known, and the table of how often judgement is right.

mod attained; // is what is kept by far called so
pub mod bars; // shares of studies against their bars
mod coverage; // do intervals keep their promise
pub mod processes; // independent, autoregressive, queues
pub mod rows; // lines of the table

use crate::request::{Chunk, ChunkKind, Chunks, ErrorKind, Outcome, RequestRecord, TokenSource};
use crate::sampling::Draws;
use crate::score::Score;
use crate::units::Nanos;

pub fn ms(millis: f64) -> Nanos {
    Nanos::from_secs_f64(millis / 1e3)
}

/// A request that was sent on time and has not been answered.
pub fn sent(session: u32, at_ms: f64) -> RequestRecord {
    RequestRecord {
        request_id: format!("r{session}"),
        session,
        turn: 0,
        scheduled: ms(at_ms),
        sent: Some(ms(at_ms)),
        headers: None,
        chunks: Chunks::default(),
        finish: None,
        end: None,
        outcome: Outcome::Error(ErrorKind::Cancelled),
        error_detail: None,
        http_status: None,
        retry_after: None,
        finish_reason: None,
        prompt_tokens: None,
        cached_tokens: None,
        output_tokens: None,
        token_source: TokenSource::None,
        input_tokens_planned: 10,
        output_tokens_asked: 10,
        connect: None,
        coalesced_reads: 0,
        warnings: Vec::new(),
        text: None,
        reasoning_text: None,
    }
}

/// A request that succeeded: answered after `ttft_ms`, then one token after each gap.
pub fn answered(session: u32, at_ms: f64, ttft_ms: f64, gaps_ms: &[f64]) -> RequestRecord {
    let mut at = ms(at_ms) + ms(ttft_ms);
    let chunk = |at| Chunk {
        at,
        at_kernel: None,
        kind: ChunkKind::Answer,
        tokens: None,
    };
    let mut chunks = Chunks::default();
    chunks.push(chunk(at));
    for gap in gaps_ms {
        at = at + ms(*gap);
        chunks.push(chunk(at));
    }
    RequestRecord {
        headers: Some(ms(at_ms)),
        output_tokens: Some(chunks.len() as u32),
        token_source: TokenSource::Usage,
        chunks,
        finish: Some(at),
        end: Some(at),
        outcome: Outcome::Ok,
        http_status: Some(200),
        finish_reason: Some("stop".to_owned()),
        ..sent(session, at_ms)
    }
}

/// A request that failed at once.
pub fn failed(session: u32, at_ms: f64, kind: ErrorKind) -> RequestRecord {
    RequestRecord {
        end: Some(ms(at_ms)),
        outcome: Outcome::Error(kind),
        ..sent(session, at_ms)
    }
}

/// The scores of records.
pub fn scores(records: &[RequestRecord]) -> Vec<Score> {
    records.iter().map(Score::from).collect()
}

/// A queue with `servers` servers, Poisson arrivals at `rate` per second and log-normal service around `service_ms`.
pub struct Queue {
    pub rate: f64,
    pub servers: usize,
    pub service_ms: f64,
    pub sigma: f64,
}

impl Queue {
    /// The first `n` requests. Each waits for a server, gets its first token a tenth into its service, and ten more.
    pub fn run(&self, n: usize, seed: u64) -> Vec<RequestRecord> {
        let mut draws = Draws::new(seed);
        let mut free = vec![0.0f64; self.servers];
        let mut now = 0.0;
        (0..n as u32)
            .map(|session| {
                now += draws.exponential(self.rate) * 1e3;
                let service = self.service_ms * (self.sigma * draws.normal()).exp();
                let server = (0..free.len())
                    .min_by(|a, b| free[*a].total_cmp(&free[*b]))
                    .expect("a server");
                let begins = free[server].max(now);
                free[server] = begins + service;
                answered(
                    session,
                    now,
                    begins - now + service * 0.1,
                    &[service * 0.09; 10],
                )
            })
            .collect()
    }
}
