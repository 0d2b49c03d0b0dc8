//! Times follow from prices, turn by turn.

use measure::knobs::{KnobValue, Knobs};

use super::*;
use crate::cost::Work;
use crate::engine::prompt_hashes;

mod closed_forms;

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
fn samples_show_the_step_they_fall_into() {
    let config = config("small-fast", &[]);
    let later = single(Nanos::from_millis(700), 2, 50, 10);
    let sessions = [single(Nanos::ZERO, 1, 50, 50), later];
    let every = Nanos::from_millis(100);
    let rehearsal = rehearse_after(&config, &[], &sessions, every);
    let running: Vec<u64> = rehearsal.samples.iter().map(|it| it.1.running).collect();
    // 50 tokens take 225 ms; then nothing until 700 ms.
    assert_eq!(running, [1, 1, 1, 0, 0, 0, 0, 1]);
    let last = &rehearsal.stats;
    assert_eq!((last.running, last.finished), (0, 2));
    assert_eq!(last.generation_tokens, 60);
}

#[test]
fn a_prelude_leaves_only_the_cache() {
    let config = config("small-fast", &[("enable-prefix-caching", "on")]);
    let sessions = [single(Nanos::ZERO, 1, 50, 10)];
    let rehearsal = rehearse_after(&config, &sessions, &sessions, Nanos(u64::MAX));
    assert_eq!(rehearsal.outcomes[0].cached, 48);
    let counts = rehearsal.stats.counts;
    assert_eq!((counts.cache_queries, counts.cache_hits), (50, 48));
    assert_eq!(rehearsal.stats.finished, 1);
}

#[test]
fn the_longest_gap_is_the_stall() {
    let config = config("small-fast", &[]);
    let late = single(Nanos::from_millis(50), 2, 2000, 1);
    let outcomes = rehearse(&config, &[single(Nanos::ZERO, 1, 50, 50), late]);
    let beside = outcomes.iter().find(|it| it.session == 0).unwrap();
    let (stall, p95) = (beside.stall.unwrap(), beside.itl_p95.unwrap());
    assert!(Nanos::from_millis(150) < stall, "{stall}");
    assert!(p95 < Nanos::from_millis(6), "{p95}");
    let single = outcomes.iter().find(|it| it.session == 1).unwrap();
    assert_eq!((single.stall, single.itl_p95), (None, None));
}
