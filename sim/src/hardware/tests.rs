//! Prices against arithmetic by hand, and the engine against the data sheets.

use measure::knobs::Knobs;
use measure::units::Nanos;
use proptest::prelude::*;

use super::*;
use crate::config::Config;
use crate::engine::{Ask, Engine, StepResult, prompt_hashes};
use crate::preset::{PRESETS, Preset};

#[track_caller]
fn check(got: f64, expected: f64) {
    assert!(
        (got / expected - 1.0).abs() < 0.005,
        "{got}, by hand {expected}"
    );
}

#[test]
fn an_8b_model_on_one_h100() {
    let cost = Preset::find("llama-8b-h100").unwrap().cost;
    // 7.505e9 weights of 2 bytes over 0.8 x 3.35e12; 2 x 7.505e9 operations over 0.5 x 989e12.
    check(cost.weights_ns, 5.600e6);
    check(cost.token_ns, 30.35e3);
    // 2 x 32 layers x 8 heads x 128 x 2 bytes; 4 x 4096 x 32 operations.
    check(cost.kv_token_ns, 48.91);
    check(cost.attention_pair_ns, 1.060);
    // One layer of 218e6 weights and the output head of 525e6.
    check(cost.draft_ns, 0.5545e6);
    assert_eq!((cost.reduce_ns, cost.reduce_token_ns), (0.0, 0.0));
}

#[test]
fn four_devices_read_and_multiply_a_quarter_each_and_agree() {
    let preset = Preset::find("llama-70b-4xh100").unwrap();
    let cost = preset.cost;
    check(cost.weights_ns, 2.0 * 69.55e9 / 4.0 / 2.68e12 * 1e9);
    check(cost.token_ns, 2.0 * 69.55e9 / 4.0 / 494.5e12 * 1e9);
    check(cost.kv_token_ns, 327_680.0 / 4.0 / 2.68e12 * 1e9);
    // 160 all-reduces of 10 µs; each sends 16,384 bytes x 2 x 3/4 a token over 0.8 x 450 GB/s.
    check(cost.reduce_ns, 1.6e6);
    check(cost.reduce_token_ns, 160.0 * 24_576.0 / 360e9 * 1e9);
    check(preset.memory.weights, 35.3e9);
}

#[test]
fn a_tied_model_reads_its_embedding() {
    let (model, _) = Preset::find("llama-1b-laptop").unwrap().made_of.unwrap();
    assert_eq!(model.active_params(), model.params);
    check(model.kv_token_bytes(), 32_768.0);
}

/// Seconds that a step's work takes at least if the device did everything that its data sheet promises.
fn least_seconds(model: &Model, device: &Device, step: &StepResult) -> f64 {
    let work = &step.work;
    let bytes =
        model.active_params() * model.weight_bytes + work.kv_tokens as f64 * model.kv_token_bytes();
    let flops = 2.0 * model.active_params() * work.tokens() as f64
        + model.pair_flops() * work.attention_pairs as f64;
    let read = bytes / (device.count * device.bandwidth);
    read.max(flops / (device.count * device.flops))
}

/// Presets made of data sheets.
fn made() -> impl Strategy<Value = (&'static str, (Model, Device))> {
    let made = PRESETS
        .iter()
        .filter_map(|name| Some((*name, Preset::find(name)?.made_of?)));
    prop::sample::select(made.collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn no_step_is_faster_than_the_roofline(
        (preset, (model, device)) in made(),
        asks in prop::collection::vec((1..3000u32, 1..40u32), 1..40),
        drafts in 0..8u32, chunked in any::<bool>(), asynchronous in any::<bool>(), acceptance in 0.0..1.0f64,
    ) {
        let base = Config::preset(preset, &Knobs::new()).unwrap();
        let config = Config {
            num_speculative_tokens: drafts,
            synthetic_acceptance_rate: acceptance,
            enable_chunked_prefill: chunked,
            max_num_batched_tokens: 8192,
            cost: Cost { async_scheduling: asynchronous, ..base.cost },
            ..base
        };
        let mut engine = Engine::new(&config);
        for (salt, (prompt, answer)) in asks.into_iter().enumerate() {
            let prompt: Vec<u32> = (0..prompt).map(|index| salt as u32 * 10_000 + index).collect();
            engine.add(Ask { hashes: prompt_hashes(&prompt), prompt, max_tokens: answer, seed: salt as u64 }, Nanos::ZERO);
        }
        let mut now = Nanos::ZERO;
        while !engine.is_idle() {
            let step = engine.step(now);
            let took = step.ends.since(now).as_secs_f64();
            prop_assert!(least_seconds(&model, &device, &step) <= took);
            let new: u32 = step.emitted.iter().map(|token| token.count).sum();
            prop_assert!(u64::from(new) <= step.work.tokens(), "no token comes out that was not computed");
            now = step.ends;
        }
    }
}
