use super::*;
use crate::request::{ErrorKind, Outcome, RequestRecord};
use crate::sampling::Draws;
use crate::testing::{answered, failed, scores};

/// Sessions of `turns` turns; each session has a pace of its own that both sides share.
fn point(sessions: u32, turns: u32, factor: f64, seed: u64) -> Vec<Score> {
    let mut shared = Draws::new(1);
    let mut own = Draws::new(seed);
    let mut records = Vec::new();
    for session in 0..sessions {
        let pace = 100.0 * (0.5 * shared.normal()).exp();
        for turn in 0..turns {
            let ttft = factor * pace * (0.1 * own.normal()).exp();
            let at = f64::from(session) * 100.0 + f64::from(turn) * 30.0;
            records.push(RequestRecord {
                turn,
                ..answered(session, at, ttft, &[10.0, 10.0])
            });
        }
    }
    scores(&records)
}

fn compare(baseline: &[Score], candidate: &[Score], p: f64) -> Comparison {
    compare_points(baseline, candidate, Level::Inf, Metric::Ttft, p, 7)
}

#[track_caller]
fn not_yet(verdict: &Verdict, part: &str) {
    let Verdict::NotYetJudged { why } = verdict else {
        panic!("judged: {verdict:?}")
    };
    assert!(why.contains(part), "{why}");
}

#[test]
fn a_lower_latency_is_better_and_a_higher_one_worse() {
    let (old, new) = (point(300, 1, 1.0, 2), point(300, 1, 0.8, 3));
    let better = compare(&old, &new, 50.0);
    assert_eq!(better.verdict, Verdict::Better);
    let difference = better.difference.expect("a difference");
    assert!((difference.relative + 0.2).abs() < 0.03, "{difference:?}");
    assert!(
        difference.lo <= -0.2 && -0.2 <= difference.hi && difference.hi < 0.0,
        "{difference:?}"
    );
    assert_eq!(difference.pairs, 300);
    assert_eq!(compare(&new, &old, 50.0).verdict, Verdict::Worse);
}

#[test]
fn pairing_sees_what_two_samples_would_not() {
    // The paces differ by half, the two sides by a twentieth: only pairing can see it.
    let comparison = compare(&point(400, 1, 1.0, 2), &point(400, 1, 0.93, 3), 50.0);
    assert_eq!(comparison.verdict, Verdict::Better, "{comparison:?}");
}

#[test]
fn alike_is_no_difference_and_says_what_could_have_been_seen() {
    let comparison = compare(&point(300, 2, 1.0, 2), &point(300, 2, 1.0, 3), 50.0);
    let Verdict::NoDifference { smallest_seen } = comparison.verdict else {
        panic!("{comparison:?}")
    };
    assert!(
        0.0 < smallest_seen && smallest_seen < 0.1,
        "{smallest_seen}"
    );
    assert_eq!(
        comparison.remark.as_deref(),
        Some("Under 5 %: noise until repeats show otherwise.")
    );
}

#[test]
fn the_same_point_twice_is_alike() {
    let one = point(100, 1, 1.0, 2);
    let comparison = compare(&one, &one, 95.0);
    assert_eq!(
        comparison.verdict,
        Verdict::NoDifference { smallest_seen: 0.0 }
    );
}

#[test]
fn false_alarms_are_as_rare_as_promised() {
    let alarms = (0..100)
        .filter(|seed| {
            let (old, new) = (
                point(100, 2, 1.0, 1000 + seed),
                point(100, 2, 1.0, 2000 + seed),
            );
            !matches!(
                compare(&old, &new, 50.0).verdict,
                Verdict::NoDifference { .. }
            )
        })
        .count();
    assert!(alarms <= 12, "{alarms} of 100");
}

#[test]
fn a_large_difference_asks_for_a_mistake_first() {
    let comparison = compare(&point(200, 1, 1.0, 2), &point(200, 1, 0.5, 3), 95.0);
    assert_eq!(comparison.verdict, Verdict::Better);
    assert_eq!(
        comparison.remark.as_deref(),
        Some("Over 30 %: look for a configuration mistake first.")
    );
}

#[test]
fn a_percentile_beyond_the_sample_is_not_judged() {
    let comparison = compare(&point(100, 1, 1.0, 2), &point(100, 1, 0.5, 3), 99.0);
    not_yet(&comparison.verdict, "A p99 needs 368 independent requests");
    assert_eq!(comparison.difference, None);
}

#[test]
fn few_or_other_sessions_are_not_judged() {
    not_yet(
        &compare(&point(19, 4, 1.0, 2), &point(19, 4, 1.0, 3), 50.0).verdict,
        "19 sessions",
    );
    let others: Vec<Score> = point(100, 1, 1.0, 2)
        .into_iter()
        .map(|s| Score {
            session: s.session + 50,
            ..s
        })
        .collect();
    not_yet(
        &compare(&point(100, 1, 1.0, 2), &others, 50.0).verdict,
        "do not hold the same sessions",
    );
}

#[test]
fn failures_that_reach_the_percentile_are_not_judged() {
    let mut broken = point(100, 1, 1.0, 2);
    broken
        .iter_mut()
        .step_by(10)
        .for_each(|score| score.outcome = Outcome::Error(ErrorKind::Truncated));
    not_yet(
        &compare(&point(100, 1, 1.0, 2), &broken, 95.0).verdict,
        "Failed requests reach into the candidate's",
    );
    assert!(matches!(
        compare(&point(100, 1, 1.0, 2), &broken, 50.0).verdict,
        Verdict::NoDifference { .. } | Verdict::Worse
    ));
}

#[test]
fn a_metric_that_nobody_has_is_not_judged() {
    let records: Vec<RequestRecord> = (0..50)
        .map(|i| answered(i, f64::from(i), 10.0, &[]))
        .collect();
    let one = scores(&records);
    not_yet(
        &compare_points(&one, &one, Level::Inf, Metric::Tpot, 50.0, 1).verdict,
        "has no tpot",
    );
}

#[test]
fn the_same_seed_gives_the_same_interval() {
    let (old, new) = (point(100, 2, 1.0, 2), point(100, 2, 0.9, 3));
    assert_eq!(compare(&old, &new, 50.0), compare(&old, &new, 50.0));
}

fn slo() -> Slo {
    "ttft<200ms".parse().expect("slo")
}

#[test]
fn more_good_requests_are_better() {
    let (old, new) = (point(200, 1, 1.5, 2), point(200, 1, 1.0, 3));
    let (difference, verdict) = compare_attainment(&old, &new, &slo(), 1);
    assert_eq!(verdict, Verdict::Better);
    assert!(0.1 < difference.expect("some").relative);
    assert_eq!(compare_attainment(&new, &old, &slo(), 1).1, Verdict::Worse);
}

#[test]
fn all_good_on_both_sides_is_not_perfect_certainty() {
    let good = point(100, 1, 0.1, 2);
    let (difference, verdict) = compare_attainment(&good, &good, &slo(), 1);
    assert_eq!(difference.map(|d| d.relative), Some(0.0));
    let Verdict::NoDifference { smallest_seen } = verdict else {
        panic!("{verdict:?}")
    };
    assert!((smallest_seen - 0.037).abs() < 1e-9, "{smallest_seen}");
}

#[test]
fn attainment_of_too_few_sessions_is_not_judged() {
    let few = point(5, 5, 1.0, 2);
    not_yet(&compare_attainment(&few, &few, &slo(), 1).1, "5 sessions");
}

#[test]
fn a_failed_session_counts_as_not_good() {
    let good = point(100, 1, 0.1, 2);
    let dead: Vec<RequestRecord> = (0..100)
        .map(|i| failed(i, f64::from(i) * 100.0, ErrorKind::ConnectFailed))
        .collect();
    let (difference, verdict) = compare_attainment(&good, &scores(&dead), &slo(), 1);
    assert_eq!(
        (difference.map(|d| d.relative), verdict),
        (Some(-1.0), Verdict::Worse)
    );
}

fn bracket(lo: f64, hi: f64) -> Ceiling {
    Ceiling::Bracket {
        value: (lo + hi) / 2.0,
        lo,
        hi,
    }
}

#[test]
fn ceilings_differ_when_one_keeps_what_the_other_breaks() {
    let comparison = compare_ceilings(bracket(4.0, 8.0), bracket(8.0, 16.0));
    assert_eq!(comparison.verdict, Verdict::Better);
    let difference = comparison.difference.expect("some");
    assert_eq!(
        (difference.relative, difference.lo, difference.hi),
        (1.0, 0.0, 3.0)
    );
    assert_eq!(
        compare_ceilings(bracket(8.0, 16.0), bracket(4.0, 8.0)).verdict,
        Verdict::Worse
    );
}

#[test]
fn overlapping_brackets_are_not_judged_and_say_where_to_look() {
    let comparison = compare_ceilings(bracket(4.0, 8.0), bracket(4.0, 8.0));
    not_yet(
        &comparison.verdict,
        "rates between 4.00 and 8.00 would narrow them",
    );
    assert!(comparison.difference.is_some());
}

#[test]
fn open_ends_judge_what_they_can() {
    let at_least = Ceiling::AtLeast { lo: 8.0 };
    assert_eq!(
        compare_ceilings(bracket(2.0, 4.0), at_least).verdict,
        Verdict::Better
    );
    assert_eq!(
        compare_ceilings(at_least, bracket(2.0, 4.0)).verdict,
        Verdict::Worse
    );
    assert_eq!(
        compare_ceilings(bracket(2.0, 4.0), Ceiling::NoneKept { hi: 1.0 }).verdict,
        Verdict::Worse
    );
    not_yet(
        &compare_ceilings(at_least, at_least).verdict,
        "higher rates",
    );
    let none = Ceiling::NoneKept { hi: 1.0 };
    not_yet(&compare_ceilings(none, none).verdict, "rates below 1.00");
    let unknown = Ceiling::Unresolved { lo: None, hi: None };
    not_yet(&compare_ceilings(unknown, unknown).verdict, "more requests");
    assert_eq!(
        compare_ceilings(bracket(2.0, 4.0), at_least).difference,
        None
    );
}

#[test]
fn contradicting_ends_are_no_ends() {
    let odd = Ceiling::Unresolved {
        lo: Some(9.0),
        hi: Some(1.0),
    };
    not_yet(&compare_ceilings(bracket(2.0, 4.0), odd).verdict, "");
}

#[test]
fn a_comparison_survives_json() {
    let comparison = compare(&point(100, 1, 1.0, 2), &point(100, 1, 0.5, 3), 50.0);
    let json = serde_json::to_string(&comparison).expect("json");
    assert_eq!(
        serde_json::from_str::<Comparison>(&json).expect("back"),
        comparison
    );
}
