use super::*;
use crate::fixture;
use measure::certificate::Innocence;

#[track_caller]
fn check(change: impl FnOnce(&mut StudyView), expected: &[&str]) {
    let mut study = fixture::study();
    study.spec.configurations[0].name = "caching off".into();
    study.configurations[0].spec.name = "caching off".into();
    study.configurations[1].spec.name = "caching on".into();
    change(&mut study);
    assert_eq!(answer(&study), expected);
}

fn only_baseline(study: &mut StudyView, ceiling: Option<Ceiling>) {
    study.configurations.truncate(1);
    study.configurations[0].ceiling = ceiling;
}

#[test]
fn two_configurations_say_what_the_knob_moved() {
    let sentences = {
        let mut study = fixture::study();
        study.configurations[0].spec.name = "caching off".into();
        study.configurations[1].spec.name = "caching on".into();
        answer(&study)
    };
    assert!(sentences[0].starts_with("caching off: at least 95\u{202f}% of requests keep TTFT ≤ 500 ms and TPOT ≤ 50 ms up to 11.4 sessions/s ("), "{sentences:?}");
    assert!(
        sentences[1].starts_with(
            "caching on moves it to 14.9 sessions/s (13.8–15.7): better, +31\u{202f}%"
        ),
        "{sentences:?}"
    );
}

#[test]
fn on_a_machine_that_changed_ceilings_must_lie_further_apart() {
    let mut study = fixture::study();
    study.apart = vec![(1, 0.5)];
    let sentences = answer(&study);
    assert!(!sentences[1].contains("better"), "{sentences:?}");
    study.apart = vec![(1, 0.01)];
    assert!(answer(&study)[1].contains("better"));
}

#[test]
fn a_closed_loop_has_no_ceiling_to_wait_for() {
    check(
        |study| study.spec.levels = vec!["c=1".parse().expect("a level")],
        &[NO_RATE],
    );
}

#[test]
fn without_a_verdict_on_ceilings_the_surest_difference_is_the_headline() {
    let mut study = fixture::study();
    let open = Some(Ceiling::AtLeast { lo: 15.6 });
    study.configurations[0].spec.name = "seqs 8".into();
    study.configurations[1].spec.name = "seqs 64".into();
    study
        .configurations
        .iter_mut()
        .for_each(|it| it.ceiling = open);
    study.differences = vec![(
        1,
        "at 15.6 req/s TTFT p95 −98\u{202f}% (−99 to −97), better".into(),
    )];
    let sentences = answer(&study);
    assert_eq!(
        sentences[0],
        "seqs 64 against seqs 8: at 15.6 req/s TTFT p95 −98\u{202f}% (−99 to −97), better."
    );
    assert!(
        sentences[1].starts_with("seqs 8: at least 95"),
        "{sentences:?}"
    );
}

#[test]
fn doubtful_points_are_said_with_the_answer() {
    let mut study = fixture::study();
    assert_eq!(doubt(&study), None);
    for point in &mut study.points {
        if let Some(certificate) = &mut point.certificate {
            certificate.innocence = Innocence::Suspect;
        }
    }
    let said = doubt(&study).expect("said");
    assert!(
        said.starts_with("But ") && said.ends_with("its machine instead."),
        "{said}"
    );
    assert!(answer(&study).contains(&said));
}

#[test]
fn void_points_ask_for_a_quieter_host_and_not_for_more_requests() {
    let mut study = fixture::study();
    let of = [Innocence::Void, Innocence::Suspect];
    for (index, point) in study.points.iter_mut().enumerate() {
        if let Some(certificate) = &mut point.certificate {
            certificate.innocence = of[usize::from(index % 4 == 0)];
        }
    }
    only_baseline(&mut study, Some(Ceiling::Unresolved { lo: None, hi: None }));
    let said = answer(&study).join(" ");
    for part in [
        "6 of 8 points cannot be used (void), and 2 may tell of the client",
        "3 of its 4 points cannot be used (void)",
        "on a quieter host",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(
        !said.contains("more requests a point would settle it"),
        "{said}"
    );
}

#[test]
fn what_was_asked_is_told_from_what_was_offered() {
    let mut study = fixture::study();
    assert_eq!(offered(&study, "req/s"), None);
    study.points[0].level = "6".parse().expect("a level");
    if let Some(summary) = &mut study.points[0].summary {
        summary.offered_rate = Some(6.42);
    }
    let said = offered(&study, "req/s").expect("said");
    assert!(
        said.contains("6.00 req/s asked came to 6.42 offered"),
        "{said}"
    );
}

#[test]
fn a_name_is_never_changed() {
    let mut study = fixture::study();
    study.configurations[0].spec.name = "llama.cpp, 4 bits".into();
    study.configurations[1].spec.name = "vLLM, bf16".into();
    let sentences = answer(&study);
    assert!(
        sentences[0].starts_with("llama.cpp, 4 bits: "),
        "{sentences:?}"
    );
    assert!(
        sentences[1].starts_with("vLLM, bf16 moves it to "),
        "{sentences:?}"
    );
}

#[test]
fn what_rounds_to_nothing_has_no_sign() {
    for (relative, expected) in [
        (-0.0004, "0\u{202f}%"),
        (0.0004, "0\u{202f}%"),
        (-0.0006, "−0.1\u{202f}%"),
        (0.0996, "+10.0\u{202f}%"),
        (0.31, "+31\u{202f}%"),
    ] {
        assert_eq!(signed_percent(relative), expected, "{relative}");
    }
}

#[test]
fn a_ceiling_that_nothing_broke_is_at_least() {
    check(
        |study| only_baseline(study, Some(Ceiling::AtLeast { lo: 16.0 })),
        &[
            "At least 95\u{202f}% of requests keep TTFT ≤ 500 ms and TPOT ≤ 50 ms up to at least 16.0 sessions/s, with 1,530 good tok/s at that rate; no rate tried broke it.",
        ],
    );
}

#[test]
fn a_promise_that_nothing_kept_says_where_it_breaks() {
    check(
        |study| only_baseline(study, Some(Ceiling::NoneKept { hi: 0.5 })),
        &[
            "No rate tried kept the promise that at least 95\u{202f}% of requests keep TTFT ≤ 500 ms and TPOT ≤ 50 ms: it is broken already at 0.500 sessions/s.",
        ],
    );
}

#[test]
fn a_lowest_rate_above_capacity_is_not_called_broken() {
    check(
        |study| {
            study.points[0].summary.as_mut().expect("summary").capacity = Capacity::Above {
                why: "96 of 2000 requests were refused for load".into(),
            };
            let rate = study.points[0]
                .summary
                .as_ref()
                .and_then(|it| it.offered_rate);
            let hi = rate.expect("a rate");
            only_baseline(study, Some(Ceiling::NoneKept { hi }));
        },
        &[
            "No rate is known up to which at least 95\u{202f}% of requests keep TTFT ≤ 500 ms and TPOT ≤ 50 ms: the lowest tried, 1.96 sessions/s, lies above capacity already (96 of 2000 requests were refused for load).",
        ],
    );
}

#[test]
fn ramps_have_no_ceiling() {
    check(
        |study| only_baseline(study, Some(Ceiling::Ramped)),
        &[
            "Cannot tell up to which rate at least 95\u{202f}% of requests keep TTFT ≤ 500 ms and TPOT ≤ 50 ms: the rate went from one to another within each point, so none stands for what was kept; measure at steady rates.",
        ],
    );
}

#[test]
fn an_unresolved_ceiling_says_so() {
    check(
        |study| {
            only_baseline(
                study,
                Some(Ceiling::Unresolved {
                    lo: Some(4.0),
                    hi: None,
                }),
            )
        },
        &[
            "Cannot tell yet up to which rate at least 95\u{202f}% of requests keep TTFT ≤ 500 ms and TPOT ≤ 50 ms: it is kept at 4.00 sessions/s with 95\u{202f}% certainty, and not decided above.",
        ],
    );
}

#[test]
fn a_study_without_a_finished_point_is_not_judged() {
    check(
        |study| {
            only_baseline(study, None);
            study.state = StudyState::Running;
            study
                .points
                .iter_mut()
                .for_each(|point| point.state = PointState::Planned);
        },
        &["Not yet judged: 0 of 8 points finished."],
    );
}

#[test]
fn thresholds_have_no_empty_decimals() {
    for (millis, expected) in [
        (500, "500 ms"),
        (50, "50 ms"),
        (1500, "1.5 s"),
        (2000, "2 s"),
    ] {
        assert_eq!(threshold(Nanos::from_millis(millis)), expected);
    }
}

#[test]
fn time_left_is_rounded_up() {
    for (millis, expected) in [
        (0, "0 s left"),
        (59_001, "60 s left"),
        (91_000, "2 min left"),
        (5_700_000, "1 h 35 min left"),
    ] {
        assert_eq!(time_left(millis), expected);
    }
}

#[test]
fn a_percentile_without_an_upper_end_says_at_least() {
    let estimate = Estimate {
        value: Some(Nanos::from_millis(612)),
        lo: Some(Nanos::from_millis(580)),
        hi: None,
    };
    let detail = estimate_detail(
        Some(&estimate),
        &Distribution {
            count: 120,
            ..Distribution::default()
        },
    );
    assert_eq!(
        detail,
        "at least 580 ms: too few requests for an upper end; n = 120"
    );
}
