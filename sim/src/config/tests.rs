//! Presets stand, knobs turn, and errors name the mend.

use super::*;

fn knobs(pairs: &[(&str, &str)]) -> Knobs {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), KnobValue::from(*value)))
        .collect()
}

#[track_caller]
fn check_error(preset: &str, pairs: &[(&str, &str)], expected: &str) {
    let error = Config::preset(preset, &knobs(pairs)).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn every_preset_stands_with_the_default_knobs() {
    for preset in PRESETS {
        let config = Config::preset(preset, &Knobs::new()).unwrap();
        let defaults: Knobs = simulator_knobs()
            .into_iter()
            .map(|spec| (spec.name.to_owned(), spec.default))
            .collect();
        assert_eq!(config.knobs(), defaults, "{preset}");
        assert_eq!(config.model, format!("simulated-{preset}"));
        assert!(config.max_model_len as usize <= config.kv_blocks as usize * BLOCK_SIZE);
    }
}

#[test]
fn knobs_turn() {
    let config = Config::preset(
        "tiny",
        &knobs(&[
            ("max-num-seqs", "3"),
            ("max-num-batched-tokens", "16"),
            ("enable-prefix-caching", "on"),
        ]),
    )
    .unwrap();
    assert_eq!(
        (config.max_num_seqs, config.max_num_batched_tokens),
        (3, 16)
    );
    assert!(config.enable_prefix_caching);
}

#[test]
fn errors_name_the_knob_and_the_mend() {
    check_error(
        "big",
        &[],
        "unknown preset \"big\"; the simulator knows small-fast, llama-8b-h100, llama-8b-h200, llama-8b-a100, llama-8b-l4, \
         llama-70b-4xh100, llama-1b-laptop, tiny",
    );
    check_error(
        "tiny",
        &[("max-num-seqs", "0")],
        "max-num-seqs must be a whole number from 1 to 4096, got 0",
    );
    check_error(
        "tiny",
        &[("max-num-seqs", "many")],
        "max-num-seqs must be a whole number from 1 to 4096, got many",
    );
    check_error(
        "tiny",
        &[("enable-prefix-caching", "3")],
        "enable-prefix-caching must be on or off, got 3",
    );
    check_error(
        "tiny",
        &[("block-size", "3")],
        "unknown knob \"block-size\"; the simulator knows enable-prefix-caching, enable-chunked-prefill, max-num-seqs, \
         max-num-batched-tokens, long-prefill-token-threshold, gpu-memory-utilization, num-gpu-blocks-override, \
         enforce-eager, async-scheduling, num-speculative-tokens, synthetic-acceptance-rate",
    );
}

#[test]
fn whole_prefills_need_a_whole_context() {
    check_error(
        "tiny",
        &[
            ("enable-chunked-prefill", "off"),
            ("max-num-batched-tokens", "512"),
        ],
        "max-num-batched-tokens is 512, but without enable-chunked-prefill a whole prompt must fit into one step: set \
         it to at least 8192, or turn enable-chunked-prefill on",
    );
}

#[test]
fn whole_prefills_raise_the_default_budget() {
    let config = Config::preset(
        "llama-8b-h100",
        &knobs(&[("enable-chunked-prefill", "off")]),
    )
    .unwrap();
    assert_eq!(config.max_num_batched_tokens, 8192);
}

#[track_caller]
fn check_blocks(preset: &str, pairs: &[(&str, &str)], expected: u32) {
    let config = Config::preset(preset, &knobs(pairs)).unwrap();
    assert_eq!(config.kv_blocks, expected, "{preset} {pairs:?}");
}

#[test]
fn the_kv_cache_gets_what_the_memory_leaves() {
    check_blocks("small-fast", &[], 4096);
    check_blocks("tiny", &[], 4096);
    // (80e9 x 0.9 - 16.06e9 - 1.5e9) / (131,072 x 16), rounded down; and half of the memory.
    check_blocks("llama-8b-h100", &[], 25_959);
    check_blocks(
        "llama-8b-h100",
        &[("gpu-memory-utilization", "0.5")],
        10_700,
    );
    check_blocks(
        "llama-8b-h100",
        &[("num-gpu-blocks-override", "1000")],
        1000,
    );
}

#[test]
fn memory_that_holds_no_sequence_says_what_to_raise() {
    check_error(
        "llama-8b-l4",
        &[("gpu-memory-utilization", "0.7")],
        "the KV cache would hold 0 tokens, but one sequence may have 8192: raise gpu-memory-utilization or \
         num-gpu-blocks-override",
    );
    check_error(
        "tiny",
        &[("num-gpu-blocks-override", "511")],
        "the KV cache would hold 8176 tokens, but one sequence may have 8192: raise gpu-memory-utilization or \
         num-gpu-blocks-override",
    );
    check_error(
        "tiny",
        &[("gpu-memory-utilization", "90")],
        "gpu-memory-utilization must be a number from 0 to 1, got 90",
    );
}
