//! Several levels, repeats and candidates together.

use super::*;

/// Two levels of two repeats each; each run is as slow as it is told: baseline first, first repeat first, level by level.
fn levels(runs: &[Vec<Score>]) -> Vec<LevelRuns<'_>> {
    let run = |at: usize, repeat: u32, started: i64| Run {
        repeat,
        started_ms: started * 60_000,
        scores: &runs[at],
    };
    (0..2)
        .map(|level| LevelRuns {
            level: Level::Concurrency(level as u32 + 1),
            // A B, then B A.
            baseline: vec![run(4 * level, 0, 0), run(4 * level + 2, 1, 3)],
            candidate: vec![run(4 * level + 1, 0, 1), run(4 * level + 3, 1, 2)],
            no_latencies: None,
            nothing: None,
        })
        .collect()
}

fn runs(slow: [f64; 8]) -> Vec<Vec<Score>> {
    let seeds = 100..;
    let run = |(slow, seed): (f64, u64)| point(300, 1, slow, seed);
    slow.into_iter().zip(seeds).map(run).collect()
}

const STEADY: [f64; 8] = [1.0; 8];

/// Studies out of twenty in which the candidate is found slower at the first level.
fn found_slower(factor: f64) -> usize {
    let found = (0..20).filter(|study| {
        let seeds = 100 + 10 * study..;
        let run = |(slow, seed): (f64, u64)| point(300, 1, slow, seed);
        let made: Vec<Vec<Score>> = [1.0, factor]
            .repeat(4)
            .into_iter()
            .zip(seeds)
            .map(run)
            .collect();
        let found = at(&pooled(levels(&made)), Metric::Ttft, 50.0);
        assert_eq!(found.difference.map(|it| it.pairs), Some(600));
        found.verdict == Verdict::Worse
    });
    found.count()
}

#[test]
fn repeats_find_what_is_there_where_they_agree() {
    // Of two repeats a third differ by more than their requests explain, by chance; from so few much cannot be known then.
    let found = found_slower(1.1);
    assert!(10 <= found, "{found} of 20");
    assert_eq!(found_slower(1.0), 0);
}

#[test]
fn a_steady_machine_is_said_to_be() {
    let made = runs([1.0, 1.1, 1.0, 1.1, 1.0, 1.1, 1.0, 1.1]);
    let drift = pooled(levels(&made)).drift;
    assert!(matches!(drift, Drift::Steady { .. }), "{drift:?}");
}

#[test]
fn a_median_that_could_not_be_judged_is_not_said_to_be_steady() {
    // TTFT trebles within each run: its requests tell nothing of it. TPOT is the same throughout.
    let level = super::repeats::repeats(2, 1.0);
    let Drift::Steady { watched, .. } = pooled(vec![level]).drift else {
        panic!("steady")
    };
    let of = |metric: Metric| watched.iter().find(|it| it.metric == metric);
    let seen = |metric| of(metric).map(|it| it.smallest_seen.is_some());
    assert_eq!(seen(Metric::Ttft), Some(false), "{watched:?}");
    assert_eq!(seen(Metric::Tpot), Some(true), "{watched:?}");
}

#[test]
fn repeats_that_disagree_say_that_nothing_is_sure() {
    // In one repeat a quarter slower, in the other a quarter faster.
    let made = runs([1.0, 1.25, 1.0, 0.8, 1.0, 1.25, 1.0, 0.8]);
    let pooled = pooled(levels(&made));
    for one in pooled
        .latencies
        .iter()
        .filter(|one| one.metric == Metric::Ttft)
    {
        assert!(
            !matches!(one.verdict, Verdict::Better | Verdict::Worse),
            "{one:?}"
        );
    }
}

#[test]
fn a_drift_of_the_baseline_is_said_and_does_not_pass_for_a_difference() {
    let made = runs([1.0, 1.1, 1.3, 1.2, 1.0, 1.1, 1.3, 1.2]);
    let pooled = pooled(levels(&made));
    let Drift::Drifted { metric, change } = pooled.drift else {
        panic!("{:?}", pooled.drift)
    };
    assert_eq!(metric, Metric::Ttft);
    assert!((change.relative - 0.3).abs() < 0.15, "{change:?}");
    assert!(
        pooled
            .latencies
            .iter()
            .all(|one| !matches!(one.verdict, Verdict::Better | Verdict::Worse))
    );
    assert!(0.3 < pooled.drift.apart());
}

#[test]
fn what_ran_after_all_of_the_baseline_may_be_its_drift() {
    let made = runs([1.0, 1.5, 1.3, 1.8, 1.0, 1.5, 1.3, 1.8]);
    let mut levels = levels(&made);
    for level in &mut levels {
        for (run, at) in level
            .baseline
            .iter_mut()
            .chain(&mut level.candidate)
            .zip([0, 1, 2, 3])
        {
            run.started_ms = at * 60_000;
        }
    }
    let found = at(&pooled(levels), Metric::Ttft, 50.0);
    assert!(
        matches!(found.verdict, Verdict::CannotTell { .. }),
        "{found:?}"
    );
}

#[test]
fn one_run_each_knows_nothing_of_drift() {
    let one = point(100, 1, 1.0, 2);
    let unknown = Drift::Unknown { repeated: false };
    assert_eq!(pooled(vec![once(&one, &one)]).drift, unknown);
}

#[test]
fn the_curve_together_sees_less_than_its_levels() {
    let made = runs(STEADY);
    let pooled = pooled(levels(&made));
    let along = pooled
        .along
        .iter()
        .find(|it| (it.metric, it.percentile) == (Some(Metric::Ttft), Some(50.0)))
        .expect("along");
    let smallest = |verdict: &Verdict| match verdict {
        Verdict::NoDifference { smallest_seen } => *smallest_seen,
        other => panic!("{other:?}"),
    };
    assert_eq!(along.levels, 2);
    let level = at(&pooled, Metric::Ttft, 50.0);
    assert!(smallest(&along.verdict) < smallest(&level.verdict));
    let latencies = pooled.latencies.iter().map(|one| one.difference);
    let levels = latencies.chain(
        pooled
            .attainment
            .iter()
            .map(|(_, difference, _)| *difference),
    );
    let judged = levels.flatten().count() + pooled.along.len();
    assert_eq!(pooled.counted as usize, judged);
    assert!(15 <= judged, "{judged}");
}

#[test]
fn the_more_is_compared_the_surer_each_must_be() {
    let (one, other) = (point(300, 1, 1.0, 2), point(300, 1, 1.02, 3));
    let wide = |candidates: usize| {
        let all = vec![against(vec![once(&one, &other)]); candidates];
        let pooled = compare_all(&all, &slo()).remove(0);
        let difference = at(&pooled, Metric::Ttft, 50.0).difference;
        (
            pooled.counted,
            difference.map(|it| it.hi - it.lo).expect("some"),
        )
    };
    let ((few, narrow), (many, wide)) = (wide(1), wide(7));
    assert_eq!(7 * few, many);
    assert!(narrow < wide, "{narrow} {wide}");
}

#[test]
fn what_history_knows_of_runs_widens_a_single_one() {
    let (one, other) = (point(300, 1, 1.0, 2), point(300, 1, 1.1, 3));
    let mut noisy = against(vec![once(&one, &other)]);
    noisy.noise = vec![(
        (Level::Inf, Metric::Ttft, 50.0),
        Noise {
            deviation: 0.1,
            freedom: 20.0,
        },
    )];
    let sure = compare(&one, &other, 50.0);
    let unsure = at(&compare_all(&[noisy], &slo()).remove(0), Metric::Ttft, 50.0);
    assert_eq!(sure.verdict, Verdict::Worse);
    assert!(
        matches!(unsure.verdict, Verdict::NoDifference { .. }),
        "{unsure:?}"
    );
    assert_eq!(unsure.remark, None);
}

#[test]
fn a_confounded_pair_gets_nothing() {
    let fact = |value: &str| {
        Some(Fact {
            value: value.to_owned(),
            source: Source::Engine,
        })
    };
    let differing = |name: &str| Differing {
        name: name.to_owned(),
        baseline: fact("1"),
        candidate: fact("2"),
    };
    let confounded = Comparability::Confounded {
        differing: vec![differing("hardware"), differing("model")],
    };
    let (one, other) = (point(300, 1, 1.0, 2), point(300, 1, 3.0, 3));
    let candidate = Against {
        comparability: &confounded,
        ..against(vec![once(&one, &other)])
    };
    let pooled = compare_all(&[candidate, against(vec![once(&one, &other)])], &slo());
    assert!(
        pooled[0].latencies.is_empty()
            && pooled[0].attainment.is_empty()
            && pooled[0].along.is_empty()
    );
    assert!(!pooled[1].latencies.is_empty());
}

#[test]
fn levels_that_mean_nothing_say_why() {
    let one = point(100, 1, 1.0, 2);
    let level = LevelRuns {
        no_latencies: Some("above capacity".into()),
        ..once(&one, &one)
    };
    let found = pooled(vec![level.clone()]);
    not_yet(&at(&found, Metric::Ttft, 50.0).verdict, "above capacity");
    assert!(matches!(
        found.attainment[0].2,
        Verdict::NoDifference { .. }
    ));
    let level = LevelRuns {
        nothing: Some("void".into()),
        ..level
    };
    not_yet(&pooled(vec![level]).attainment[0].2, "void");
}
