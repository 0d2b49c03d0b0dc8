use serde::Serialize;
use serde::de::DeserializeOwned;

use std::collections::BTreeMap;

use super::*;
use crate::arrival::Arrival;
use crate::knobs::KnobValue;
use crate::study::{Api, Connection, Endpoint, EngineSpec, Turn};
use crate::units::{Level, Rate, Seed};
use crate::workload::{Answers, Lengths, ShareGptFilter, Trace, TraceFormat, Workload};

#[track_caller]
fn round<T: Serialize + DeserializeOwned + PartialEq + fmt::Debug>(values: &[T]) {
    for value in values {
        let json = serde_json::to_string(value).expect("json");
        assert_eq!(&serde_json::from_str::<T>(&json).expect(&json), value);
    }
}

#[track_caller]
fn check<T: DeserializeOwned + fmt::Debug>(json: &str, expected: &str) {
    let error = serde_json::from_str::<T>(json).expect_err(json).to_string();
    assert!(error.starts_with(expected), "{error}");
}

fn endpoint() -> Endpoint {
    Endpoint {
        api_key_env: Some("KEY".into()),
        api_key_secret: Some("KEPT".into()),
        headers: BTreeMap::from([("X-Team".into(), "a".into())]),
        connection: Connection {
            ca_file: Some("ca.pem".into()),
            insecure: true,
            http2: true,
            proxy: Some("http://proxy:3128".into()),
        },
        ..Endpoint::new("http://gpu:8000", Api::OpenAiChat, "m")
    }
}

#[test]
fn what_is_written_is_read() {
    round(&[
        Ceiling::Bracket {
            value: 2.0,
            lo: 1.0,
            hi: 3.0,
        },
        Ceiling::AtLeast { lo: 1.0 },
        Ceiling::NoneKept { hi: 3.0 },
        Ceiling::Unresolved {
            lo: None,
            hi: Some(3.0),
        },
        Ceiling::Ramped,
    ]);
    round(&[
        Capacity::Within,
        Capacity::Unknown,
        Capacity::Above {
            why: "it grows".into(),
        },
    ]);
    round(&[
        Verdict::Better,
        Verdict::Worse,
        Verdict::NoDifference { smallest_seen: 0.1 },
        Verdict::CannotTell { smallest_seen: 3.0 },
        Verdict::NotYetJudged {
            why: "too few".into(),
        },
    ]);
    round(&[
        EngineSpec::Simulator {
            preset: "small-fast".into(),
        },
        EngineSpec::Endpoint(endpoint()),
        EngineSpec::Managed {
            name: "llama".into(),
        },
    ]);
    round(&[
        Turn::AsIs,
        Turn::OtherEndpoint(endpoint()),
        Turn::Managed {
            name: "llama".into(),
        },
        Turn::Pause {
            instruction: "restart".into(),
        },
    ]);
}

#[test]
fn workloads_are_read_as_written() {
    let filter = ShareGptFilter::default();
    round(&[
        Workload::ShareGptShaped {
            scale: 0.5,
            max_turns: 5,
            think_ms: 0,
            max_context: 4096,
            answers: Answers::Real,
        },
        Workload::ShareGptFile {
            file: "a.json".into(),
            max_turns: 1,
            think_ms: 9,
            filter,
            output_tokens: Some(128),
            answers: Answers::DataSet,
            repeats: true,
        },
        Workload::PromptFile {
            file: "p.jsonl".into(),
            output: Some(Lengths::Fixed { tokens: 3 }),
            repeats: false,
        },
        Workload::SharedPrefix {
            families: 4,
            prefix_tokens: 512,
            share: 0.75,
            input: Lengths::Table { values: vec![3, 9] },
            output: Lengths::Normal {
                mean: 100,
                deviation: 20.5,
                max: 300,
            },
        },
        Workload::Trace(Trace {
            file: "t.csv".into(),
            format: TraceFormat::Azure,
            start_ms: 60_000,
            length_ms: Some(5_000),
            max_context: Some(4096),
        }),
        Workload::Synthetic {
            input: Lengths::LogNormal {
                median: 100,
                sigma: 1.5,
                max: 900,
            },
            output: Lengths::Uniform { min: 1, max: 9 },
        },
    ]);
}

#[test]
fn what_workloads_are_made_of_is_read_as_written() {
    round(&[Lengths::Fixed { tokens: 7 }]);
    round(&TraceFormat::ALL);
    let arrivals = [
        "poisson",
        "constant",
        "gamma=0.5",
        "linear-ramp=2",
        "exponential-ramp=0.25",
    ];
    round(&arrivals.map(|text| text.parse::<Arrival>().expect(text)));
    // What was stored before there were answers to choose from.
    let json =
        r#"{"kind":"share_gpt_shaped","scale":1.0,"max_turns":2,"think_ms":0,"max_context":99}"#;
    let workload: Workload = serde_json::from_str(json).expect("a workload");
    assert_eq!(serde_json::to_string(&workload).expect("json"), json);
}

#[test]
fn one_difference_or_several() {
    let one = Differing {
        name: "engine".into(),
        baseline: None,
        candidate: None,
    };
    round(&[
        Comparability::Identical,
        Comparability::OneVariable {
            differing: one.clone(),
            beside: Vec::new(),
        },
        Comparability::OneVariable {
            differing: one.clone(),
            beside: vec![one.clone()],
        },
        Comparability::Confounded {
            differing: vec![one.clone(), one],
        },
    ]);
}

#[test]
fn values_without_parts_keep_their_kind() {
    round(&[
        KnobValue::Switch(true),
        KnobValue::Whole(-3),
        KnobValue::Fraction(0.5),
        KnobValue::Word("fp8".into()),
    ]);
    round(&[Level::Rate(Rate::try_from(2.5).expect("rate")), Level::Inf]);
    round(&[Seed(u64::MAX)]);
    assert_eq!(serde_json::from_str::<Seed>("7").expect("seed"), Seed(7));
}

#[test]
fn what_is_missing_or_unknown_is_named() {
    check::<Ceiling>(r#"{"kind":"at_least"}"#, "missing field `lo`");
    check::<Ceiling>(r#"{"kind":"roof"}"#, "unknown variant `roof`");
    check::<Workload>(r#"{"scale":1}"#, "missing field `kind`");
    check::<Level>("true", "expected a rate: a number or text");
    check::<Seed>("-1", "expected a seed: a whole number or text");
}

#[test]
fn a_field_of_another_kind_is_refused_like_an_unknown_one() {
    check::<EngineSpec>(
        r#"{"kind":"endpoint","preset":"tiny"}"#,
        "unknown field `preset`",
    );
    check::<Turn>(r#"{"way":"as_is","url":"http://a"}"#, "unknown field `url`");
    check::<Lengths>(
        r#"{"kind":"fixed","tokens":1,"max":2}"#,
        "unknown field `max`",
    );
    check::<Workload>(
        r#"{"kind":"synthetic","think_ms":2}"#,
        "unknown field `think_ms`",
    );
    check::<Workload>(r#"{"kind":"synthetic","speed":2}"#, "unknown field `speed`");
}
