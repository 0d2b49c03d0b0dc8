use proptest::prelude::*;

use super::*;

fn shaped(scale: f64, max_turns: u32) -> Workload {
    Workload::ShareGptShaped {
        scale,
        max_turns,
        think_ms: 100,
        max_context: 100_000,
        answers: Answers::DataSet,
    }
}

fn synthetic(input: Lengths, output: Lengths) -> Workload {
    Workload::Synthetic { input, output }
}

fn file() -> Workload {
    let filter = ShareGptFilter::default();
    Workload::ShareGptFile {
        file: "chats.json".to_owned(),
        max_turns: 3,
        think_ms: 0,
        filter,
        output_tokens: None,
        answers: Answers::DataSet,
        repeats: false,
    }
}

/// A quantile of whole numbers, near enough for comparing shapes.
fn at(mut values: Vec<u32>, p: usize) -> f64 {
    values.sort_unstable();
    f64::from(values[(values.len() - 1) * p / 100])
}

#[track_caller]
fn near(got: f64, expected: f64, within: f64) {
    assert!(
        (got / expected - 1.0).abs() <= within,
        "{got}, not {expected}"
    );
}

#[test]
fn built_in_lengths_have_the_shape_of_sharegpt() {
    let sessions = shaped(1.0, 100).sessions(1, 20_000, 0).expect("sessions");
    let first: Vec<u32> = sessions.iter().map(|s| s[0].user).collect();
    near(at(first.clone(), 50), 57.0, 0.05);
    near(at(first, 95), 1072.0, 0.1);
    let answers: Vec<u32> = sessions.iter().flatten().map(|turn| turn.answer).collect();
    near(at(answers.clone(), 50), 415.0, 0.02);
    near(at(answers, 95), 920.0, 0.02);
    let later: Vec<u32> = sessions
        .iter()
        .flat_map(|s| &s[1..])
        .map(|turn| turn.user)
        .collect();
    near(at(later, 50), 25.0, 0.05);
    let turns: f64 = sessions.iter().map(|s| s.len() as f64).sum::<f64>() / 20_000.0;
    near(turns, 30_731.0 / 5_054.0, 0.05);
}

#[test]
fn the_scale_shortens_every_length() {
    let (whole, quarter) = (
        shaped(1.0, 5).sessions(3, 50, 0),
        shaped(0.25, 5).sessions(3, 50, 0),
    );
    for (long, short) in whole
        .expect("some")
        .iter()
        .flatten()
        .zip(quarter.expect("some").iter().flatten())
    {
        assert!(
            (f64::from(long.answer) * 0.25 - f64::from(short.answer)).abs() <= 0.7,
            "{long:?} {short:?}"
        );
    }
}

#[test]
fn limits_cut_sessions_and_do_not_shift_the_next_ones() {
    let long = shaped(0.25, 100).sessions(9, 200, 0).expect("some");
    let short = shaped(0.25, 3).sessions(9, 200, 0).expect("some");
    for (long, short) in long.iter().zip(&short) {
        assert_eq!(&long[..long.len().min(3)], short);
    }
}

#[test]
fn a_session_never_exceeds_its_context() {
    let workload = Workload::ShareGptShaped {
        scale: 1.0,
        max_turns: 20,
        think_ms: 0,
        max_context: 500,
        answers: Answers::DataSet,
    };
    let sessions = workload.sessions(5, 500, 0).expect("some");
    for session in &sessions {
        assert!(!session.is_empty());
        assert!(
            session
                .iter()
                .map(|turn| turn.user + turn.answer)
                .sum::<u32>()
                <= 500,
            "{session:?}"
        );
    }
}

#[test]
fn thinking_comes_before_later_turns() {
    let session = shaped(0.25, 5)
        .sessions(2, 20, 0)
        .expect("some")
        .into_iter()
        .find(|s| 1 < s.len())
        .expect("turns");
    assert_eq!(session[0].think, Nanos::ZERO);
    assert!(
        session[1..]
            .iter()
            .all(|turn| turn.think == Nanos::from_millis(100))
    );
}

#[test]
fn sessions_reach_both_counts() {
    let sessions = shaped(0.25, 5).sessions(1, 10, 200).expect("some");
    let requests: usize = sessions.iter().map(Vec::len).sum();
    assert!((200..205).contains(&requests) && 10 <= sessions.len());
    let singles = synthetic(Lengths::Fixed { tokens: 8 }, Lengths::Fixed { tokens: 4 })
        .sessions(1, 7, 3)
        .expect("some");
    assert_eq!(
        singles,
        vec![
            vec![TurnLengths {
                user: 8,
                answer: 4,
                think: Nanos::ZERO
            }];
            7
        ]
    );
    assert_eq!(file().sessions(1, 1, 1), None);
}

#[test]
fn a_seed_means_the_same_lengths_for_ever() {
    let sessions = shaped(0.25, 5).sessions(42, 4, 0).expect("some");
    let lengths: Vec<Vec<(u32, u32)>> = sessions
        .iter()
        .map(|s| s.iter().map(|t| (t.user, t.answer)).collect())
        .collect();
    insta::assert_snapshot!(format!("{lengths:?}"), @"[[(8, 246), (13, 169), (8, 27), (9, 47), (133, 115)], [(26, 109), (23, 31), (5, 230), (7, 197), (1, 131)], [(11, 132)], [(45, 55), (15, 102), (6, 174), (10, 39), (15, 41)]]");
    let log_normal = Lengths::LogNormal {
        median: 100,
        sigma: 1.0,
        max: 2000,
    };
    let drawn = synthetic(Lengths::Uniform { min: 10, max: 20 }, log_normal)
        .sessions(42, 6, 0)
        .expect("some");
    let lengths: Vec<(u32, u32)> = drawn.iter().map(|s| (s[0].user, s[0].answer)).collect();
    insta::assert_snapshot!(format!("{lengths:?}"), @"[(18, 62), (20, 169), (18, 125), (11, 131), (12, 449), (16, 282)]");
}

#[test]
fn log_normal_lengths_have_their_median_and_end() {
    let mut draws = Draws::new(1);
    let lengths = Lengths::LogNormal {
        median: 200,
        sigma: 0.7,
        max: 1000,
    };
    let drawn: Vec<u32> = (0..20_000).map(|_| lengths.draw(&mut draws)).collect();
    near(at(drawn.clone(), 50), 200.0, 0.02);
    near(at(drawn.clone(), 84), 200.0 * 0.7f64.exp(), 0.03);
    assert_eq!(drawn.into_iter().max(), Some(1000));
}

#[track_caller]
fn refuses(workload: Workload, field: &str, part: &str) {
    let error = workload.check().expect_err(field);
    assert_eq!(error.field, field);
    assert!(error.message.contains(part), "{error}");
}

#[test]
fn numbers_are_checked_at_their_fields() {
    let fine = Lengths::Fixed { tokens: 10 };
    for workload in [
        shaped(1.0, 1),
        file(),
        synthetic(fine.clone(), fine.clone()),
    ] {
        assert_eq!(workload.check(), Ok(()));
    }
    for scale in [0.0, -1.0, 1.1, f64::NAN, f64::INFINITY] {
        refuses(shaped(scale, 5), "scale", "above 0");
    }
    refuses(shaped(0.5, 0), "max_turns", "1 to 100");
    refuses(shaped(0.5, 101), "max_turns", "1 to 100");
    let context = Workload::ShareGptShaped {
        scale: 0.5,
        max_turns: 1,
        think_ms: 0,
        max_context: 1,
        answers: Answers::DataSet,
    };
    refuses(context, "max_context", "16 to");
    let patient = Workload::ShareGptShaped {
        scale: 0.5,
        max_turns: 1,
        think_ms: 600_001,
        max_context: 100,
        answers: Answers::DataSet,
    };
    refuses(patient, "think_ms", "at most");
    refuses(
        synthetic(Lengths::Fixed { tokens: 0 }, fine.clone()),
        "input",
        "1 to",
    );
    refuses(
        synthetic(fine.clone(), Lengths::Uniform { min: 9, max: 8 }),
        "output",
        "must not exceed",
    );
    let log_normal = |median, sigma| Lengths::LogNormal {
        median,
        sigma,
        max: 100,
    };
    refuses(
        synthetic(log_normal(101, 1.0), fine.clone()),
        "input",
        "must not exceed",
    );
    refuses(synthetic(log_normal(10, f64::NAN), fine), "input", "sigma");
}

#[test]
fn a_file_needs_a_name_and_a_filter_that_lets_rows_through() {
    let with = |file: &str, filter| Workload::ShareGptFile {
        file: file.to_owned(),
        max_turns: 1,
        think_ms: 0,
        filter,
        output_tokens: None,
        answers: Answers::DataSet,
        repeats: false,
    };
    refuses(with(" ", ShareGptFilter::default()), "file", "name a");
    let usual = ShareGptFilter::default();
    refuses(
        with(
            "a",
            ShareGptFilter {
                max_prompt: 3,
                ..usual
            },
        ),
        "filter.max_prompt",
        "min_prompt (4)",
    );
    refuses(
        with(
            "a",
            ShareGptFilter {
                max_total: 7,
                ..usual
            },
        ),
        "filter.max_total",
        "(8)",
    );
}

#[test]
fn a_workload_names_its_lengths() {
    let names = [
        (
            shaped(0.25, 6),
            "ShareGPT-shaped sessions, lengths × 0.25, up to 6 turns",
        ),
        (
            shaped(1.0, 1),
            "ShareGPT-shaped sessions, lengths × 1, single requests",
        ),
        (file(), "ShareGPT file chats.json, up to 3 turns"),
        (
            synthetic(
                Lengths::Uniform { min: 10, max: 20 },
                Lengths::Fixed { tokens: 128 },
            ),
            "synthetic single requests, input uniform 10 to 20 tokens, output 128 tokens each",
        ),
        (
            synthetic(
                Lengths::LogNormal {
                    median: 200,
                    sigma: 0.7,
                    max: 1000,
                },
                Lengths::Fixed { tokens: 1 },
            ),
            "synthetic single requests, input log-normal around 200 tokens (sigma 0.7, at most 1000), output 1 token each",
        ),
    ];
    for (workload, name) in names {
        assert_eq!(workload.to_string(), name);
    }
}

#[test]
fn toys_and_sessions_are_told_apart() {
    let even = Lengths::Uniform { min: 1, max: 2 };
    assert!(synthetic(Lengths::Fixed { tokens: 1 }, even.clone()).is_toy());
    assert!(!synthetic(even.clone(), even.clone()).is_toy() && !shaped(1.0, 2).is_toy());
    assert!(
        shaped(1.0, 2).is_multi_turn()
            && !shaped(1.0, 1).is_multi_turn()
            && !synthetic(even.clone(), even).is_multi_turn()
    );
}

#[test]
fn a_workload_survives_json() {
    for workload in [
        shaped(0.25, 6),
        file(),
        synthetic(
            Lengths::Fixed { tokens: 1 },
            Lengths::Uniform { min: 1, max: 2 },
        ),
    ] {
        let json = serde_json::to_string(&workload).expect("json");
        assert_eq!(
            serde_json::from_str::<Workload>(&json).expect("back"),
            workload
        );
    }
}

proptest! {
    #[test]
    fn any_checked_workload_makes_sessions(scale in 0.001f64..=1.0, max_turns in 1u32..=100, max_context in 16u32..5000, seed: u64) {
        let workload = Workload::ShareGptShaped { scale, max_turns, think_ms: 0, max_context, answers: Answers::DataSet };
        prop_assert_eq!(workload.check(), Ok(()));
        for session in workload.sessions(seed, 20, 0).expect("some") {
            prop_assert!(!session.is_empty() && session.len() <= max_turns as usize);
            prop_assert!(session.iter().all(|turn| 1 <= turn.user && 1 <= turn.answer));
            prop_assert!(session.iter().map(|turn| turn.user + turn.answer).sum::<u32>() <= max_context);
        }
    }

    #[test]
    fn uniform_lengths_stay_between_their_ends(min in 1u32..1000, more in 0u32..1000, seed: u64) {
        let length = Lengths::Uniform { min, max: min + more }.draw(&mut Draws::new(seed));
        prop_assert!(min <= length && length <= min + more);
    }
}
