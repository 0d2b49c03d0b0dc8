//! Every kind of workload.

use super::*;

/// FNV-1a over all starts, ids and bodies: a change here breaks the promise of every stored seed.
fn digest(plan: &PointPlan) -> String {
    let requests = plan.sessions.iter().flat_map(|session| {
        let turns = session.turns.iter();
        turns.map(|turn| (session.start + turn.not_before, turn))
    });
    let warmup = plan.warmup.iter().map(|turn| (Nanos::ZERO, turn));
    let hash = requests
        .chain(warmup)
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, (start, turn)| {
            let head = format!("{start} {} {} ", turn.request_id, turn.output_tokens);
            let bytes = head.into_bytes().into_iter().chain(turn.body.bytes());
            bytes.fold(hash, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            })
        });
    format!("{hash:016x}")
}

const CHATS: &str = r#"[
{"id": "a", "conversations": [{"from": "human", "value": "how do rivers find the sea"}, {"from": "gpt", "value": "they run down hill until they meet it"}, {"from": "human", "value": "and then they stop"}, {"from": "gpt", "value": "then they are the sea"}]},
{"id": "b", "conversations": [{"from": "human", "value": "name four birds of the north"}, {"from": "gpt", "value": "crow duck swan and gull"}]},
{"id": "c", "conversations": [{"from": "user", "value": "why is the night sky dark at all"}, {"from": "assistant", "value": "because it all began"}]}
]"#;
const PROMPTS: &str = "{\"prompt\": \"say why\", \"output_tokens\": 7}
{\"messages\": [{\"role\": \"system\", \"content\": \"be short\"}, {\"role\": \"user\", \"content\": \"say how\"}]}
{\"prompt\": \"say when\"}
";
const AZURE: &str = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,48,10\n2023-11-16 18:17:04.0319600,31,8\n";
const MOONCAKE: &str = "{\"timestamp\": 0, \"input_length\": 700, \"output_length\": 5, \"hash_ids\": [0, 1]}\n{\"timestamp\": 9, \"input_length\": 600, \"output_length\": 4, \"hash_ids\": [0, 2]}\n";
const BURST: &str = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,47,18,65,Conversation log\n";
const OWN: &str = "{\"at_ms\": 1, \"input_tokens\": 9, \"output_tokens\": 4, \"session\": 1}\n{\"at_ms\": 8, \"input_tokens\": 30, \"output_tokens\": 4, \"session\": 1}\n{\"at_ms\": 9, \"prompt\": \"hello\", \"output_tokens\": 2}\n";

/// Every kind of workload by its JSON, with its level.
const EVERY_KIND: [(&str, &str); 12] = [
    (
        r#"{"kind":"share_gpt_shaped","scale":0.2,"max_turns":3,"think_ms":9,"max_context":900}"#,
        "4",
    ),
    (
        r#"{"kind":"share_gpt_shaped","scale":0.2,"max_turns":3,"think_ms":9,"max_context":900,"answers":"real"}"#,
        "4",
    ),
    (
        r#"{"kind":"synthetic","input":{"kind":"uniform","min":5,"max":50},"output":{"kind":"normal","mean":9,"deviation":3.0,"max":20}}"#,
        "inf",
    ),
    (
        r#"{"kind":"synthetic","input":{"kind":"log_normal","median":20,"sigma":0.5,"max":90},"output":{"kind":"table","values":[3,5,8]}}"#,
        "c=3",
    ),
    (
        r#"{"kind":"shared_prefix","families":3,"prefix_tokens":40,"share":0.75,"input":{"kind":"fixed","tokens":9},"output":{"kind":"fixed","tokens":4}}"#,
        "9",
    ),
    (
        r#"{"kind":"share_gpt_file","file":"chats.json","max_turns":2,"think_ms":5,"filter":{"min_prompt":4,"min_output":4,"max_prompt":1024,"max_total":2048},"repeats":true}"#,
        "4",
    ),
    (
        r#"{"kind":"share_gpt_file","file":"chats.json","max_turns":1,"think_ms":5,"filter":{"min_prompt":4,"min_output":4,"max_prompt":1024,"max_total":2048},"output_tokens":9,"repeats":true}"#,
        "inf",
    ),
    (
        r#"{"kind":"prompt_file","file":"prompts.jsonl","output":{"kind":"uniform","min":3,"max":9},"repeats":true}"#,
        "c=2",
    ),
    (
        r#"{"kind":"trace","file":"azure.csv","format":"azure"}"#,
        "x2",
    ),
    (
        r#"{"kind":"trace","file":"mooncake.jsonl","format":"mooncake"}"#,
        "x1",
    ),
    (
        r#"{"kind":"trace","file":"burst.csv","format":"burst_gpt"}"#,
        "x0.5",
    ),
    (
        r#"{"kind":"trace","file":"own.jsonl","format":"jsonl"}"#,
        "x1",
    ),
];

fn data_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [
        ("chats.json", CHATS),
        ("prompts.jsonl", PROMPTS),
        ("azure.csv", AZURE),
        ("mooncake.jsonl", MOONCAKE),
        ("burst.csv", BURST),
        ("own.jsonl", OWN),
    ];
    for (name, content) in files {
        fs::write(folder.path().join(name), content).expect("written");
    }
    folder
}

/// A plan of one of [`EVERY_KIND`], changed by `change`.
fn plan_of(
    kind: &str,
    level: &str,
    folder: &Path,
    change: &dyn Fn(&mut PointSpec<'_>),
) -> PointPlan {
    let workload: Workload = serde_json::from_str(kind).expect(kind);
    assert_eq!(workload.check(), Ok(()), "{kind}");
    let mut spec = PointSpec {
        data_dir: Some(folder),
        level: level.parse().expect("level"),
        length: PointLength {
            min_requests: 1,
            max_requests: 20,
            seconds: 2,
        },
        ..spec(&workload, 42)
    };
    change(&mut spec);
    plan_point(&spec).unwrap_or_else(|error| panic!("{kind}: {error}"))
}

#[test]
fn every_kind_of_workload_is_the_same_for_ever() {
    let folder = data_folder();
    let lines = EVERY_KIND.map(|(kind, level)| {
        let plan = plan_of(kind, level, folder.path(), &|_| {});
        let again = plan_of(kind, level, folder.path(), &|_| {});
        assert_eq!(plan, again, "{kind}");
        let workload: Workload = serde_json::from_str(kind).expect(kind);
        format!(
            "{level} {workload}: {} requests, {}",
            plan.requests(),
            digest(&plan)
        )
    });
    insta::assert_snapshot!(lines.join("\n"), @r#"
    4 ShareGPT-shaped sessions, lengths × 0.2, up to 3 turns: 18 requests, c0de5288fff1cd44
    4 ShareGPT-shaped sessions, lengths × 0.2, up to 3 turns that carry the engine's own answers: 18 requests, c0de5288fff1cd44
    inf synthetic single requests, input uniform 5 to 50 tokens, output normal around 9 tokens (deviation 3, at most 20): 20 requests, 2c714f323c61bee3
    c=3 synthetic single requests, input log-normal around 20 tokens (sigma 0.5, at most 90), output as one of 3 observed, 3 to 8 tokens: 12 requests, 8f7207a3440a1d9c
    9 75 % of the requests share one of 3 prefixes of 40 tokens, then input 9 tokens each, output 4 tokens each: 18 requests, 6bb22d23d10b4f20
    4 ShareGPT file chats.json, up to 2 turns: 11 requests, ba3dd841c6fc6a03
    inf ShareGPT file chats.json, single requests, output 9 tokens each: 20 requests, 3d86c2041d2f0ffe
    c=2 prompts of prompts.jsonl, output uniform 3 to 9 tokens: 8 requests, 333c6a49ff05c73d
    x2 Azure trace azure.csv: 2 requests, 36dc37cab2d0d5cf
    x1 Mooncake trace mooncake.jsonl: 2 requests, 458328cb2883f94a
    x0.5 BurstGPT trace burst.csv: 1 requests, 01eca977a9ce9acb
    x1 JSONL trace own.jsonl: 3 requests, 4acd3d5c3a8dcffa
    "#);
}

#[test]
fn no_point_of_any_kind_begins_as_another_or_as_a_warm_up() {
    let folder = data_folder();
    for (kind, level) in EVERY_KIND {
        let mut seen: HashSet<String> = HashSet::new();
        for seed in 0..6 {
            let plan = plan_of(kind, level, folder.path(), &|spec| spec.seed = Seed(seed));
            // Within a point beginnings may be shared, where that is what the workload is about.
            let beginnings: HashSet<String> = bodies(&plan)
                .iter()
                .map(|body| {
                    let said = words(first_user_text(body));
                    said[..said.len().min(6)].join(" ")
                })
                .collect();
            for beginning in beginnings {
                assert!(seen.insert(beginning.clone()), "{kind}: {beginning}");
            }
        }
    }
}

#[test]
fn bodies_written_late_are_those_written_early() {
    let folder = data_folder();
    for (kind, level) in EVERY_KIND {
        let plan = plan_of(kind, level, folder.path(), &|_| {});
        let workload: Workload = serde_json::from_str(kind).expect(kind);
        let spec = PointSpec {
            data_dir: Some(folder.path()),
            level: level.parse().expect("level"),
            length: PointLength {
                min_requests: 1,
                max_requests: 20,
                seconds: 2,
            },
            ..spec(&workload, 42)
        };
        let late = plan_with(&spec, 0).expect("a plan");
        assert!(
            late.sessions
                .iter()
                .flat_map(|it| &it.turns)
                .all(|turn| matches!(turn.body, Body::Later { .. }))
        );
        assert_eq!(digest(&plan), digest(&late), "{kind}");
    }
}

#[test]
fn a_share_of_the_requests_begins_alike_in_families() {
    let kind = EVERY_KIND[4].0;
    let plan = plan_of(kind, "100", Path::new("/"), &|spec| {
        spec.length = PointLength {
            min_requests: 400,
            max_requests: 400,
            seconds: 4,
        };
    });
    let mut families: std::collections::HashMap<String, usize> = Default::default();
    for session in &plan.sessions {
        let body: Value = serde_json::from_slice(&session.turns[0].body.bytes()).expect("json");
        let text = words(first_user_text(&body)).join(" ");
        let text = words(&text);
        assert_eq!((text.len(), session.turns[0].input_tokens), (49, 49));
        *families.entry(text[..40].join(" ")).or_default() += 1;
    }
    let sizes: Vec<usize> = families
        .values()
        .copied()
        .filter(|size| 1 < *size)
        .collect();
    let shared: usize = sizes.iter().sum();
    assert_eq!(sizes.len(), 3, "{sizes:?}");
    assert!((250..350).contains(&shared), "{shared} of 400");
    // The warm-up has none of them.
    let warm = bodies(&PointPlan {
        sessions: Vec::new(),
        ..plan
    });
    assert!(
        warm.iter()
            .all(|body| !families.contains_key(&words(first_user_text(body))[..40].join(" ")))
    );
}

#[test]
fn rows_used_again_are_counted_and_only_where_that_is_allowed() {
    let folder = data_folder();
    let length = |spec: &mut PointSpec<'_>| {
        spec.length = PointLength {
            min_requests: 10,
            max_requests: 10,
            seconds: 1,
        };
    };
    for (kind, unique) in [(EVERY_KIND[6].0, 3), (EVERY_KIND[7].0, 3)] {
        let plan = plan_of(kind, "inf", folder.path(), &length);
        let rows = plan.made.rows.clone().expect("rows");
        assert_eq!(
            (rows.usable, rows.used, rows.repeats),
            (unique, 3, 7),
            "{kind}"
        );
        assert_eq!(plan.requests(), 10);
        let refusing: Workload =
            serde_json::from_str(&kind.replace(",\"repeats\":true", "")).expect(kind);
        let mut spec = PointSpec {
            data_dir: Some(folder.path()),
            level: Level::Inf,
            ..spec(&refusing, 1)
        };
        length(&mut spec);
        let error = plan_point(&spec).expect_err("too few").to_string();
        assert!(
            error.contains("has 3 ") && error.contains("needs"),
            "{error}"
        );
    }
}

#[test]
fn what_is_left_of_conversations_is_told() {
    let folder = data_folder();
    let rows = |kind: &str| {
        plan_of(kind, "inf", folder.path(), &|spec| {
            spec.length.max_requests = 3
        })
        .made
        .rows
        .expect("rows")
    };
    // One conversation of two turns, of which the second is not used.
    assert_eq!(rows(EVERY_KIND[6].0).turns_left_out, 1);
}

#[test]
fn real_answers_stand_in_the_history_and_leave_the_questions_as_they_are() {
    let folder = data_folder();
    let (kind, level) = EVERY_KIND[1];
    let plan = plan_of(kind, level, folder.path(), &|_| {});
    assert!(plan.made.real_answers && plan.needs_answers());
    let session = plan
        .sessions
        .iter()
        .find(|it| 2 < it.turns.len())
        .expect("three turns");
    assert!(!session.turns[0].body.needs_answers() && session.turns[1].body.needs_answers());
    let said = |answers: &[&str]| {
        let body = session.turns[2].body.bytes_after(answers);
        let body: Value = serde_json::from_slice(&body).expect("json");
        let messages = body["messages"].as_array().expect("messages").clone();
        messages
            .iter()
            .map(|it| it["content"].as_str().expect("text").to_owned())
            .collect::<Vec<_>>()
    };
    let (own, real) = (said(&[]), said(&["yes \"indeed\"\n", "no"]));
    assert_eq!([&real[1], &real[3]], ["yes \"indeed\"\n", "no"]);
    assert_eq!([&own[0], &own[2], &own[4]], [&real[0], &real[2], &real[4]]);
    let usual = plan_of(EVERY_KIND[0].0, level, folder.path(), &|_| {});
    assert!(!usual.needs_answers() && !usual.made.real_answers);
    assert_eq!(
        usual.sessions[0].turns[0].body,
        plan.sessions[0].turns[0].body
    );
}

#[test]
fn time_bounds_a_point_in_each_discipline() {
    let folder = data_folder();
    let two = |level: &str, kind: &str| {
        plan_of(kind, level, folder.path(), &|spec| {
            spec.duration = Some(Duration::from_secs(2));
            spec.length = PointLength {
                min_requests: 1,
                max_requests: 500,
                seconds: 0,
            };
        })
    };
    let synthetic = EVERY_KIND[2].0;
    let rate = two("50", synthetic);
    assert!((60..140).contains(&rate.requests()) && rate.until.is_none());
    assert!(
        rate.sessions
            .iter()
            .all(|it| it.start < Nanos::from_millis(2000))
    );
    let closed = two("c=3", synthetic);
    assert_eq!(
        (closed.requests(), closed.until),
        (500, Some(Nanos::from_millis(2000)))
    );
    // A file gives what it has.
    let file = EVERY_KIND[5].0.replace(",\"repeats\":true", "");
    assert_eq!(two("c=3", &file).sessions.len(), 3);
    let prompts = EVERY_KIND[7].0.replace(",\"repeats\":true", "");
    assert_eq!(two("inf", &prompts).sessions.len(), 3);
}

#[test]
fn time_in_which_nothing_is_due_is_refused() {
    let workload: Workload = serde_json::from_str(EVERY_KIND[2].0).expect("a workload");
    let asked = PointSpec {
        level: "0.0001".parse().expect("level"),
        duration: Some(Duration::from_secs(2)),
        ..spec(&workload, 42)
    };
    let error = plan_point(&asked).expect_err("nothing is due");
    assert!(
        error
            .to_string()
            .contains("within 2 s at 0.0001 requests a second"),
        "{error}"
    );
}

#[test]
fn a_hundred_thousand_long_prompts_are_planned_in_little_memory() {
    let workload: Workload = serde_json::from_str(
        r#"{"kind":"synthetic","input":{"kind":"fixed","tokens":1024},"output":{"kind":"fixed","tokens":128}}"#,
    )
    .expect("a workload");
    let length = PointLength {
        min_requests: 100_000,
        max_requests: 100_000,
        seconds: 1,
    };
    let before = resident();
    let plan = plan_point(&PointSpec {
        length,
        ..spec(&workload, 1)
    })
    .expect("a plan");
    let grown = resident().saturating_sub(before);
    assert_eq!(plan.requests(), 100_000);
    assert!(grown < 80 << 20, "{} MiB", grown >> 20);
    let body = plan.sessions[99_999].turns[0].body.bytes();
    assert!(1024 * 4 < body.len());
}

/// Bytes of this process in memory.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = status
        .split_whitespace()
        .nth(1)
        .and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}

#[test]
fn lengths_are_hit_by_a_tokenizer() {
    let folder = data_folder();
    let path = crate::tokens::tests::tokenizer(folder.path());
    let counter: &'static Counter =
        Box::leak(Box::new(Counter::local(&path).expect("a tokenizer")));
    for api in [Api::OpenAiChat, Api::OpenAiCompletions] {
        for (kind, level) in EVERY_KIND {
            let fitted = plan_of(kind, level, folder.path(), &|spec| {
                (spec.counter, spec.api) = (Some(counter), api);
            });
            let meant = plan_of(kind, level, folder.path(), &|spec| spec.api = api);
            assert_eq!(
                fitted.made.length_source,
                crate::plan::LengthSource::Tokenizer
            );
            let given = kind.contains("chats.json")
                || kind.contains("prompts.jsonl")
                || kind.contains("own.jsonl");
            for (fitted, meant) in fitted.sessions.iter().zip(&meant.sessions) {
                for (turn, meant) in fitted.turns.iter().zip(&meant.turns) {
                    let counted = counted(counter, api, turn);
                    assert!(
                        counted.abs_diff(turn.input_tokens) <= 1,
                        "{kind}: {counted}, not {}",
                        turn.input_tokens
                    );
                    if !given {
                        assert!(
                            counted.abs_diff(meant.input_tokens) <= 1,
                            "{kind}: {counted}, not {}",
                            meant.input_tokens
                        );
                    }
                }
            }
        }
    }
}

/// Tokens of what a request says.
fn counted(counter: &Counter, api: Api, turn: &PlannedRequest) -> u32 {
    let body: Value = serde_json::from_slice(&turn.body.bytes()).expect("json");
    let texts: Vec<String> = match api {
        Api::OpenAiChat => {
            let messages = body["messages"].as_array().expect("messages").iter();
            messages
                .map(|it| it["content"].as_str().expect("text").to_owned())
                .collect()
        }
        _ => vec![body["prompt"].as_str().expect("a prompt").to_owned()],
    };
    counter.count(&texts).expect("counts").iter().sum()
}

#[test]
fn a_guess_stays_what_was_meant_in_as_many_words_as_it_takes() {
    let folder = data_folder();
    let counter: &'static Counter = Box::leak(Box::new(Counter::Words { per_word: 2.0 }));
    let plan = plan_of(EVERY_KIND[2].0, "inf", folder.path(), &|spec| {
        spec.counter = Some(counter)
    });
    assert_eq!(
        plan.made.length_source,
        crate::plan::LengthSource::CalibratedEstimate
    );
    for session in &plan.sessions {
        let body: Value = serde_json::from_slice(&session.turns[0].body.bytes()).expect("json");
        let words = words(first_user_text(&body)).len() as u32;
        assert!((words * 2).abs_diff(session.turns[0].input_tokens) <= 1);
    }
}
