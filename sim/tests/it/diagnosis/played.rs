//! A scenario as the studio would see it: records, a certificate, what the engine's page told.

use measure::certificate::{Certificate, ClientEvidence, certify};
use measure::evidence::{
    Amount, Buckets, Evidence, Look, Quantity, Reading, Readings, RoundTrip, Seen, Shared, Source, Value,
};
use measure::request::{Chunk, ChunkKind, Chunks, Outcome, RequestRecord, TokenSource};
use measure::summary::{Discipline, Failures, Summary, summarize};
use measure::units::Nanos;
use sim::config::{BLOCK_SIZE, Config};
use sim::rehearsal::{self, Rehearsal, Session, rehearse_after};
use sim::scenarios::Load;
use sim::stats::{Histogram, Stats};

/// What was seen of a played scenario.
pub struct Played {
    pub config: Config,
    pub records: Vec<RequestRecord>,
    pub client: ClientEvidence,
    pub seen: Seen,
    pub shared: Shared,
}

impl Played {
    /// Plays a load on an engine; what it shares was never asked before unless the load says so.
    pub fn of(config: Config, load: &Load, seed: u64) -> Self {
        let sessions = load.sessions(seed);
        let before = if load.warm { &sessions[..] } else { &[] };
        let every = Nanos::from_millis(1000);
        let played = rehearse_after(&config, before, &sessions, every);
        Self {
            records: records(&sessions, &played),
            client: quiet(),
            seen: Seen {
                engine: engine(&played),
                round_trips: [Some(near()), Some(near())],
                ..Seen::default()
            },
            shared: shared(&sessions),
            config,
        }
    }

    pub fn summary(&self) -> Summary {
        summarize(&self.records, Discipline::OpenLoop, Failures::AsInfinity)
    }

    pub fn certificate(&self) -> Certificate {
        certify(&self.records, self.client)
    }

    pub fn evidence(&self) -> Evidence {
        Evidence::of(&self.seen, &self.records, &[], Some(self.shared))
    }

    /// The same with the engine's page withheld.
    pub fn blind(mut self) -> Self {
        self.seen.engine = Look {
            absent: Some("the engine has no metrics page".to_owned()),
            ..Look::default()
        };
        self
    }
}

fn quiet() -> ClientEvidence {
    ClientEvidence {
        poll_lag_p99: Some(Nanos(80_000)),
        poll_lag_max: Some(Nanos(400_000)),
        clock_was_set: false,
        cpu_cores: Some(0.3),
        cores_available: Some(8),
    }
}

fn near() -> RoundTrip {
    RoundTrip {
        min: Nanos(40_000),
        median: Nanos(60_000),
        tries: 5,
    }
}

fn records(sessions: &[Session], played: &Rehearsal) -> Vec<RequestRecord> {
    let pairs = played.outcomes.iter().zip(&played.gaps);
    let mut records: Vec<RequestRecord> = pairs
        .map(|(outcome, gaps)| record(&sessions[outcome.session], outcome, gaps))
        .collect();
    records.sort_by_key(|it| it.scheduled);
    records
}

fn record(session: &Session, outcome: &rehearsal::Outcome, gaps: &[f64]) -> RequestRecord {
    let (ask, _) = &session.turns[outcome.turn];
    let mut at = outcome.first;
    let mut chunks = Chunks::with_capacity(gaps.len() + 1);
    let mut push = |at| {
        chunks.push(Chunk {
            at,
            at_kernel: None,
            kind: ChunkKind::Answer,
            tokens: None,
        });
    };
    push(at);
    for gap in gaps {
        at = at + Nanos(*gap as u64);
        push(at);
    }
    RequestRecord {
        request_id: format!("r{}", outcome.session),
        session: outcome.session as u32,
        turn: outcome.turn as u32,
        scheduled: outcome.arrived,
        sent: Some(outcome.arrived),
        headers: Some(outcome.first),
        chunks,
        finish: Some(at),
        end: Some(at),
        outcome: Outcome::Ok,
        error_detail: None,
        http_status: Some(200),
        retry_after: None,
        finish_reason: Some("length".to_owned()),
        prompt_tokens: Some(ask.prompt.len() as u32),
        cached_tokens: None,
        output_tokens: Some(outcome.tokens),
        token_source: TokenSource::Usage,
        input_tokens_planned: ask.prompt.len() as u32,
        output_tokens_asked: ask.max_tokens,
        connect: None,
        coalesced_reads: 0,
        warnings: Vec::new(),
        text: None,
        reasoning_text: None,
    }
}

fn shared(sessions: &[Session]) -> Shared {
    let mut seen = std::collections::HashSet::new();
    let mut shared = Shared {
        block: BLOCK_SIZE as u32,
        block_known: true,
        ..Shared::default()
    };
    for (ask, _) in sessions.iter().flat_map(|it| &it.turns) {
        let known = ask.hashes.iter().take_while(|it| seen.contains(*it)).count();
        // The last token of a prompt is always computed.
        let known = (known * BLOCK_SIZE).min(ask.prompt.len().saturating_sub(1) / BLOCK_SIZE * BLOCK_SIZE);
        shared.tokens += known as u64;
        shared.input_tokens += ask.prompt.len() as u64;
        seen.extend(ask.hashes.iter().copied());
    }
    shared.own_tokens = shared.tokens;
    shared
}

fn engine(played: &Rehearsal) -> Look {
    let mut readings: Vec<Reading> = played.samples.iter().map(|(at, stats)| reading(*at, stats)).collect();
    let last = played.outcomes.iter().map(|it| it.last).max().unwrap_or_default();
    readings.push(reading(last + Nanos::from_millis(1), &played.stats));
    Look {
        readings: Readings {
            sources: vec![Source {
                name: String::new(),
                ours: true,
            }],
            readings,
        },
        by: "the simulator".to_owned(),
        ..Look::default()
    }
}

fn reading(at: Nanos, stats: &Stats) -> Reading {
    let number = |quantity, number: f64| Value {
        quantity,
        source: 0,
        amount: Amount::Number(number),
    };
    let mut values = vec![
        number(Quantity::Running, stats.running as f64),
        number(Quantity::Waiting, stats.waiting as f64),
        number(Quantity::KvUsage, stats.kv_usage),
        number(Quantity::Preemptions, stats.counts.preemptions as f64),
        number(Quantity::Finished, stats.finished as f64),
        number(Quantity::PromptTokens, stats.prompt_tokens as f64),
        number(Quantity::OutputTokens, stats.generation_tokens as f64),
        number(Quantity::CacheQueries, stats.counts.cache_queries as f64),
        number(Quantity::CacheHits, stats.counts.cache_hits as f64),
    ];
    if 0 < stats.guesses.tokens {
        values.push(number(Quantity::DraftTokens, stats.guesses.tokens as f64));
        values.push(number(Quantity::AcceptedTokens, stats.guesses.accepted as f64));
    }
    let histograms = [
        (Quantity::QueueTime, &stats.queue),
        (Quantity::PrefillTime, &stats.prefill),
        (Quantity::Ttft, &stats.ttft),
        (Quantity::Itl, &stats.itl),
        (Quantity::E2e, &stats.e2e),
        (Quantity::IterationTokens, &stats.step_tokens),
    ];
    values.extend(histograms.into_iter().filter_map(|(quantity, histogram)| {
        Some(Value {
            quantity,
            source: 0,
            amount: Amount::Buckets(buckets(histogram)?),
        })
    }));
    Reading {
        at_ms: (at.0 / 1_000_000) as i64,
        values,
    }
}

fn buckets(histogram: &Histogram) -> Option<Buckets> {
    let bounds = histogram.bounds.iter().copied().chain([f64::INFINITY]);
    let mut up_to = 0.0;
    let cumulated = bounds.zip(&histogram.counts).map(|(bound, count)| {
        up_to += *count as f64;
        (bound, up_to)
    });
    Buckets::cumulative(cumulated.collect(), histogram.sum)
}
