//! Traces: each format, the window, the speed, what rows share.

use std::fs;
use std::time::Duration;

use measure::arrival::Arrival;
use measure::study::{Api, PointLength};
use measure::units::Seed;
use measure::workload::Workload;

use super::super::plan_point;
use super::*;
use crate::dialect::Quirks;
use crate::plan::PointPlan;

const AZURE: &str = "TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 23:59:59.9799600,30,10
2023-11-17 00:00:00.4799600,20,8
2023-11-17 00:00:02.9799600,10,0
2023-11-17 00:00:03.9799600,12,4
";

const BURST: &str = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,47,18,65,Conversation log
45.5,GPT-4,24,65,89,API log
";

const MOONCAKE: &str = r#"{"timestamp": 0, "input_length": 1100, "output_length": 5, "hash_ids": [0, 1, 2]}
{"timestamp": 2500, "input_length": 1030, "output_length": 4, "hash_ids": [0, 1, 3]}
{"timestamp": 2500, "input_length": 600, "output_length": 3, "hash_ids": [4, 5]}
"#;

const OWN: &str = r#"{"at_ms": 1000, "input_tokens": 10, "output_tokens": 4, "session": "a"}

{"at_ms": 1200.5, "prompt": "how are you", "output_tokens": 3}
{"at_ms": 1500, "messages": [{"role": "system", "content": "be short"}, {"role": "user", "content": "why"}], "output_tokens": 9}
{"at_ms": 3000, "input_tokens": 20, "output_tokens": 4, "session": "a", "note": "unknown fields are left alone"}
"#;

struct Try<'a> {
    format: TraceFormat,
    text: &'a str,
    level: &'a str,
    window: (u64, Option<u64>),
    max_context: Option<u32>,
    length: PointLength,
    duration: Option<Duration>,
}

fn trying(format: TraceFormat, text: &str) -> Try<'_> {
    Try {
        format,
        text,
        level: "x1",
        window: (0, None),
        max_context: None,
        length: PointLength {
            min_requests: 1,
            max_requests: 100,
            seconds: u32::MAX,
        },
        duration: None,
    }
}

impl Try<'_> {
    fn plan(self) -> Result<PointPlan, String> {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("t"), self.text).expect("written");
        let workload = Workload::Trace(Trace {
            file: "t".into(),
            format: self.format,
            start_ms: self.window.0,
            length_ms: self.window.1,
            max_context: self.max_context,
        });
        let spec = PointSpec {
            workload: &workload,
            data_dir: Some(folder.path()),
            arrival: Arrival::Poisson,
            level: self.level.parse().expect("level"),
            length: self.length,
            duration: self.duration,
            seed: Seed(1),
            warmup: 0,
            api: Api::OpenAiCompletions,
            model: "m",
            quirks: Quirks::default(),
            counter: None,
            drain: Duration::ZERO,
            request_id_prefix: "p",
        };
        plan_point(&spec).map_err(|error| error.to_string())
    }

    /// `at_ms input output` of each session's first turn.
    #[track_caller]
    fn gives(self, expected: &[(u64, u32, u32)]) {
        let plan = self.plan().expect("a plan");
        let got: Vec<(u64, u32, u32)> = plan.sessions.iter().map(first).collect();
        assert_eq!(got, expected);
    }

    #[track_caller]
    fn fails(self, parts: &[&str]) {
        let error = self.plan().expect_err("no plan");
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
}

fn first(session: &crate::PlannedSession) -> (u64, u32, u32) {
    let turn = &session.turns[0];
    let millis = session.start.0 / 1_000_000;
    (millis, turn.input_tokens, turn.output_tokens)
}

fn prompt(plan: &PointPlan, session: usize, turn: usize) -> String {
    let body = plan.sessions[session].turns[turn].body.bytes();
    let body: serde_json::Value = serde_json::from_slice(&body).expect("json");
    body["prompt"].as_str().expect("a prompt").to_owned()
}

#[test]
fn an_azure_trace_is_replayed_over_midnight_without_rows_that_failed() {
    let trace = trying(TraceFormat::Azure, AZURE);
    let plan = trace.plan().expect("a plan");
    let rows = plan.made.rows.as_ref().expect("rows");
    assert_eq!((rows.used, &rows.dropped["no_output"]), (3, &1));
    trying(TraceFormat::Azure, AZURE).gives(&[(0, 30, 10), (500, 20, 8), (4000, 12, 4)]);
    let zoned = AZURE
        .replace("9799600,", "979960+00:00,")
        .replace("11-16 ", "11-16T");
    trying(TraceFormat::Azure, &zoned).gives(&[(0, 30, 10), (500, 20, 8), (4000, 12, 4)]);
}

#[test]
fn speed_window_and_context_choose_what_is_replayed() {
    let base = || trying(TraceFormat::Azure, AZURE);
    Try {
        level: "x4",
        ..base()
    }
    .gives(&[(0, 30, 10), (125, 20, 8), (1000, 12, 4)]);
    Try {
        level: "x0.5",
        ..base()
    }
    .gives(&[(0, 30, 10), (1000, 20, 8), (8000, 12, 4)]);
    Try {
        window: (400, None),
        ..base()
    }
    .gives(&[(100, 20, 8), (3600, 12, 4)]);
    Try {
        window: (400, Some(3000)),
        ..base()
    }
    .gives(&[(100, 20, 8)]);
    Try {
        window: (400, Some(3000)),
        level: "x0.1",
        ..base()
    }
    .gives(&[(1000, 20, 8)]);
    Try {
        max_context: Some(30),
        ..base()
    }
    .gives(&[(500, 20, 8), (4000, 12, 4)]);
    // Time counts after the speed-up.
    let duration = Some(Duration::from_secs(1));
    Try { duration, ..base() }.gives(&[(0, 30, 10), (500, 20, 8)]);
    Try {
        duration,
        level: "x5",
        ..base()
    }
    .gives(&[(0, 30, 10), (100, 20, 8), (800, 12, 4)]);
    // A study's point has at least so many, at most so many, and between them what comes in its time.
    let length = |min_requests, max_requests| PointLength {
        min_requests,
        max_requests,
        seconds: 1,
    };
    Try {
        length: length(1, 9),
        ..base()
    }
    .gives(&[(0, 30, 10), (500, 20, 8)]);
    Try {
        length: length(3, 9),
        ..base()
    }
    .gives(&[(0, 30, 10), (500, 20, 8), (4000, 12, 4)]);
    Try {
        length: length(1, 1),
        ..base()
    }
    .gives(&[(0, 30, 10)]);
}

#[test]
fn a_trace_may_give_the_requests_alone() {
    let base = || trying(TraceFormat::Azure, AZURE);
    let length = PointLength {
        min_requests: 2,
        max_requests: 2,
        seconds: 0,
    };
    Try {
        level: "inf",
        length,
        ..base()
    }
    .gives(&[(0, 30, 10), (0, 20, 8)]);
    let plan = Try {
        level: "1000",
        length,
        ..base()
    }
    .plan()
    .expect("a plan");
    assert!(plan.sessions[1].start < Nanos::from_millis(100));
    let length = PointLength {
        min_requests: 4,
        max_requests: 4,
        seconds: 0,
    };
    Try {
        level: "5",
        length,
        ..base()
    }
    .fails(&[
        "has 3 usable requests",
        "needs 4",
        "1 no_output",
        "fewer requests",
    ]);
    Try {
        level: "x1",
        length,
        ..base()
    }
    .fails(&["has 3 usable requests", "needs 4"]);
    // Where time is the bound it is what it is.
    let duration = Some(Duration::from_secs(9));
    let length = PointLength {
        min_requests: 1,
        max_requests: 100,
        seconds: 0,
    };
    Try {
        level: "c=2",
        length,
        duration,
        ..base()
    }
    .gives(&[(0, 30, 10), (0, 20, 8), (0, 12, 4)]);
}

#[test]
fn a_burst_gpt_trace_counts_from_its_first_row() {
    trying(TraceFormat::BurstGpt, BURST).gives(&[(0, 47, 18), (40_500, 24, 65)]);
    let with_sessions = "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type
1,7,0.5,GPT-4,10,5,15,API log\n3,7,0.5,GPT-4,30,5,35,API log\n4,8,1,GPT-4,9,9,18,API log";
    let plan = trying(TraceFormat::BurstGpt, with_sessions)
        .plan()
        .expect("a plan");
    assert_eq!(plan.sessions.len(), 2);
    assert_eq!(
        plan.sessions[0].turns[1].not_before,
        Nanos::from_millis(2000)
    );
}

#[test]
fn mooncake_blocks_of_one_id_are_one_text() {
    trying(TraceFormat::Mooncake, MOONCAKE).gives(&[(0, 1100, 5), (2500, 1030, 4), (2500, 600, 3)]);
    let plan = trying(TraceFormat::Mooncake, MOONCAKE)
        .plan()
        .expect("a plan");
    let prompts = [0, 1, 2].map(|session| prompt(&plan, session, 0));
    let words: Vec<Vec<&str>> = prompts
        .iter()
        .map(|text| text.split(' ').collect())
        .collect();
    assert_eq!(words[0][..1024], words[1][..1024], "blocks 0 and 1");
    assert_ne!(words[0][1024..1030], words[1][1024..1030], "blocks 2 and 3");
    assert_ne!(words[0][..6], words[2][..6]);
    assert_eq!(
        [words[0].len(), words[1].len(), words[2].len()],
        [1100, 1030, 600]
    );
}

#[test]
fn sessions_of_ones_own_trace_keep_their_order_and_their_history() {
    let plan = trying(TraceFormat::Jsonl, OWN).plan().expect("a plan");
    assert_eq!(
        plan.sessions
            .iter()
            .map(|it| it.turns.len())
            .collect::<Vec<_>>(),
        [2, 1, 1]
    );
    let [one, two] = [0, 1].map(|turn| prompt(&plan, 0, turn));
    assert!(
        two.starts_with(&one) && two.split(' ').count() == 20,
        "{one} / {two}"
    );
    let later = &plan.sessions[0].turns[1];
    assert_eq!(
        (later.input_tokens, later.not_before),
        (20, Nanos::from_millis(2000))
    );
    assert!(prompt(&plan, 1, 0).ends_with("how are you"));
    assert!(prompt(&plan, 2, 0).ends_with("be short why"));
    assert_eq!(first(&plan.sessions[1]).0, 200);
}

fn azure(text: &str) -> Try<'_> {
    trying(TraceFormat::Azure, text)
}

#[test]
fn a_wrong_line_is_named_with_its_mend() {
    azure("a,b\n1,2").fails(&[
        "line 1",
        "no column \"timestamp\"",
        "begins with its column names",
    ]);
    let head = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
    for (line, why) in [
        (
            "2023-11-16 18:17:03,x,10",
            "\"x\" for its input tokens; write a whole number",
        ),
        (
            "2023-11-16 18:17:03,5",
            "has no output tokens; complete the line",
        ),
        ("yesterday,5,5", "write it as 2023-11-16"),
        ("2023-13-16 18:17:03,5,5", "write it as 2023-11-16"),
        ("2023-11-16 24:17:03,5,5", "write it as 2023-11-16"),
    ] {
        azure(&format!("{head}2023-11-16 18:17:03,1,1\n{line}\n")).fails(&["line 3", why]);
    }
    let unsorted = format!("{head}2023-11-16 18:17:03,1,1\n2023-11-16 18:17:02,1,1\n");
    azure(&unsorted).fails(&["line 3", "sort the file by time"]);
    trying(TraceFormat::Mooncake, "{\"timestamp\": 1}").fails(&[
        "line 1",
        "input_length",
        "write {",
    ]);
    trying(
        TraceFormat::Jsonl,
        "{\"at_ms\": -1, \"input_tokens\": 1, \"output_tokens\": 1}",
    )
    .fails(&["line 1", "milliseconds"]);
    trying(TraceFormat::Jsonl, "{\"at_ms\": 1, \"output_tokens\": 1}")
        .fails(&["line 1", "neither input_tokens nor a prompt"]);
    trying(
        TraceFormat::BurstGpt,
        BURST.replace("45.5", "soon").as_str(),
    )
    .fails(&["line 3", "seconds since"]);
    trying(TraceFormat::Azure, "").fails(&["has 0 usable requests", "needs 1"]);
}

#[test]
fn only_traces_have_a_speed() {
    let workload = Workload::Synthetic {
        input: measure::workload::Lengths::Fixed { tokens: 1 },
        output: measure::workload::Lengths::Fixed { tokens: 1 },
    };
    let spec = PointSpec {
        workload: &workload,
        data_dir: None,
        arrival: Arrival::Poisson,
        level: "x2".parse().expect("level"),
        length: PointLength {
            min_requests: 1,
            max_requests: 1,
            seconds: 1,
        },
        duration: None,
        seed: Seed(1),
        warmup: 0,
        api: Api::OpenAiChat,
        model: "m",
        quirks: Quirks::default(),
        counter: None,
        drain: Duration::ZERO,
        request_id_prefix: "p",
    };
    let error = plan_point(&spec).expect_err("no trace").to_string();
    assert!(error.contains("only a trace has a speed"), "{error}");
}
