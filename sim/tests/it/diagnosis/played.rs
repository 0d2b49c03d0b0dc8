//! A scenario as the studio would see it: records, a certificate, what the engine's page told.

use measure::certificate::{Certificate, ClientEvidence, certify};
use measure::diagnose::{Case, Diagnosis, Theory, diagnose};
use measure::evidence::{
    Amount, Buckets, Evidence, Look, Quantity, Reading, Readings, Seen, Shared, Source, Value,
};
use measure::request::{Chunk, ChunkKind, Chunks, Outcome, RequestRecord, TokenSource};
use measure::sampling::{Draws, derive};
use measure::summary::{Discipline, Failures, Summary, summarize};
use measure::units::Nanos;
use sim::config::{BLOCK_SIZE, Config};
use sim::rehearsal::{self, Rehearsal, Session, rehearse_after};
use sim::scenarios::Load;
use sim::stats::{Histogram, Stats};

use super::world::World;

/// What was seen of a played scenario.
pub struct Played {
    pub records: Vec<RequestRecord>,
    pub seen: Seen,
    client: ClientEvidence,
    shared: Shared,
    theory: Option<Theory>,
    slots: u32,
}

impl Played {
    /// Plays a load on an engine, seen through a world.
    pub fn of(config: &Config, load: &Load, world: &World, seed: u64) -> Self {
        let due = load.sessions(seed);
        let mut sessions = due.clone();
        for session in &mut sessions {
            session.start = world.awake(session.start) + world.way();
        }
        let before = if load.warm { &sessions[..] } else { &[] };
        let played = rehearse_after(config, before, &sessions, Nanos::from_millis(1000));
        let trip = Some(world.round_trip());
        Self {
            records: records(&due, &played, world, seed),
            client: client(world),
            seen: Seen {
                engine: engine(&played),
                round_trips: [trip, trip],
                ..Seen::default()
            },
            shared: shared(&sessions),
            theory: Some(theory(config, seed)),
            slots: config.max_num_seqs,
        }
    }

    /// The same with the engine's page withheld.
    pub fn without_page(mut self) -> Self {
        self.seen.engine = Look {
            absent: Some("the engine has no metrics page".to_owned()),
            ..Look::default()
        };
        self
    }

    /// The same where nobody says what the hardware allows.
    pub fn without_theory(mut self) -> Self {
        self.theory = None;
        self
    }

    pub fn summary(&self) -> Summary {
        summarize(&self.records, Discipline::OpenLoop, Failures::AsInfinity)
    }

    pub fn certificate(&self) -> Certificate {
        certify(&self.records, self.client)
    }

    pub fn diagnosis(&self) -> Diagnosis {
        self.diagnosed(self.theory)
    }

    /// Where the hardware is said to allow so much.
    pub fn diagnosed(&self, theory: Option<Theory>) -> Diagnosis {
        let (summary, client) = (self.summary(), self.certificate());
        let evidence = Evidence::of(&self.seen, &self.records, &[], Some(self.shared));
        let client = client.with(evidence.findings());
        diagnose(Case {
            records: &self.records,
            summary: &summary,
            client: &client,
            evidence: Some(&evidence),
            theory,
            made: &[],
            slots: Some(self.slots),
        })
    }
}

/// What the hardware allows, as roughly as anybody would state it: within 3 %.
fn theory(config: &Config, seed: u64) -> Theory {
    let mut draws = Draws::new(derive(seed, &[19]));
    let mut about =
        |it: Nanos| Nanos((it.0 as f64 * (0.97 + 0.06 * draws.uniform())).round() as u64);
    let theory = config.cost.theory();
    Theory {
        step: about(theory.step),
        sequence: about(theory.sequence),
        cached_token: about(theory.cached_token),
        prompt_token: about(theory.prompt_token),
    }
}

fn client(world: &World) -> ClientEvidence {
    let (p99, max) = world.poll_lag();
    ClientEvidence {
        poll_lag_p99: Some(p99),
        poll_lag_max: Some(max),
        clock_was_set: false,
        cpu_cores: Some(0.3),
        cores_available: Some(8),
    }
}

fn records(due: &[Session], played: &Rehearsal, world: &World, seed: u64) -> Vec<RequestRecord> {
    let pairs = played.outcomes.iter().zip(&played.gaps);
    let mut draws = Draws::new(derive(seed, &[20]));
    let mut records: Vec<RequestRecord> = pairs
        .map(|(outcome, gaps)| {
            let left = std::iter::once(&0.0)
                .chain(gaps)
                .scan(outcome.first, |at, gap| {
                    *at = *at + Nanos(*gap as u64);
                    Some(*at)
                });
            let mut last = Nanos::ZERO;
            let arrived = left.map(|at| {
                // Messages of one connection do not overtake each other.
                last = last.max(world.awake(at + world.way() + world.jitter(&mut draws)));
                last
            });
            record(
                &due[outcome.session],
                outcome,
                &arrived.collect::<Vec<_>>(),
                world,
            )
        })
        .collect();
    records.sort_by_key(|it| it.scheduled);
    records
}

fn record(
    session: &Session,
    outcome: &rehearsal::Outcome,
    events: &[Nanos],
    world: &World,
) -> RequestRecord {
    let (ask, _) = &session.turns[outcome.turn];
    let mut chunks = Chunks::with_capacity(events.len());
    for at in events {
        chunks.push(Chunk {
            at: *at,
            at_kernel: None,
            kind: ChunkKind::Answer,
            tokens: None,
        });
    }
    let end = events.last().copied();
    RequestRecord {
        request_id: format!("r{}", outcome.session),
        session: outcome.session as u32,
        turn: outcome.turn as u32,
        scheduled: session.start,
        sent: Some(world.awake(session.start)),
        headers: events.first().copied(),
        chunks,
        finish: end,
        end,
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
        let known = ask
            .hashes
            .iter()
            .take_while(|it| seen.contains(*it))
            .count();
        // The last token of a prompt is always computed.
        let known =
            (known * BLOCK_SIZE).min(ask.prompt.len().saturating_sub(1) / BLOCK_SIZE * BLOCK_SIZE);
        shared.tokens += known as u64;
        shared.input_tokens += ask.prompt.len() as u64;
        seen.extend(ask.hashes.iter().copied());
    }
    shared.own_tokens = shared.tokens;
    shared
}

fn engine(played: &Rehearsal) -> Look {
    let mut readings: Vec<Reading> = played
        .samples
        .iter()
        .map(|(at, stats)| reading(*at, stats))
        .collect();
    let last = played
        .outcomes
        .iter()
        .map(|it| it.last)
        .max()
        .unwrap_or_default();
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
        values.push(number(
            Quantity::AcceptedTokens,
            stats.guesses.accepted as f64,
        ));
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
