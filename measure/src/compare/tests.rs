use super::*;
use crate::curve::Ceiling;
use crate::knobs::{Differing, Fact, Source};
use crate::request::{ErrorKind, Outcome, RequestRecord};
use crate::sampling::Draws;
use crate::slo::Slo;
use crate::testing::{answered, failed, scores};
use crate::units::{Nanos, Rate};

mod repeats; // those that judge where requests cannot
mod whole; // several levels, repeats and candidates

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

/// A level of one repeat each.
fn once<'a>(baseline: &'a [Score], candidate: &'a [Score]) -> LevelRuns<'a> {
    let run = |scores, started_ms| Run {
        repeat: 0,
        started_ms,
        scores,
    };
    LevelRuns {
        level: Level::Inf,
        baseline: vec![run(baseline, 0)],
        candidate: vec![run(candidate, 60_000)],
        no_latencies: None,
        nothing: None,
    }
}

fn against<'a>(levels: Vec<LevelRuns<'a>>) -> Against<'a> {
    Against {
        comparability: &Comparability::Identical,
        alike: true,
        levels,
        noise: Vec::new(),
    }
}

fn pooled(levels: Vec<LevelRuns<'_>>) -> Pooled {
    compare_all(&[against(levels)], &slo()).remove(0)
}

fn at(pooled: &Pooled, metric: Metric, p: f64) -> Comparison {
    let found = pooled
        .latencies
        .iter()
        .find(|one| one.metric == metric && one.percentile == p);
    found.expect("compared").clone()
}

fn compare(baseline: &[Score], candidate: &[Score], p: f64) -> Comparison {
    at(&pooled(vec![once(baseline, candidate)]), Metric::Ttft, p)
}

fn attainment(baseline: &[Score], candidate: &[Score]) -> (Option<Difference>, Verdict) {
    let (_, difference, verdict) = pooled(vec![once(baseline, candidate)]).attainment.remove(0);
    (difference, verdict)
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
    let comparison = compare(&one, &one, 50.0);
    let Verdict::NoDifference { smallest_seen } = comparison.verdict else {
        panic!("{comparison:?}")
    };
    // Even then a session might have gone the other way.
    assert!(
        0.0 < smallest_seen && smallest_seen < 0.2,
        "{smallest_seen}"
    );
    assert_eq!(comparison.difference.map(|it| it.relative), Some(0.0));
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
    not_yet(
        &comparison.verdict,
        "independent requests here; the baseline's 100 are worth",
    );
    assert_eq!(comparison.difference, None);
}

#[test]
fn few_sessions_are_not_judged() {
    let few = point(19, 4, 1.0, 2);
    not_yet(&compare(&few, &few, 50.0).verdict, "19 sessions");
}

#[test]
fn other_sessions_or_other_starts_are_two_samples() {
    let one = point(300, 1, 1.0, 2);
    let moved = |by: u32, late: u64| -> Vec<Score> {
        let moved = point(300, 1, 1.02, 3).into_iter().map(|score| Score {
            session: score.session + by,
            scheduled: score.scheduled + Nanos::from_millis(late),
            ..score
        });
        moved.collect()
    };
    let pairs = |other: &[Score], level: Level| {
        let level = LevelRuns {
            level,
            ..once(&one, other)
        };
        let found = at(&pooled(vec![level]), Metric::Ttft, 50.0);
        let difference = found.difference.expect("a difference");
        (difference.pairs, difference.hi - difference.lo)
    };
    let rate = Level::Rate(Rate::try_from(10.0).expect("a rate"));
    let (paired, narrow) = pairs(&moved(0, 0), rate);
    let (other_sessions, wide) = pairs(&moved(50, 0), rate);
    assert_eq!((paired, other_sessions), (300, 0));
    assert!(2.0 * narrow < wide, "{narrow} {wide}");
    assert_eq!(pairs(&moved(0, 5), rate).0, 0);
    // In a closed loop starts are the engine's doing.
    assert_eq!(pairs(&moved(0, 5), Level::Concurrency(4)).0, 300);
    // A few without a partner do no harm.
    assert_eq!(pairs(&moved(20, 0)[..], Level::Inf).0, 280);
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
        &at(&pooled(vec![once(&one, &one)]), Metric::Tpot, 50.0).verdict,
        "has no tpot",
    );
}

fn slo() -> Slo {
    "ttft<200ms".parse().expect("slo")
}

#[test]
fn more_good_requests_are_better() {
    let (old, new) = (point(200, 1, 1.5, 2), point(200, 1, 1.0, 3));
    let (difference, verdict) = attainment(&old, &new);
    assert_eq!(verdict, Verdict::Better);
    assert!(0.1 < difference.expect("some").relative);
    assert_eq!(attainment(&new, &old).1, Verdict::Worse);
}

#[test]
fn all_good_on_both_sides_is_not_perfect_certainty() {
    let good = point(100, 1, 0.1, 2);
    let (difference, verdict) = attainment(&good, &good);
    assert_eq!(difference.map(|d| d.relative), Some(0.0));
    let Verdict::NoDifference { smallest_seen } = verdict else {
        panic!("{verdict:?}")
    };
    // Near the rule of three, and wider for the verdicts beside it.
    assert!((0.03..0.08).contains(&smallest_seen), "{smallest_seen}");
}

#[test]
fn attainment_of_too_few_sessions_is_not_judged() {
    let few = point(5, 5, 1.0, 2);
    not_yet(&attainment(&few, &few).1, "5 sessions");
}

#[test]
fn a_failed_session_counts_as_not_good() {
    let good = point(100, 1, 0.1, 2);
    let dead: Vec<RequestRecord> = (0..100)
        .map(|i| failed(i, f64::from(i) * 100.0, ErrorKind::ConnectFailed))
        .collect();
    let (difference, verdict) = attainment(&good, &scores(&dead));
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
fn overlapping_brackets_are_no_difference_and_say_where_to_look() {
    let comparison = compare_ceilings(bracket(4.0, 8.0), bracket(4.0, 8.0));
    // 4 against 8, either way, is the most that could hide.
    assert_eq!(
        comparison.verdict,
        Verdict::NoDifference { smallest_seen: 1.0 }
    );
    let remark = comparison.remark.expect("rates");
    assert!(
        remark.contains("rates between 4.00 and 8.00 would narrow them"),
        "{remark}"
    );
    let difference = comparison.difference.expect("some");
    assert!(difference.lo < 0.0 && 0.0 < difference.hi);
}

#[test]
fn on_a_drifting_machine_ceilings_must_lie_further_apart() {
    let (one, next, far) = (bracket(4.0, 8.0), bracket(8.0, 16.0), bracket(10.0, 16.0));
    let verdict = |other| compare_ceilings_apart(one, other, 0.2).verdict;
    // 4 against 16 could hide.
    assert!(matches!(verdict(next), Verdict::CannotTell { .. }));
    assert_eq!(verdict(far), Verdict::Better);
    assert_eq!(
        compare_ceilings_apart(far, one, 0.2).verdict,
        Verdict::Worse
    );
}

#[test]
fn a_verdict_of_brackets_is_whether_their_interval_excludes_no_difference() {
    // The upper end broke the SLO and is no ceiling itself, so an interval that ends at nothing excludes it.
    let ends = [1.0, 2.0, 3.0, 4.0, 6.0];
    let brackets = || {
        let from = |lo: f64| {
            ends.iter()
                .filter(move |hi| lo < **hi)
                .map(move |hi| bracket(lo, *hi))
        };
        ends.into_iter().flat_map(from)
    };
    for (one, other) in brackets().flat_map(|one| brackets().map(move |other| (one, other))) {
        let CeilingComparison {
            difference,
            verdict,
            ..
        } = compare_ceilings(one, other);
        let Difference { lo, hi, .. } = difference.expect("two brackets");
        match verdict {
            Verdict::Better => assert!(0.0 <= lo),
            Verdict::Worse => assert!(hi <= 0.0),
            _ => assert!(lo < 0.0 && 0.0 < hi, "{one:?} {other:?}"),
        }
    }
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
