//! Rehearses the goodput exercise in virtual time, to see which rates bracket the knees before anything is measured:
//! `cargo run --release -p sim --example capacity [SCALE [SECONDS MAX_REQUESTS]]`.
//!
//! SCALE multiplies the rates 0.5 to 32; without it the exercise's own rates are taken. There is no client, no network and no
//! operating system here: the real study shows a little more latency, never less.

use measure::arrival;
use measure::knobs::Knobs;
use measure::quantile::percentile_linear;
use measure::sampling::{Draws, derive};
use measure::score::Score;
use measure::slo::{Good, Slo};
use measure::study::{EngineSpec, PlannedPoint, StudySpec};
use measure::units::{Level, Nanos, Rate};
use measure::workload::TurnLengths;
use sim::Config;
use sim::engine::{Ask, prompt_hashes};
use sim::rehearsal::{Outcome, Session, rehearse};
use sim::tokens::{GENERATION_TOKENS, TEMPLATE_TOKENS_PER_MESSAGE, Token};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<f64>());
    let mut spec = StudySpec::goodput_exercise();
    if let Some(scale) = numbers.next().transpose()? {
        let rates = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
            .map(|rate| Rate::try_from(rate * scale).map(Level::Rate));
        spec.levels = rates
            .into_iter()
            .chain([Ok(Level::Inf)])
            .collect::<Result<_, _>>()?;
    }
    if let (Some(seconds), Some(most)) = (numbers.next().transpose()?, numbers.next().transpose()?)
    {
        (spec.length.seconds, spec.length.max_requests) = (seconds as u32, most as u32);
    }
    println!(
        "{}; {:.1} requests a session; {}",
        spec.workload,
        spec.workload.requests_per_session(),
        spec.slo
    );
    let mut total = 0.0;
    for point in spec.plan() {
        if point.level_index == 0 {
            println!(
                "\n{}\n   rate  requests  seconds   req/s   tok/s  TTFT p50     p95  TPOT p50    p95  attained  from cache",
                spec.configurations[point.configuration as usize].name
            );
        }
        total += rehearse_point(&spec, &point)?;
    }
    println!("\n{total:.0} s in all");
    Ok(())
}

/// Rehearses one point and prints its line; returns its seconds.
fn rehearse_point(
    spec: &StudySpec,
    point: &PlannedPoint,
) -> Result<f64, Box<dyn std::error::Error>> {
    let config = config(
        spec,
        &spec.configurations[point.configuration as usize].knobs,
    )?;
    let sessions = sessions(spec, point);
    let outcomes = rehearse(&config, &sessions);
    let values = |of: &dyn Fn(&Outcome) -> Option<Nanos>| {
        let mut values: Vec<f64> = outcomes
            .iter()
            .filter_map(of)
            .map(Nanos::as_millis_f64)
            .collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let (ttft, tpot) = (values(&|one| Some(one.ttft())), values(&Outcome::tpot));
    let seconds = outcomes
        .iter()
        .map(|one| one.last)
        .max()
        .unwrap_or_default()
        .as_secs_f64();
    let count = outcomes.len() as f64;
    let prompts: usize = sessions
        .iter()
        .flat_map(|session| &session.turns)
        .map(|(ask, _)| ask.prompt.len())
        .sum();
    println!(
        "{:>7}  {:8}  {seconds:7.1}  {:6.1}  {:6.0}  {:8.1}  {:6.0}  {:8.1}  {:5.1}  {:7.1}%  {:9.0}%",
        point.level.to_string(),
        outcomes.len(),
        count / seconds,
        outcomes
            .iter()
            .map(|one| f64::from(one.tokens))
            .sum::<f64>()
            / seconds,
        percentile_linear(&ttft, 50.0).unwrap_or(f64::NAN),
        percentile_linear(&ttft, 95.0).unwrap_or(f64::NAN),
        percentile_linear(&tpot, 50.0).unwrap_or(f64::NAN),
        percentile_linear(&tpot, 95.0).unwrap_or(f64::NAN),
        100.0
            * outcomes
                .iter()
                .filter(|one| is_good(one, &spec.slo))
                .count() as f64
            / count,
        100.0
            * outcomes
                .iter()
                .map(|one| f64::from(one.cached))
                .sum::<f64>()
            / prompts as f64,
    );
    Ok(seconds)
}

fn config(spec: &StudySpec, knobs: &Knobs) -> Result<Config, Box<dyn std::error::Error>> {
    match &spec.engine {
        EngineSpec::Simulator { preset } => Ok(Config::preset(preset, knobs)?),
        EngineSpec::Endpoint(_) | EngineSpec::Managed { .. } => {
            Err("only the simulator can be rehearsed".into())
        }
    }
}

fn is_good(outcome: &Outcome, slo: &Slo) -> bool {
    let score = Score {
        session: 0,
        turn: 0,
        scheduled: outcome.arrived,
        sent: Some(outcome.arrived),
        ttft: Some(outcome.ttft()),
        ttfa: Some(outcome.ttft()),
        e2e: Some(outcome.last.since(outcome.arrived)),
        tpot: outcome.tpot(),
        itl_p95: None,
        stall: None,
        n: Some(outcome.tokens),
        outcome: measure::request::Outcome::Ok,
    };
    slo.judge_request(&score) == Good::Yes
}

/// The point's sessions, with prompts of random tokens.
fn sessions(spec: &StudySpec, point: &PlannedPoint) -> Vec<Session> {
    let lengths = spec
        .workload
        .sessions(derive(point.seed.0, &[0]), 1, point.requests as usize)
        .unwrap_or_default();
    let starts = arrival::starts(
        spec.arrival,
        point.level,
        lengths.len(),
        derive(point.seed.0, &[1]),
    );
    let mut draws = Draws::new(derive(point.seed.0, &[2]));
    lengths
        .iter()
        .zip(starts)
        .map(|(turns, start)| session(turns, start, &mut draws))
        .collect()
}

fn session(turns: &[TurnLengths], start: Nanos, draws: &mut Draws) -> Session {
    let mut history: Vec<Token> = Vec::new();
    let mut words = |count: usize| -> Vec<Token> {
        (0..count).map(|_| draws.below(1 << 30) as Token).collect()
    };
    let turns = turns.iter().map(|turn| {
        history.extend(words(turn.user as usize + TEMPLATE_TOKENS_PER_MESSAGE));
        let header = words(GENERATION_TOKENS);
        let prompt = [&history[..], &header].concat();
        history.extend(header);
        history.extend(words(
            turn.answer as usize + TEMPLATE_TOKENS_PER_MESSAGE - GENERATION_TOKENS,
        ));
        let hashes = prompt_hashes(&prompt);
        (
            Ask {
                prompt,
                max_tokens: turn.answer,
                seed: 0,
                hashes,
            },
            turn.think,
        )
    });
    Session {
        start,
        turns: turns.collect(),
    }
}
