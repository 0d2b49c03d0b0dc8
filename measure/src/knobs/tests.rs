use super::*;

fn facts(pairs: &[(&str, &str)]) -> Facts {
    let fact = |value: &str| Fact {
        value: value.to_owned(),
        source: Source::Engine,
    };
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), fact(value)))
        .collect()
}

const BASE: [(&str, &str); 4] = [
    ("engine", "vLLM"),
    ("version", "0.10"),
    ("model", "llama"),
    ("knob:max-num-seqs", "64"),
];

/// The names that differ, and whether a verdict may be given.
#[track_caller]
fn check(baseline: &[(&str, &str)], candidate: &[(&str, &str)], expected: Option<&[&str]>) {
    let names =
        |differing: &[Differing]| differing.iter().map(|d| d.name.clone()).collect::<Vec<_>>();
    match (comparability(&facts(baseline), &facts(candidate)), expected) {
        (Comparability::Identical, None) => {}
        (Comparability::OneVariable { differing, .. }, Some([name])) => {
            assert_eq!(differing.name, *name)
        }
        (Comparability::Confounded { differing }, Some(expected)) => {
            assert_eq!(names(&differing), expected)
        }
        (got, expected) => panic!("{got:?}, not {expected:?}"),
    }
}

fn one_variable(baseline: &[(&str, &str)], candidate: &[(&str, &str)]) -> bool {
    matches!(
        comparability(&facts(baseline), &facts(candidate)),
        Comparability::OneVariable { .. }
    )
}

fn with(changes: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    let kept = BASE
        .into_iter()
        .filter(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
    kept.chain(
        changes
            .iter()
            .copied()
            .filter(|(_, value)| !value.is_empty()),
    )
    .collect()
}

#[test]
fn alike_is_identical() {
    check(&BASE, &BASE, None);
    check(&[], &[], None);
}

#[test]
fn one_knob_is_one_variable() {
    check(
        &BASE,
        &with(&[("knob:max-num-seqs", "4")]),
        Some(&["knob:max-num-seqs"]),
    );
    assert!(one_variable(&BASE, &with(&[("knob:max-num-seqs", "4")])));
}

#[test]
fn two_knobs_are_confounded() {
    let two = with(&[("knob:max-num-seqs", "4"), ("model", "gemma")]);
    check(&BASE, &two, Some(&["knob:max-num-seqs", "model"]));
}

#[test]
fn unknown_on_one_side_is_confounded() {
    let unknown = with(&[("knob:max-num-seqs", "")]);
    check(&BASE, &unknown, Some(&["knob:max-num-seqs"]));
    assert!(!one_variable(&BASE, &unknown));
    assert!(!one_variable(&unknown, &BASE));
}

#[test]
fn another_version_alone_is_one_variable() {
    assert!(one_variable(&BASE, &with(&[("version", "0.11")])));
}

#[test]
fn an_engine_brings_its_version_model_name_and_own_knobs() {
    let other = with(&[
        ("engine", "SGLang"),
        ("version", "0.5"),
        ("model", "meta/llama"),
        ("knob:max-num-seqs", ""),
        ("knob:max-running-requests", "64"),
    ]);
    check(&BASE, &other, Some(&["engine"]));
    assert!(one_variable(&BASE, &other));
}

#[test]
fn another_launch_is_a_difference_that_comes_with_another_engine_alone() {
    let started = with(&[("launch", "0a1b")]);
    let otherwise = with(&[("launch", "2c3d")]);
    check(&started, &otherwise, Some(&["launch"]));
    let turned = with(&[("launch", "2c3d"), ("knob:max-num-seqs", "4")]);
    check(&started, &turned, Some(&["knob:max-num-seqs", "launch"]));
    // Known of one alone it may differ.
    check(&BASE, &started, Some(&["launch"]));
    assert!(!one_variable(&BASE, &started));
    let other = with(&[("launch", "2c3d"), ("engine", "SGLang")]);
    check(&started, &other, Some(&["engine"]));
    assert!(one_variable(&started, &other));
}

#[test]
fn an_engine_and_a_knob_of_both_are_confounded() {
    check(
        &BASE,
        &with(&[("engine", "SGLang"), ("knob:max-num-seqs", "4")]),
        Some(&["knob:max-num-seqs", "engine"]),
    );
}

#[test]
fn an_engine_and_other_hardware_are_confounded() {
    let here = with(&[("hardware", "H100")]);
    let there = with(&[("hardware", "A100"), ("engine", "SGLang")]);
    check(&here, &there, Some(&["hardware", "engine"]));
}

#[test]
fn an_engine_known_on_one_side_is_confounded() {
    assert!(!one_variable(&BASE, &with(&[("engine", "")])));
}

#[test]
fn who_says_so_does_not_make_a_difference() {
    let mut declared = facts(&BASE);
    declared
        .values_mut()
        .for_each(|fact| fact.source = Source::Declared);
    assert_eq!(
        comparability(&facts(&BASE), &declared),
        Comparability::Identical
    );
}

fn knobs(pairs: &[(&str, &str)]) -> Knobs {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), KnobValue::from(*value)))
        .collect()
}

#[track_caller]
fn refuses(pairs: &[(&str, &str)], expected: &str) {
    let found = check_simulator_knobs(&knobs(pairs)).map_err(|error| error.message);
    assert_eq!(found, Err(expected.to_owned()));
}

#[test]
fn the_simulators_defaults_pass() {
    let defaults = simulator_knobs()
        .into_iter()
        .map(|spec| (spec.name.to_owned(), spec.default))
        .collect();
    assert_eq!(check_simulator_knobs(&defaults), Ok(()));
    assert_eq!(check_simulator_knobs(&Knobs::new()), Ok(()));
    let shares = knobs(&[
        ("gpu-memory-utilization", "0.5"),
        ("synthetic-acceptance-rate", "1"),
    ]);
    assert_eq!(check_simulator_knobs(&shares), Ok(()));
}

#[test]
fn wrong_knobs_are_named_with_what_is_allowed() {
    refuses(
        &[("max-seqs", "4")],
        "the simulator has no knob \"max-seqs\"; it has enable-prefix-caching, enable-chunked-prefill, max-num-seqs, \
         max-num-batched-tokens, long-prefill-token-threshold, gpu-memory-utilization, num-gpu-blocks-override, \
         enforce-eager, async-scheduling, num-speculative-tokens, synthetic-acceptance-rate",
    );
    refuses(
        &[("enable-prefix-caching", "1")],
        "enable-prefix-caching must be on or off, got 1",
    );
    refuses(
        &[("max-num-seqs", "0")],
        "max-num-seqs must be a whole number from 1 to 4096, got 0",
    );
    refuses(
        &[("max-num-seqs", "2.5")],
        "max-num-seqs must be a whole number from 1 to 4096, got 2.5",
    );
    refuses(
        &[("max-num-batched-tokens", "on")],
        "max-num-batched-tokens must be a whole number from 16 to 1048576, got on",
    );
    refuses(
        &[("gpu-memory-utilization", "1.2")],
        "gpu-memory-utilization must be a number from 0 to 1, got 1.2",
    );
}

#[test]
fn values_are_read_as_typed_and_print_the_same() {
    for text in ["on", "off", "64", "0.9", "auto"] {
        assert_eq!(KnobValue::from(text).to_string(), text);
    }
    assert_eq!(KnobValue::from(" true "), KnobValue::Switch(true));
    assert_eq!(KnobValue::from("-3"), KnobValue::Whole(-3));
}

#[test]
fn the_weights_of_two_engines_may_differ_where_a_person_accepted_it() {
    let one = [("engine", "llama.cpp"), ("quantization", "Q4_K_M")];
    let other = [
        ("engine", "vLLM"),
        ("quantization", "bf16"),
        (ACCEPTED, "quantization"),
    ];
    check(&one, &other[..2], Some(&["quantization", "engine"]));
    let Comparability::OneVariable { differing, beside } =
        comparability(&facts(&one), &facts(&other))
    else {
        panic!("not comparable");
    };
    assert_eq!(differing.name, "engine");
    assert_eq!((beside.len(), beside[0].name.as_str()), (1, "quantization"));
    // Of one engine's weights nothing is accepted, and nothing else than weights of two.
    check(
        &[("quantization", "Q4_K_M"), ("version", "1")],
        &[
            ("quantization", "bf16"),
            ("version", "2"),
            (ACCEPTED, "quantization"),
        ],
        Some(&["quantization", "version"]),
    );
    check(
        &one,
        &[("engine", "vLLM"), (ACCEPTED, "quantization")],
        Some(&["quantization", "engine"]),
    );
}
