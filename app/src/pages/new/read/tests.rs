//! A draft and a spec say the same; what cannot be read is an error at its field.

use measure::knobs::KnobValue;
use measure::study::Connection;

use super::*;

const SLO: &str = "ttft:p95<500ms tpot:p95<50ms attain>=95%";

fn endpoint(url: &str) -> Endpoint {
    Endpoint {
        api_key_env: Some("ENGINE_API_KEY".into()),
        headers: BTreeMap::from([("x-team".to_owned(), "serving".to_owned())]),
        connection: Connection {
            ca_file: Some("ours.pem".into()),
            insecure: false,
            http2: true,
            proxy: Some("http://proxy:3128".into()),
        },
        ..Endpoint::new(url, Api::OpenAiCompletions, "llama-8b")
    }
}

fn spec(
    engine: EngineSpec,
    workload: Workload,
    configurations: Vec<ConfigurationSpec>,
) -> StudySpec {
    StudySpec {
        name: "a study".into(),
        engine,
        workload,
        arrival: Arrival::Constant,
        levels: ["0.5", "8", "c=16", "inf"]
            .map(|level| level.parse().expect("level"))
            .to_vec(),
        adaptive: None,
        length: PointLength {
            min_requests: 100,
            max_requests: 400,
            seconds: 30,
        },
        warmup: 5,
        seed: Seed(u64::MAX),
        slo: SLO.parse().expect("slo"),
        configurations,
        repeats: 2,
        idle_timeout_ms: 12_500,
        drain_ms: 60_000,
        ramp_in_ms: 0,
        tokenizer: None,
        on_failure: OnFailure::Stop,
        factorial: false,
    }
}

fn simulated() -> StudySpec {
    let knobs = |on| Knobs::from([("enable-prefix-caching".to_owned(), KnobValue::Switch(on))]);
    let configuration = |name: &str, on| ConfigurationSpec {
        name: name.into(),
        knobs: knobs(on),
        ..ConfigurationSpec::default()
    };
    spec(
        EngineSpec::Simulator {
            preset: "small-fast".into(),
        },
        Workload::ShareGptShaped {
            scale: 0.25,
            max_turns: 6,
            think_ms: 1500,
            max_context: 2048,
            answers: measure::workload::Answers::DataSet,
        },
        vec![
            configuration("caching off", false),
            configuration("caching on", true),
        ],
    )
}

#[track_caller]
fn survives(spec: &StudySpec) {
    let draft = Draft::from(spec);
    assert_eq!(draft.read().as_ref(), Ok(spec));
}

/// What the reader says when `spoil` has been at a good draft.
#[track_caller]
fn refuses(spoil: impl Fn(&mut Draft), field: &str, message: &str) {
    let mut draft = Draft::from(&simulated());
    spoil(&mut draft);
    let errors = draft.read().expect_err("errors");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].field, field);
    assert!(
        errors[0].message.contains(message),
        "{:?} lacks {message:?}",
        errors[0].message
    );
}

#[test]
fn a_spec_survives_the_form() {
    survives(&simulated());
}

#[test]
fn the_exercise_survives_the_form() {
    survives(&StudySpec::goodput_exercise());
}

#[test]
fn every_way_and_every_workload_survives_the_form() {
    let turns = [
        Turn::AsIs,
        Turn::OtherEndpoint(endpoint("http://127.0.0.1:8001")),
        Turn::Pause {
            instruction: "restart with --max-num-seqs 64".into(),
        },
    ];
    let knobs = Knobs::from([("max-num-seqs".to_owned(), KnobValue::Whole(64))]);
    let configurations = |turn: &Turn| {
        vec![ConfigurationSpec {
            name: "b".into(),
            knobs: knobs.clone(),
            turn: turn.clone(),
            ..ConfigurationSpec::default()
        }]
    };
    let lengths = [
        Lengths::Fixed { tokens: 128 },
        Lengths::Uniform { min: 10, max: 90 },
        Lengths::LogNormal {
            median: 200,
            sigma: 0.9,
            max: 4000,
        },
    ];
    let file = Workload::ShareGptFile {
        file: "sharegpt.json".into(),
        max_turns: 1,
        think_ms: 0,
        filter: ShareGptFilter::default(),
        output_tokens: None,
        answers: measure::workload::Answers::DataSet,
        repeats: false,
    };
    for turn in &turns {
        let engine = EngineSpec::Endpoint(endpoint("http://127.0.0.1:8000"));
        survives(&spec(engine.clone(), file.clone(), configurations(turn)));
        for input in &lengths {
            for output in &lengths {
                let workload = Workload::Synthetic {
                    input: input.clone(),
                    output: output.clone(),
                };
                survives(&spec(engine.clone(), workload, configurations(turn)));
            }
        }
    }
}

#[test]
fn engines_that_the_studio_starts_survive_with_their_knobs_and_what_was_declared() {
    let knobs = Knobs::from([
        ("max-num-seqs".to_owned(), KnobValue::Whole(64)),
        ("enforce-eager".to_owned(), KnobValue::Switch(true)),
        (
            "gpu-memory-utilization".to_owned(),
            KnobValue::Fraction(0.8),
        ),
    ]);
    let facts = |facts: &[(&str, &str)]| {
        let facts = facts.iter();
        facts
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    };
    let turns = [
        Turn::AsIs,
        Turn::Managed {
            name: "other".into(),
        },
        Turn::OtherEndpoint(endpoint("http://127.0.0.1:8001")),
    ];
    let configurations = turns.map(|turn| ConfigurationSpec {
        name: format!("{turn:?}"),
        knobs: knobs.clone(),
        declared: match turn {
            Turn::AsIs => facts(&[("hardware", "1x L4"), ("driver", "580.1")]),
            _ => facts(&[("hardware", "8x H100")]),
        },
        turn,
    });
    let engine = EngineSpec::Managed {
        name: "vllm".into(),
    };
    let mut whole = spec(engine, simulated().workload, configurations.to_vec());
    (whole.on_failure, whole.factorial) = (OnFailure::Continue, true);
    survives(&whole);
    // Some say nothing of their hardware though others do.
    whole.engine = EngineSpec::Endpoint(endpoint("http://127.0.0.1:8000"));
    whole.configurations[2].declared.clear();
    survives(&whole);
}

#[test]
fn hardware_is_declared_of_every_configuration_on_its_engine() {
    let configurations = ["one", "two"].map(|name| ConfigurationSpec {
        name: name.into(),
        ..ConfigurationSpec::default()
    });
    let engine = EngineSpec::Endpoint(endpoint("http://127.0.0.1:8000"));
    let whole = spec(engine, simulated().workload, configurations.to_vec());
    let mut draft = Draft::from(&whole);
    draft.endpoint.hardware = " 1x L4 ".into();
    draft.configurations[1].way = "other_endpoint".into();
    draft.configurations[1].other = (&endpoint("http://127.0.0.1:8001")).into();
    let read = |draft: &Draft| {
        let spec = draft.read().expect("spec");
        let of = |it: &ConfigurationSpec| it.declared.get("hardware").cloned();
        spec.configurations.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(
        read(&draft),
        [Some("1x L4".to_owned()), None],
        "another engine is elsewhere"
    );
    draft.configurations[1].way = "as_is".into();
    assert_eq!(read(&draft), vec![Some("1x L4".to_owned()); 2]);
}

#[test]
fn an_author_is_declared_of_every_configuration() {
    let mut draft = Draft::from(&simulated());
    draft.author = " Ada ".into();
    let spec = draft.read().expect("spec");
    let authors = spec
        .configurations
        .iter()
        .map(|it| it.declared.get("author"));
    assert!(authors.flatten().all(|it| it == "Ada"), "{spec:?}");
    assert!(spec.configurations.iter().all(|it| it.declared.len() == 1));
    survives(&spec);
    assert!(spec.check().is_empty(), "{:?}", spec.check());
    assert_eq!(Draft::from(&spec).author, "Ada");
    refuses(|draft| draft.author = "a\u{7}".into(), "author", "one line");
}

#[test]
fn knobs_reach_the_engine_they_were_typed_for() {
    let mut draft = Draft::from(&simulated());
    draft.configurations.truncate(1);
    draft.engine = "endpoint".into();
    draft.endpoint = EndpointDraft::managed("llama");
    draft.configurations[0].set_knob("llama", "parallel", "4".into());
    draft.configurations[0].set_knob("vllm", "max-num-seqs", "8".into());
    let knobs = |draft: &Draft| draft.read().expect("spec").configurations[0].knobs.clone();
    let only = |name: &str, value| Knobs::from([(name.to_owned(), KnobValue::Whole(value))]);
    assert_eq!(knobs(&draft), only("parallel", 4));
    draft.endpoint = EndpointDraft::managed("vllm");
    assert_eq!(knobs(&draft), only("max-num-seqs", 8));
    draft.configurations[0].way = "pause".into();
    let spec = draft.read().expect("spec");
    assert_eq!(
        spec.configurations[0].turn,
        Turn::AsIs,
        "nobody has to restart it"
    );
}

#[test]
fn files_of_every_kind_survive() {
    let prompts = |output, repeats| Workload::PromptFile {
        file: "p.jsonl".into(),
        output,
        repeats,
    };
    let conversations = |output_tokens, repeats| Workload::ShareGptFile {
        file: "s.json".into(),
        max_turns: 3,
        think_ms: 500,
        filter: ShareGptFilter::default(),
        output_tokens,
        answers: measure::workload::Answers::DataSet,
        repeats,
    };
    let trace = |format, length_ms, max_context| {
        Workload::Trace(Trace {
            file: "t.csv".into(),
            format,
            start_ms: 600_000,
            length_ms,
            max_context,
        })
    };
    let fixed = Lengths::Fixed { tokens: 20 };
    let given = Lengths::Table { values: vec![3] };
    for workload in [
        prompts(None, false),
        prompts(Some(fixed), true),
        prompts(Some(given), false),
        conversations(Some(128), true),
        trace(TraceFormat::BurstGpt, None, None),
        trace(TraceFormat::Jsonl, Some(1500), Some(4096)),
    ] {
        let mut whole = spec(simulated().engine, workload, simulated().configurations);
        whole.levels = ["x0.5", "x2"].map(|it| it.parse().expect("level")).into();
        (whole.ramp_in_ms, whole.tokenizer) = (1500, Some("t.json".into()));
        let draft = Draft::from(&whole);
        assert_eq!(draft.read().as_ref(), Ok(&whole));
    }
}

#[test]
fn what_cannot_be_read_is_an_error_at_its_field() {
    refuses(|draft| draft.levels = "1 2 -4".into(), "levels", "-4");
    refuses(
        |draft| draft.levels = " ".into(),
        "levels",
        "at least one rate",
    );
    refuses(|draft| draft.slo = "ttft:p95<soon".into(), "slo", "soon");
    refuses(
        |draft| draft.seed = "forty-two".into(),
        "seed",
        "not \"forty-two\"",
    );
    refuses(
        |draft| draft.min_requests = String::new(),
        "length.min_requests",
        "whole number",
    );
    refuses(
        |draft| draft.min_requests = "-5".into(),
        "length.min_requests",
        "-5",
    );
    refuses(
        |draft| draft.idle_timeout = "-1".into(),
        "idle_timeout_ms",
        "0 or more",
    );
    refuses(|draft| draft.drain = "NaN".into(), "drain_ms", "seconds");
    refuses(
        |draft| draft.workload.scale = "much".into(),
        "workload.scale",
        "much",
    );
    refuses(|draft| draft.arrival = "gamma".into(), "arrival", "gamma");
    refuses(
        |draft| draft.engine = "endpoint".into(),
        "engine",
        "choose an engine",
    );
    for kind in ["share_gpt_file", "prompt_file", "trace"] {
        let choose = |draft: &mut Draft| draft.workload.kind = kind.into();
        refuses(choose, "workload.file", "upload");
    }
    let trace = |draft: &mut Draft| {
        (draft.workload.kind, draft.workload.file) = ("trace".into(), "t".into());
        draft.workload.length = "all".into();
    };
    refuses(trace, "workload.length_ms", "seconds");
}

#[test]
fn declared_knobs_and_headers_are_read_line_by_line() {
    let on_endpoint = |draft: &mut Draft, declared: &str| {
        draft.engine = "endpoint".into();
        draft.endpoint = (&endpoint("http://127.0.0.1:8000")).into();
        draft.configurations.truncate(1);
        draft.configurations[0].declared = declared.into();
    };
    let mut draft = Draft::from(&simulated());
    on_endpoint(
        &mut draft,
        " --max-num-seqs=64 \n\nenable-prefix-caching = on",
    );
    let knobs = &draft.read().expect("spec").configurations[0].knobs;
    assert_eq!(knobs["max-num-seqs"], KnobValue::Whole(64));
    assert_eq!(knobs["enable-prefix-caching"], KnobValue::Switch(true));
    refuses(
        |draft| on_endpoint(draft, "max-num-seqs"),
        "configurations[0].knobs",
        "name=value",
    );
    refuses(
        |draft| on_endpoint(draft, "a=1\na=2"),
        "configurations[0].knobs",
        "twice",
    );
}

#[test]
fn all_errors_are_told_at_once() {
    let mut draft = Draft::from(&simulated());
    (draft.levels, draft.seed, draft.repeats) = ("x".into(), "y".into(), "z".into());
    let fields: Vec<String> = draft
        .read()
        .expect_err("errors")
        .into_iter()
        .map(|it| it.field)
        .collect();
    assert_eq!(fields, ["levels", "seed", "repeats"]);
}

#[test]
fn numbers_may_carry_thousands_and_lists_any_separator() {
    let mut draft = Draft::from(&simulated());
    (draft.max_requests, draft.levels) = ("1,000".into(), "0.5, 1;2\n4 inf".into());
    let spec = draft.read().expect("spec");
    assert_eq!((spec.length.max_requests, spec.levels.len()), (1000, 5));
}

#[test]
fn a_study_without_a_name_gets_one_that_says_what_it_studies() {
    let mut draft = Draft::from(&simulated());
    draft.name = "  ".into();
    assert_eq!(
        draft.read().expect("spec").name,
        "small-fast: enable-prefix-caching"
    );
    draft.configurations.truncate(1);
    assert_eq!(draft.full_name(), "small-fast sweep");
}
