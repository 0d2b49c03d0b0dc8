//! Plans: the same for ever, different for every seed.

use std::collections::HashSet;
use std::fs;

use measure::summary::Discipline;
use measure::workload::{Answers, Lengths, ShareGptFilter};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

mod kinds; // every kind of workload

const LENGTH: PointLength = PointLength {
    min_requests: 30,
    max_requests: 60,
    seconds: 5,
};

fn sessions() -> Workload {
    Workload::ShareGptShaped {
        scale: 0.25,
        max_turns: 4,
        think_ms: 500,
        max_context: 2000,
        answers: Answers::DataSet,
    }
}

fn spec(workload: &Workload, seed: u64) -> PointSpec<'_> {
    PointSpec {
        workload,
        data_dir: None,
        arrival: Arrival::Poisson,
        level: "4".parse().expect("level"),
        length: LENGTH,
        duration: None,
        seed: Seed(seed),
        warmup: 3,
        api: Api::OpenAiChat,
        model: "m",
        quirks: Quirks::default(),
        counter: None,
        drain: Duration::from_secs(30),
        request_id_prefix: "p",
    }
}

fn plan(workload: &Workload, seed: u64) -> PointPlan {
    plan_point(&spec(workload, seed)).expect("a plan")
}

fn bodies(plan: &PointPlan) -> Vec<Value> {
    let requests = plan
        .sessions
        .iter()
        .flat_map(|session| &session.turns)
        .chain(&plan.warmup);
    requests
        .map(|request| serde_json::from_slice(&request.body.bytes()).expect("json"))
        .collect()
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

fn first_user_text(body: &Value) -> &str {
    body["messages"][0]["content"].as_str().expect("text")
}

#[test]
fn the_same_spec_gives_the_same_bytes_and_starts_for_ever() {
    let plan = plan(&sessions(), 42);
    // FNV-1a over all starts and bodies: a change here breaks the promise of every stored seed.
    let requests = plan.sessions.iter().flat_map(|session| {
        session
            .turns
            .iter()
            .map(|turn| (session.start, turn.body.bytes()))
    });
    let warmup = plan
        .warmup
        .iter()
        .map(|request| (Nanos::ZERO, request.body.bytes()));
    let hash = requests
        .chain(warmup)
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, (start, body)| {
            let bytes = start
                .0
                .to_le_bytes()
                .into_iter()
                .chain(body.iter().copied());
            bytes.fold(hash, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            })
        });
    assert_eq!(format!("{hash:016x}"), "c68fd4f1cc087633");
}

#[test]
fn a_body_says_all_that_matters() {
    let workload = Workload::Synthetic {
        input: Lengths::Fixed { tokens: 3 },
        output: Lengths::Fixed { tokens: 5 },
    };
    let plan = plan(&workload, 1);
    let mut body = bodies(&plan).remove(0);
    assert_eq!(words(first_user_text(&body)).len(), 3);
    body["messages"][0]["content"] = "...".into();
    let expected = json!({
        "model": "m", "messages": [{"role": "user", "content": "..."}], "max_tokens": 5, "temperature": 0.0, "seed": 0,
        "ignore_eos": true, "stream": true, "stream_options": {"include_usage": true},
    });
    assert_eq!(body, expected);
}

#[test]
fn completions_get_one_prompt_of_as_many_words() {
    let workload = sessions();
    let plan = plan_point(&PointSpec {
        api: Api::OpenAiCompletions,
        ..spec(&workload, 1)
    })
    .expect("a plan");
    for request in plan.sessions.iter().flat_map(|session| &session.turns) {
        let body: Value = serde_json::from_slice(&request.body.bytes()).expect("json");
        assert_eq!(
            words(body["prompt"].as_str().expect("prompt")).len(),
            request.input_tokens as usize
        );
    }
}

#[test]
fn each_turn_repeats_the_conversation_before_it() {
    let plan = plan(&sessions(), 7);
    let mut later = 0;
    for session in &plan.sessions {
        let bodies: Vec<Value> = session
            .turns
            .iter()
            .map(|turn| serde_json::from_slice(&turn.body.bytes()).expect("json"))
            .collect();
        for (turn, body) in bodies.iter().enumerate() {
            let messages = body["messages"].as_array().expect("messages");
            assert_eq!(messages.len(), 2 * turn + 1);
            let all: usize = messages
                .iter()
                .map(|message| words(message["content"].as_str().expect("text")).len())
                .sum();
            assert_eq!(all, session.turns[turn].input_tokens as usize);
            if turn > 0 {
                later += 1;
                assert_eq!(
                    messages[..2 * turn - 1],
                    *bodies[turn - 1]["messages"].as_array().expect("messages")
                );
                assert_eq!(session.turns[turn].think, Nanos::from_millis(500));
            }
        }
    }
    assert!(later > 5, "{later} later turns");
}

#[test]
fn no_two_conversations_begin_alike_be_it_within_a_point_between_points_or_in_the_warm_up() {
    let workload = Workload::Synthetic {
        input: Lengths::Fixed { tokens: 40 },
        output: Lengths::Fixed { tokens: 5 },
    };
    let mut seen = HashSet::new();
    for seed in 0..20 {
        for body in bodies(&plan(&workload, seed)) {
            let beginning = words(first_user_text(&body))[..6].join(" ");
            assert!(seen.insert(beginning), "{}", first_user_text(&body));
        }
    }
}

#[test]
fn request_ids_are_unique() {
    let plan = plan(&sessions(), 3);
    let requests = plan
        .sessions
        .iter()
        .flat_map(|session| &session.turns)
        .chain(&plan.warmup);
    let ids: Vec<String> = requests
        .map(|request| request.request_id.to_string())
        .collect();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
    assert_eq!(ids[0], "p-0-0");
}

#[test]
fn each_level_has_its_discipline_and_its_starts() {
    let workload = sessions();
    let at = |level: &str| {
        plan_point(&PointSpec {
            level: level.parse().expect("level"),
            ..spec(&workload, 1)
        })
        .expect("a plan")
    };
    let (rate, inf, closed) = (at("4"), at("inf"), at("c=5"));
    assert_eq!(
        (rate.discipline, rate.concurrency),
        (Discipline::OpenLoop, None)
    );
    assert!(
        rate.sessions.is_sorted_by_key(|session| session.start)
            && Nanos::ZERO < rate.sessions[0].start
    );
    assert_eq!(
        (inf.discipline, inf.concurrency),
        (Discipline::AllAtOnce, None)
    );
    assert!(
        inf.sessions
            .iter()
            .all(|session| session.start == Nanos::ZERO)
    );
    assert_eq!(
        (closed.discipline, closed.concurrency),
        (Discipline::ClosedLoop, Some(5))
    );
}

proptest! {
    #[test]
    fn a_point_keeps_its_bounds(seed in any::<u64>(), rate in 1u32..30, least in 1u32..50, more in 0u32..50, turns in 1u32..6) {
        let workload = Workload::ShareGptShaped { scale: 0.05, max_turns: turns, think_ms: 0, max_context: 500, answers: Answers::DataSet };
        let length = PointLength { min_requests: least, max_requests: least + more, seconds: 3 };
        let level = rate.to_string().parse().expect("level");
        let plan = plan_point(&PointSpec { level, length, ..spec(&workload, seed) }).expect("a plan");
        let requests = plan.requests() as u32;
        // Sessions are whole, so that the last one may end short of the least or, when it is alone, beyond the most.
        prop_assert!(least.saturating_sub(turns) <= requests, "{requests} of at least {least}");
        prop_assert!(requests <= (least + more).max(turns), "{requests} of at most {}", least + more);
        prop_assert!(plan.sessions.iter().all(|session| !session.turns.is_empty()));
    }
}

fn said(from: &str, words: usize) -> Value {
    // 1.3 tokens a word, rounded up.
    json!({"from": from, "value": vec!["so"; words].join(" ")})
}

fn talk(prompt: usize, output: usize) -> Value {
    json!({"id": "x", "conversations": [said("human", prompt), said("gpt", output)]})
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(name: &str, content: &str) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        fs::write(folder.path().join(name), content).expect("written");
        Self(folder)
    }

    fn plan(&self, file: &str, length: PointLength, seed: u64) -> Result<PointPlan, PromptError> {
        let workload = Workload::ShareGptFile {
            file: file.into(),
            max_turns: 3,
            think_ms: 100,
            filter: ShareGptFilter::default(),
            output_tokens: None,
            answers: Answers::DataSet,
            repeats: false,
        };
        let level = "inf".parse().expect("level");
        plan_point(&PointSpec {
            data_dir: Some(self.0.path()),
            level,
            length,
            ..spec(&workload, seed)
        })
    }
}

const FEW: PointLength = PointLength {
    min_requests: 3,
    max_requests: 10,
    seconds: 1,
};

#[test]
fn rows_are_used_by_the_filter_and_never_twice() {
    let rows = json!([
        {"id": "empty", "conversations": []}, {"id": "nokey"}, null, "text", talk(3, 50), talk(50, 3), talk(1, 50),
        {"id": "gptfirst", "conversations": [said("gpt", 50), said("human", 50)]},
        {"id": "user", "conversations": [said("user", 50), said("assistant", 50), said("user", 9), said("assistant", 9), said("user", 9)]},
        talk(900, 50), talk(700, 900), talk(20, 20),
    ]);
    let folder = Folder::with("s.json", &rows.to_string());
    let plan = folder
        .plan(
            "s.json",
            PointLength {
                min_requests: 5,
                max_requests: 5,
                ..FEW
            },
            1,
        )
        .expect("a plan");
    // 3 words are 4 tokens, so that the two short rows are just long enough; one row has two turns.
    assert_eq!((plan.sessions.len(), plan.requests()), (4, 5));
    let texts: HashSet<Vec<u8>> = plan
        .sessions
        .iter()
        .map(|session| session.turns[0].body.bytes().to_vec())
        .collect();
    assert_eq!(texts.len(), 4);
    let error = folder
        .plan(
            "s.json",
            PointLength {
                min_requests: 9,
                ..FEW
            },
            1,
        )
        .expect_err("too few")
        .to_string();
    assert!(
        error.contains("4 usable conversations with 5 requests")
            && error.contains("2 bad_row")
            && error.contains("1 first_not_human"),
        "{error}"
    );
}

#[test]
fn rows_are_chosen_by_the_seed_and_begin_with_words_of_their_own() {
    let rows: Vec<Value> = (0..200)
        .map(|row| talk(20 + row % 60, 20 + row / 60))
        .collect();
    let folder = Folder::with("s.json", &json!(rows).to_string());
    let [one, again, other] =
        [1, 1, 2].map(|seed| folder.plan("s.json", FEW, seed).expect("a plan"));
    assert_eq!(one, again);
    assert_ne!(one.sessions, other.sessions);
    let beginnings: HashSet<String> = [&one, &other]
        .iter()
        .flat_map(|plan| bodies(plan))
        .map(|body| words(first_user_text(&body))[..6].join(" "))
        .collect();
    assert_eq!(beginnings.len(), bodies(&one).len() + bodies(&other).len());
}

#[track_caller]
fn refused(content: &str, expected: &str) {
    let folder = Folder::with("s.json", content);
    let error = folder
        .plan("s.json", FEW, 1)
        .expect_err("no plan")
        .to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_wrong_file_is_named_with_the_place_and_the_mend() {
    refused(
        "",
        "s.json is not in ShareGPT's form (EOF while parsing a value at line 1 column 0)",
    );
    refused(
        "{\"a\": 1}",
        "invalid type: map, expected an array of conversations",
    );
    refused("[{\"id\": 1},\n oops]", "at line 2 column 2");
    refused("{\"id\":1}\n{\"id\":2}\n", "it must be one JSON array");
    refused(
        "[]",
        "has 0 usable conversations with 0 requests but the point needs at least 1 of them and 10 requests (none was dropped)",
    );
}

#[test]
fn only_plain_names_within_the_data_folder_are_read() {
    let folder = Folder::with("s.json", "[]");
    for name in ["../s.json", "/etc/passwd", "a/b", "..", "", "a\\b"] {
        assert!(
            matches!(
                folder.plan(name, FEW, 1),
                Err(PromptError::NotAFileName { .. })
            ),
            "{name}"
        );
    }
    let error = folder
        .plan("none.json", FEW, 1)
        .expect_err("missing")
        .to_string();
    assert!(error.contains("none.json cannot be read"), "{error}");
}
