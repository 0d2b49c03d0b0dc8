//! The engine against closed forms.

use measure::knobs::{KnobValue, Knobs};
use measure::sampling::Draws;

use super::*;
use crate::cost::Work;
use crate::engine::prompt_hashes;

fn config(preset: &str, pairs: &[(&str, &str)]) -> Config {
    let knobs: Knobs = pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), KnobValue::from(*value)))
        .collect();
    Config::preset(preset, &knobs).unwrap()
}

/// A single request whose prompt no other `salt` begins like.
fn single(start: Nanos, salt: u32, prompt: u32, answer: u32) -> Session {
    let prompt: Vec<u32> = (0..prompt).map(|index| salt * 100_000 + index).collect();
    let hashes = prompt_hashes(&prompt);
    Session {
        start,
        turns: vec![(
            Ask {
                prompt,
                max_tokens: answer,
                seed: 0,
                hashes,
            },
            Nanos::ZERO,
        )],
    }
}

/// The time of steps made of these.
fn steps(config: &Config, works: impl IntoIterator<Item = Work>) -> Nanos {
    works
        .into_iter()
        .fold(Nanos::ZERO, |sum, work| sum + config.cost.step(&work))
}

fn prefill(before: u64, new: u64) -> Work {
    let mut work = Work::default();
    work.prefill(before, new);
    work
}

fn decodes(sequences: u64, context: u64) -> Work {
    let mut work = Work::default();
    (0..sequences).for_each(|_| work.decode(context));
    work
}

#[test]
fn alone_ttft_is_the_prefill_and_tpot_one_sequence() {
    let config = config("small-fast", &[]);
    let [only] = rehearse(&config, &[single(Nanos(5), 1, 300, 50)])[..] else {
        panic!("one outcome")
    };
    assert_eq!(only.ttft(), steps(&config, [prefill(0, 300)]));
    assert_eq!(
        only.last.since(only.first),
        steps(&config, (300..349).map(|context| decodes(1, context)))
    );
    assert_eq!(only.tokens, 50);
}

#[test]
fn chunks_add_steps_to_ttft() {
    let config = config("small-fast", &[("max-num-batched-tokens", "128")]);
    let [only] = rehearse(&config, &[single(Nanos::ZERO, 1, 300, 1)])[..] else {
        panic!("one outcome")
    };
    assert_eq!(
        only.ttft(),
        steps(
            &config,
            [prefill(0, 128), prefill(128, 128), prefill(256, 44)]
        )
    );
    assert_eq!(only.tpot(), None);
}

#[test]
fn one_sequence_at_a_time_serialises() {
    let config = config("small-fast", &[("max-num-seqs", "1")]);
    let outcomes = rehearse(
        &config,
        &[
            single(Nanos::ZERO, 1, 100, 10),
            single(Nanos::ZERO, 2, 100, 10),
        ],
    );
    assert_eq!(
        outcomes[1].first,
        outcomes[0].last + steps(&config, [prefill(0, 100)])
    );
}

#[test]
fn saturated_decodes_share_their_steps() {
    let config = config("llama-8b-h100", &[]);
    let sessions: Vec<Session> = (0..64)
        .map(|salt| single(Nanos::ZERO, salt, 16, 400))
        .collect();
    let outcomes = rehearse(&config, &sessions);
    let seconds = outcomes
        .iter()
        .map(|outcome| outcome.last)
        .max()
        .unwrap()
        .as_secs_f64();
    let closed_form = 64.0 / config.cost.step(&decodes(64, 216)).as_secs_f64();
    let rate = 64.0 * 400.0 / seconds;
    assert!(
        (rate / closed_form - 1.0).abs() < 0.05,
        "{rate} tokens/s, closed form {closed_form}"
    );
}

#[test]
fn tpot_rises_with_company() {
    let tpot = |sequences: u32| {
        let sessions: Vec<Session> = (0..sequences)
            .map(|salt| single(Nanos::ZERO, salt, 50, 50))
            .collect();
        rehearse(&config("small-fast", &[]), &sessions)
            .iter()
            .filter_map(Outcome::tpot)
            .max()
            .unwrap()
    };
    assert!(tpot(1) < tpot(8) && tpot(8) < tpot(32) && tpot(32) < tpot(64));
}

#[test]
fn a_prefill_delays_the_decodes_beside_it() {
    let config = config("small-fast", &[]);
    let alone = rehearse(&config, &[single(Nanos::ZERO, 1, 50, 50)])[0]
        .tpot()
        .unwrap();
    let late = single(Nanos::from_millis(50), 2, 2000, 1);
    let outcomes = rehearse(&config, &[single(Nanos::ZERO, 1, 50, 50), late]);
    let beside = outcomes
        .iter()
        .find(|outcome| outcome.session == 0)
        .unwrap()
        .tpot()
        .unwrap();
    assert!(
        alone.0 * 3 / 2 < beside.0,
        "{alone} alone, {beside} beside a prefill"
    );
}

#[test]
fn a_later_turn_finds_the_one_before() {
    let turns = |caching| {
        let config = config("small-fast", &[("enable-prefix-caching", caching)]);
        let mut first = single(Nanos::ZERO, 1, 320, 5);
        let mut second = single(Nanos::ZERO, 1, 400, 5).turns.remove(0);
        second.1 = Nanos::from_millis(100);
        first.turns.push(second);
        rehearse(&config, &[first])
    };
    let (cold, warm) = (turns("off"), turns("on"));
    assert_eq!(cold[0].ttft(), warm[0].ttft());
    assert_eq!((cold[1].cached, warm[1].cached), (0, 320));
    assert!(warm[1].ttft().0 * 2 < cold[1].ttft().0);
    assert_eq!(warm[1].arrived, warm[0].last + Nanos::from_millis(100));
}

#[test]
fn one_server_with_poisson_arrivals_waits_as_the_textbook_says() {
    // M/D/1: mean wait = rho * service / (2 * (1 - rho)).
    let config = config("tiny", &[("max-num-seqs", "1")]);
    let service = rehearse(&config, &[single(Nanos::ZERO, 1, 32, 4)])[0]
        .last
        .as_secs_f64();
    let (load, mut draws, mut at) = (0.7, Draws::new(5), 0.0);
    let sessions: Vec<Session> = (0..30_000)
        .map(|_| {
            at += draws.exponential(load / service);
            single(Nanos::from_secs_f64(at), 1, 32, 4)
        })
        .collect();
    let waits = rehearse(&config, &sessions)
        .iter()
        .map(|one| one.last.since(one.arrived).as_secs_f64() - service)
        .sum::<f64>();
    let (mean, textbook) = (waits / 30_000.0, load * service / (2.0 * (1.0 - load)));
    assert!(
        (mean / textbook - 1.0).abs() < 0.05,
        "mean wait {mean}, textbook {textbook}"
    );
}
