//! The engine holds what it promises, whatever happens to it.

use proptest::prelude::*;

use super::*;
use crate::config::{BLOCK_SIZE, Config};
use crate::tokens::Token;
use measure::knobs::{KnobValue, Knobs};

/// A tiny engine with these knobs and so many blocks.
fn config(blocks: u32, pairs: &[(&str, &str)]) -> Config {
    let knobs: Knobs = pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), KnobValue::from(*value)))
        .collect();
    Config {
        kv_blocks: blocks,
        ..Config::preset("tiny", &knobs).unwrap()
    }
}

fn ask(prompt: Vec<Token>, max_tokens: u32) -> Ask {
    let hashes = prompt_hashes(&prompt);
    Ask {
        prompt,
        max_tokens,
        seed: 1,
        hashes,
    }
}

/// A prompt of `len` tokens that no prompt with another `salt` begins like.
fn prompt(salt: u32, len: usize) -> Vec<Token> {
    (0..len as u32)
        .map(|index| salt * 100_000 + index)
        .collect()
}

/// Steps until idle, at most 10,000; each step is shown to `watch`.
fn run(engine: &mut Engine, mut watch: impl FnMut(&Engine, &StepResult)) -> Vec<Emitted> {
    let (mut now, mut emitted) = (Nanos::ZERO, Vec::new());
    for _ in 0..10_000 {
        if engine.is_idle() {
            return emitted;
        }
        let step = engine.step(now);
        now = step.ends;
        watch(engine, &step);
        emitted.extend_from_slice(&step.emitted);
    }
    panic!("not idle after 10,000 steps");
}

#[test]
fn a_sequence_gets_each_of_its_tokens_once() {
    let mut engine = Engine::new(&config(100, &[]));
    let id = engine.add(ask(prompt(1, 40), 5), Nanos::ZERO);
    let emitted = run(&mut engine, |_, _| ());
    let expected: Vec<Emitted> = (0..5)
        .map(|index| Emitted {
            id,
            index,
            count: 1,
            finished: index == 4,
            cached: 0,
        })
        .collect();
    assert_eq!(emitted, expected);
}

#[test]
fn a_long_prompt_is_cut_into_chunks_of_the_budget() {
    let mut engine = Engine::new(&config(200, &[("max-num-batched-tokens", "64")]));
    engine.add(ask(prompt(1, 150), 1), Nanos::ZERO);
    let mut steps = Vec::new();
    run(&mut engine, |_, step| steps.push(step.tokens));
    assert_eq!(steps, [64, 64, 22]);
}

#[test]
fn decodes_go_before_prefill() {
    let mut engine = Engine::new(&config(200, &[("max-num-batched-tokens", "64")]));
    engine.add(ask(prompt(1, 10), 4), Nanos::ZERO);
    engine.step(Nanos::ZERO);
    engine.add(ask(prompt(2, 200), 1), Nanos::ZERO);
    let step = engine.step(Nanos(1));
    assert_eq!(
        (step.tokens, step.work.prefill_tokens, step.emitted.len()),
        (64, 63, 1)
    );
}

#[test]
fn without_chunks_a_prompt_waits_for_a_step_that_holds_it_whole() {
    let mut engine = Engine::new(&config(1000, &[("enable-chunked-prefill", "off")]));
    engine.add(ask(prompt(1, 5000), 1), Nanos::ZERO);
    engine.add(ask(prompt(2, 5000), 1), Nanos::ZERO);
    let mut steps = Vec::new();
    run(&mut engine, |_, step| steps.push(step.tokens));
    assert_eq!(steps, [5000, 5000]);
}

#[test]
fn no_more_sequences_run_than_the_knob_allows() {
    let mut engine = Engine::new(&config(200, &[("max-num-seqs", "3")]));
    (0..10).for_each(|salt| _ = engine.add(ask(prompt(salt, 5), 4), Nanos::ZERO));
    let mut most = 0;
    run(&mut engine, |_, step| most = most.max(step.work.sequences));
    assert_eq!(most, 3);
}

#[test]
fn short_of_blocks_the_last_to_start_is_computed_anew() {
    // Two sequences of 60 + 60 tokens need 16 blocks; there are 10.
    let mut engine = Engine::new(&config(10, &[]));
    engine.add(ask(prompt(1, 60), 60), Nanos::ZERO);
    engine.add(ask(prompt(2, 60), 60), Nanos::ZERO);
    let emitted = run(&mut engine, |_, _| ());
    assert_eq!(engine.stats().counts.preemptions, 1);
    assert_eq!(emitted.len(), 120);
    assert_eq!(
        emitted
            .iter()
            .filter(|token| token.finished)
            .map(|token| token.id.0)
            .collect::<Vec<_>>(),
        [0, 1]
    );
}

#[test]
fn a_repeated_prompt_is_found_in_full_blocks_but_never_whole() {
    let mut engine = Engine::new(&config(100, &[("enable-prefix-caching", "on")]));
    engine.add(ask(prompt(1, 64), 1), Nanos::ZERO);
    run(&mut engine, |_, _| ());
    engine.add(ask(prompt(1, 64), 1), Nanos::ZERO);
    let emitted = run(&mut engine, |_, _| ());
    assert_eq!(emitted[0].cached, 48);
    assert_eq!(
        (
            engine.stats().counts.cache_queries,
            engine.stats().counts.cache_hits
        ),
        (128, 48)
    );
}

#[test]
fn an_answer_is_found_when_it_comes_back_as_history() {
    let mut engine = Engine::new(&config(100, &[("enable-prefix-caching", "on")]));
    let mut history = prompt(1, 20);
    engine.add(ask(history.clone(), 30), Nanos::ZERO);
    run(&mut engine, |_, _| ());
    history.extend((0..30).map(|index| crate::tokens::answer_token(1, index)));
    history.extend(prompt(2, 20));
    engine.add(ask(history, 1), Nanos::ZERO);
    // 20 + 30 tokens, of which the last one's KV was never computed: three full blocks.
    assert_eq!(run(&mut engine, |_, _| ())[0].cached, 48);
}

#[test]
fn a_reset_forgets_prefixes() {
    let mut engine = Engine::new(&config(100, &[("enable-prefix-caching", "on")]));
    for expected in [0, 0] {
        engine.add(ask(prompt(1, 64), 1), Nanos::ZERO);
        assert_eq!(run(&mut engine, |_, _| ())[0].cached, expected);
        engine.reset_prefix_cache();
    }
}

#[test]
fn without_the_knob_nothing_is_found() {
    let mut engine = Engine::new(&config(100, &[]));
    for _ in 0..2 {
        engine.add(ask(prompt(1, 64), 1), Nanos::ZERO);
        assert_eq!(run(&mut engine, |_, _| ())[0].cached, 0);
    }
    assert_eq!(engine.stats().counts.cache_queries, 0);
}

/// Events and tokens of a sequence of 60, with so many guesses at this acceptance.
#[track_caller]
fn check_guesses(drafts: &str, rate: &str, events: usize) {
    let pairs = [
        ("num-speculative-tokens", drafts),
        ("synthetic-acceptance-rate", rate),
    ];
    let mut engine = Engine::new(&config(100, &pairs));
    engine.add(ask(prompt(1, 40), 60), Nanos::ZERO);
    let emitted = run(&mut engine, |_, _| ());
    assert_eq!(emitted.len(), events);
    let tokens: u32 = emitted.iter().map(|token| token.count).sum();
    assert_eq!(tokens, 60, "a guess that is right is a token of the answer");
}

#[test]
fn guesses_that_are_right_save_steps() {
    check_guesses("0", "1", 60);
    check_guesses("3", "0", 60);
    // One token from the prompt, then four a step; the last three need no more than that.
    check_guesses("3", "1", 1 + 15);
    // 1 + 0.5 + 0.25 + 0.125 tokens a step on average: 31 or 32 steps.
    check_guesses("3", "0.5", 31);
}

#[test]
fn guesses_count_against_the_budget() {
    let pairs = [
        ("num-speculative-tokens", "15"),
        ("max-num-batched-tokens", "16"),
    ];
    let mut engine = Engine::new(&config(100, &pairs));
    engine.add(ask(prompt(1, 4), 60), Nanos::ZERO);
    engine.add(ask(prompt(2, 4), 60), Nanos::ZERO);
    engine.step(Nanos::ZERO);
    let step = engine.step(Nanos(1));
    assert_eq!((step.tokens, step.work.sequences), (16, 1));
}

#[test]
fn a_long_prompt_leaves_room_for_others_but_alone_it_takes_all() {
    let pairs = [("long-prefill-token-threshold", "32")];
    let mut engine = Engine::new(&config(200, &pairs));
    engine.add(ask(prompt(1, 150), 1), Nanos::ZERO);
    engine.add(ask(prompt(2, 150), 1), Nanos::ZERO);
    engine.add(ask(prompt(3, 10), 1), Nanos::ZERO);
    assert_eq!(engine.step(Nanos::ZERO).tokens, 32 + 32 + 10);
    let mut engine = Engine::new(&config(200, &pairs));
    engine.add(ask(prompt(1, 150), 1), Nanos::ZERO);
    assert_eq!(engine.step(Nanos::ZERO).tokens, 150);
}

#[test]
fn whoever_leaves_frees_blocks_and_place() {
    let mut engine = Engine::new(&config(100, &[("max-num-seqs", "1")]));
    let ids: HashSet<SequenceId> = (0..3)
        .map(|salt| engine.add(ask(prompt(salt, 50), 50), Nanos::ZERO))
        .collect();
    engine.step(Nanos::ZERO);
    assert_eq!((engine.stats().running, engine.stats().waiting), (1, 2));
    engine.abort(&ids);
    assert!(engine.is_idle());
    assert_eq!(engine.kv_blocks(), (100, 100));
    assert_eq!(engine.stats().aborted, 3);
}

/// One thing that happens to an engine.
#[derive(Clone, Debug)]
enum Happening {
    Ask {
        salt: u32,
        prompt: usize,
        answer: u32,
    },
    Abort(u64),
    Step,
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let one = prop_oneof![
        2 => (0..4u32, 1..300usize, 1..80u32).prop_map(|(salt, prompt, answer)| Happening::Ask { salt, prompt, answer }),
        1 => (0..40u64).prop_map(Happening::Abort),
        4 => Just(Happening::Step),
    ];
    prop::collection::vec(one, 1..80)
}

fn knobs() -> impl Strategy<Value = Config> {
    let switches = (any::<bool>(), any::<bool>());
    (switches, 1..9u32, 16..200u32, 24..80u32, 0..5u32, 0..60u32).prop_map(
        |((caching, chunked), seqs, tokens, blocks, drafts, threshold)| Config {
            enable_prefix_caching: caching,
            enable_chunked_prefill: chunked,
            max_num_seqs: seqs,
            max_num_batched_tokens: if chunked { tokens } else { 400 },
            num_speculative_tokens: drafts,
            long_prefill_token_threshold: threshold,
            ..config(blocks, &[])
        },
    )
}

/// What must hold after every step.
fn check_step(engine: &Engine, step: &StepResult, config: &Config) {
    assert!(step.tokens <= config.max_num_batched_tokens as usize);
    assert!(step.work.sequences <= u64::from(config.max_num_seqs));
    assert!(
        0 < step.tokens,
        "a step that does nothing would go on for ever"
    );
    let scheduler = &engine.scheduler;
    let mut owned: Vec<u32> = scheduler
        .running
        .iter()
        .flat_map(|sequence| sequence.blocks.iter().copied())
        .collect();
    for sequence in &scheduler.running {
        let ahead = sequence.computed + config.num_speculative_tokens as usize;
        let needed = sequence.computed.div_ceil(BLOCK_SIZE)..=ahead.div_ceil(BLOCK_SIZE);
        assert!(
            needed.contains(&sequence.blocks.len()),
            "the blocks its tokens need, and no more than for its guesses"
        );
    }
    assert!(
        scheduler
            .waiting
            .iter()
            .all(|sequence| sequence.blocks.is_empty())
    );
    let all = owned.len();
    owned.sort_unstable();
    owned.dedup();
    assert!(
        config.enable_prefix_caching || owned.len() == all,
        "blocks are only shared through the cache"
    );
    assert_eq!(owned.len() + scheduler.kv.free(), scheduler.kv.total());
}

/// Plays what happens, then steps until idle. Returns the tokens of every sequence and the answer lengths asked.
fn play(
    config: &Config,
    happenings: &[Happening],
) -> (Vec<Emitted>, Vec<u32>, HashSet<SequenceId>) {
    let (mut engine, mut now) = (Engine::new(config), Nanos::ZERO);
    let (mut emitted, mut asked, mut gone) = (Vec::new(), Vec::new(), HashSet::new());
    for happening in happenings {
        match happening {
            Happening::Ask {
                salt,
                prompt: len,
                answer,
            } => {
                engine.add(ask(prompt(*salt, *len), *answer), now);
                asked.push(*answer);
            }
            Happening::Abort(id) if *id < asked.len() as u64 => {
                let finished = emitted
                    .iter()
                    .any(|token: &Emitted| token.id.0 == *id && token.finished);
                engine.abort(&HashSet::from([SequenceId(*id)]));
                if !finished {
                    gone.insert(SequenceId(*id));
                }
            }
            Happening::Abort(_) => (),
            Happening::Step if engine.is_idle() => now = now + Nanos(1000),
            Happening::Step => {
                let step = engine.step(now);
                check_step(&engine, &step, config);
                now = step.ends;
                emitted.extend(step.emitted);
            }
        }
    }
    emitted.extend(run(&mut engine, |engine, step| {
        check_step(engine, step, config)
    }));
    assert_eq!(
        engine.kv_blocks().0,
        engine.kv_blocks().1,
        "all blocks return"
    );
    (emitted, asked, gone)
}

proptest! {
    #[test]
    fn no_sequence_is_lost_and_no_token_doubled(config in knobs(), happenings in happenings()) {
        let (emitted, asked, gone) = play(&config, &happenings);
        for (id, length) in asked.iter().enumerate() {
            let id = SequenceId(id as u64);
            let mine: Vec<&Emitted> = emitted.iter().filter(|token| token.id == id).collect();
            let indices: Vec<u32> = mine.iter().flat_map(|token| token.index..token.index + token.count).collect();
            prop_assert_eq!(&indices, &(0..indices.len() as u32).collect::<Vec<_>>());
            if gone.contains(&id) {
                prop_assert!(indices.len() < *length as usize);
            } else {
                prop_assert_eq!(indices.len() as u32, *length);
                prop_assert!(mine.last().is_some_and(|token| token.finished));
            }
        }
    }

    #[test]
    fn the_same_asks_give_the_same_steps(config in knobs(), happenings in happenings()) {
        prop_assert_eq!(play(&config, &happenings), play(&config, &happenings));
    }

    #[test]
    fn first_tokens_come_in_the_order_of_arrival(
        prompts in prop::collection::vec(1..200usize, 1..30), chunked in any::<bool>(), seqs in 1..9u32,
    ) {
        let roomy = Config { enable_chunked_prefill: chunked, max_num_seqs: seqs, max_num_batched_tokens: 256, ..config(4096, &[]) };
        let mut engine = Engine::new(&roomy);
        for (salt, len) in prompts.iter().enumerate() {
            engine.add(ask(prompt(salt as u32, *len), 3), Nanos::ZERO);
        }
        let firsts: Vec<u64> = run(&mut engine, |_, _| ()).iter().filter(|token| token.index == 0).map(|token| token.id.0).collect();
        prop_assert!(firsts.is_sorted(), "{firsts:?}");
    }

    #[test]
    fn caching_never_computes_more(happenings in happenings(), blocks in 60..200u32) {
        let with = |caching| Config { enable_prefix_caching: caching, ..config(blocks, &[]) };
        let tokens = |config: &Config| {
            let mut engine = Engine::new(config);
            for happening in &happenings {
                if let Happening::Ask { salt, prompt: len, answer: _ } = happening {
                    engine.add(ask(prompt(*salt, *len), 1), Nanos::ZERO);
                }
            }
            let mut computed = 0;
            run(&mut engine, |_, step| computed += step.tokens);
            computed
        };
        prop_assert!(tokens(&with(true)) <= tokens(&with(false)));
    }
}
