//! Requests that hang together too long to be judged by themselves, and the repeats that judge instead.

use super::*;

/// A run that is three times as slow at its end as at its beginning, as a machine that becomes hot is: in order of arrival its
/// requests hang together from first to last.
fn slowing(factor: f64, seed: u64) -> Vec<Score> {
    let mut own = Draws::new(seed);
    let run = |at: u32| {
        let heat = 1.0 + 2.0 * f64::from(at) / 300.0;
        let ttft = 100.0 * factor * heat * (0.05 * own.normal()).exp();
        answered(at, f64::from(at) * 100.0, ttft, &[10.0, 10.0])
    };
    scores(&(0..300).map(run).collect::<Vec<RequestRecord>>())
}

/// A level of so many repeats of both sides, as A B, then B A.
pub(super) fn repeats(count: u32, factor: f64) -> LevelRuns<'static> {
    let run = |repeat: u32, place: u32, factor: f64| Run {
        repeat,
        started_ms: i64::from(2 * repeat + place) * 60_000,
        scores: slowing(factor, u64::from(100 + 2 * repeat + place)).leak(),
    };
    let both = (0..count).map(|repeat| {
        let (first, second) = (repeat % 2, 1 - repeat % 2);
        (run(repeat, first, 1.0), run(repeat, second, factor))
    });
    let (baseline, candidate) = both.unzip();
    LevelRuns {
        level: Level::Inf,
        baseline,
        candidate,
        no_latencies: None,
        nothing: None,
    }
}

/// As two samples or as pairs.
fn judged(count: u32, factor: f64, alike: bool) -> Comparison {
    let against = Against {
        alike,
        ..against(vec![repeats(count, factor)])
    };
    at(
        &compare_all(&[against], &slo()).remove(0),
        Metric::Ttft,
        95.0,
    )
}

#[test]
fn repeats_find_what_requests_cannot_tell() {
    let found = judged(6, 1.1, false);
    assert_eq!(found.verdict, Verdict::Worse, "{found:?}");
    let difference = found.difference.expect("a difference");
    assert!((difference.relative - 0.1).abs() < 0.05, "{difference:?}");
    assert!(0.0 < difference.lo, "{difference:?}");
    assert_eq!(difference.pairs, 0);
    assert_eq!(judged(6, 1.1, true).verdict, Verdict::Worse);
}

#[test]
fn repeats_that_find_nothing_say_what_they_would_have_found() {
    let found = judged(6, 1.0, false);
    let Verdict::NoDifference { smallest_seen } = found.verdict else {
        panic!("{found:?}")
    };
    assert!((0.01..0.15).contains(&smallest_seen), "{smallest_seen}");
}

#[test]
fn fewer_than_five_repeats_judge_nothing() {
    let found = judged(4, 1.1, false);
    not_yet(
        &found.verdict,
        "independent requests here; the baseline's 1200",
    );
    assert_eq!(found.difference, None);
}

#[test]
fn what_pairs_share_needs_no_repeats() {
    let heated = |factor: f64, seed: u64| -> Vec<Score> {
        let heat = |score: Score| Score {
            ttft: score
                .ttft
                .map(|it| Nanos(it.0 + it.0 * u64::from(score.session) / 150)),
            ..score
        };
        point(300, 1, factor, seed).into_iter().map(heat).collect()
    };
    let found = |factor: f64| compare(&heated(1.0, 2), &heated(factor, 3), 50.0).verdict;
    assert_eq!(found(1.1), Verdict::Worse);
    assert!(matches!(found(1.0), Verdict::NoDifference { .. }));
}

#[test]
fn sessions_that_hang_together_are_said_to_and_ask_for_repeats() {
    // Neighbours are alike on one side and not on the other.
    let wave = |it: Score| Score {
        ttft: it.ttft.map(|nanos| {
            Nanos(if (it.session / 60).is_multiple_of(2) {
                nanos.0 / 3
            } else {
                nanos.0 * 3
            })
        }),
        ..it
    };
    let one = point(300, 1, 1.0, 2);
    let other: Vec<Score> = point(300, 1, 1.0, 3).into_iter().map(wave).collect();
    let (_, verdict) = attainment(&one, &other);
    not_yet(&verdict, "hang together so long");
    not_yet(&verdict, "or 5 repeats");
}
