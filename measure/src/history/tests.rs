use super::*;
use crate::knobs::Fact;
use crate::sampling::Draws;
use crate::units::Rate;

const LESS: Figure = Figure::Latency(Metric::Tpot, 50.0);

/// Runs around a level, a day apart, with so much noise.
fn runs(levels: &[(usize, f64)], noise: f64, seed: u64) -> Vec<Entry> {
    let mut draws = Draws::new(seed);
    let values = levels
        .iter()
        .flat_map(|(count, level)| std::iter::repeat_n(*level, *count));
    values
        .zip(0..)
        .map(|(level, day)| entry(level * (noise * draws.normal()).exp(), day))
        .collect()
}

fn entry(value: f64, day: i64) -> Entry {
    Entry {
        at_ms: day * 86_400_000,
        value,
        error: 0.0,
    }
}

/// In how many of so many series something holds.
fn count(series: u64, holds: impl Fn(u64) -> bool) -> u64 {
    (0..series).filter(|seed| holds(*seed)).count() as u64
}

#[test]
fn a_steady_series_has_no_changes() {
    for length in [10, 20, 50, 100] {
        let found = count(200, |seed| {
            !changes(&runs(&[(length, 100.0)], 0.02, seed)).is_empty()
        });
        assert!(found <= 12, "{length}: {found} of 200");
    }
}

#[test]
fn a_step_is_found_where_it_is() {
    // Five standard deviations.
    let found = count(200, |seed| {
        let places = changes(&runs(&[(15, 100.0), (10, 110.0)], 0.02, seed));
        places.len() == 1 && (14..=16).contains(&places[0])
    });
    assert!(190 <= found, "{found} of 200");
}

#[test]
fn a_step_there_and_back_is_two_changes() {
    let places = changes(&runs(&[(12, 100.0), (8, 130.0), (12, 100.0)], 0.02, 3));
    assert_eq!(places, [12, 20]);
}

#[test]
fn odd_runs_are_no_changes_and_no_noise() {
    let mut series = runs(&[(30, 100.0)], 0.02, 5);
    series[10].value = 300.0;
    series[20].value = 20.0;
    series[21].value = 20.0;
    assert_eq!(changes(&series), [0usize; 0]);
    let band = band(&series).expect("a band");
    assert!((0.01..0.03).contains(&band.deviation), "{band:?}");
    assert_eq!(band.freedom, 26.0);
}

#[test]
fn runs_of_the_same_fail_as_rarely_as_promised() {
    for length in [5, 10, 30] {
        let failed = count(2000, |seed| {
            let mut series = runs(&[(length + 1, 100.0)], 0.03, seed);
            let new = series.pop().expect("a run");
            judge(&series, new, LESS, None).outcome == Outcome::Fail
        });
        // Half of 1 %, and what a false change costs.
        assert!(failed <= 26, "{length}: {failed} of 2000");
    }
}

#[test]
fn a_regression_is_found_and_an_improvement_is_none() {
    let before = runs(&[(20, 100.0)], 0.02, 1);
    let judged = judge(&before, entry(115.0, 30), LESS, None);
    assert_eq!(judged.outcome, Outcome::Fail);
    let change = judged.change.expect("a change");
    assert!(
        (change.relative - 0.15).abs() < 0.02 && 0.0 < change.lo,
        "{change:?}"
    );
    assert_eq!(judged.runs, 20);
    let better = judge(&before, entry(85.0, 30), LESS, None);
    assert!(better.improved && better.outcome == Outcome::Pass);
    // Of a ceiling, more is better.
    let lower = judge(&before, entry(85.0, 30), Figure::Ceiling, None);
    assert_eq!((lower.outcome, lower.improved), (Outcome::Fail, false));
}

#[test]
fn the_baseline_begins_anew_after_a_change() {
    let before = runs(&[(20, 100.0), (10, 150.0)], 0.02, 2);
    let judged = judge(&before, entry(150.0, 40), LESS, None);
    assert_eq!((judged.outcome, judged.runs), (Outcome::Pass, 10));
    let back = judge(&before, entry(100.0, 40), LESS, None);
    assert!(back.improved);
}

#[test]
fn too_few_runs_cannot_tell() {
    let judged = judge(&runs(&[(3, 100.0)], 0.02, 1), entry(200.0, 9), LESS, None);
    let Outcome::Indeterminate { why } = judged.outcome else {
        panic!("{judged:?}")
    };
    assert!(
        why.starts_with("3 earlier runs of the same, void ones not counted; 2 more"),
        "{why}"
    );
}

#[test]
fn a_run_that_could_hide_a_regression_does_not_pass() {
    // Runs that differ by a fifth: after 12 of them only twice as much would be seen.
    let noisy = runs(&[(12, 100.0)], 0.2, 1);
    let same = judge(&noisy, entry(100.0, 30), LESS, None);
    let Outcome::Indeterminate { why } = &same.outcome else {
        panic!("{same:?}")
    };
    assert!(0.3 < same.change.expect("a change").smallest_seen);
    assert!(
        why.contains("could have stayed unseen, beyond a blind spot of 30 %"),
        "{why}"
    );
    let accepted = Bar {
        allowed: None,
        blind: 5.0,
    };
    assert_eq!(
        judge(&noisy, entry(100.0, 30), LESS, accepted).outcome,
        Outcome::Pass
    );
    // What surely is no worse than the blind spot passes, however little would be seen.
    assert_eq!(
        judge(&noisy, entry(40.0, 30), LESS, None).outcome,
        Outcome::Pass
    );
    assert_eq!(
        judge(&noisy, entry(900.0, 30), LESS, None).outcome,
        Outcome::Fail
    );
}

#[test]
fn a_change_is_named_only_where_there_was_one() {
    let before = runs(&[(20, 100.0), (4, 200.0)], 0.01, 2);
    let judged = judge(&before, entry(200.0, 40), LESS, None);
    let Outcome::Indeterminate { why } = &judged.outcome else {
        panic!("{judged:?}")
    };
    assert!(
        why.starts_with("4 runs of the same since the last change, "),
        "{why}"
    );
}

#[test]
fn what_is_allowed_must_be_visible() {
    let quiet = runs(&[(20, 100.0)], 0.004, 1);
    let noisy = runs(&[(20, 100.0)], 0.05, 1);
    let outcome =
        |before: &[Entry], value: f64| judge(before, entry(value, 30), LESS, Some(0.05)).outcome;
    assert_eq!(outcome(&quiet, 101.0), Outcome::Pass);
    assert_eq!(outcome(&quiet, 108.0), Outcome::Fail);
    let Outcome::Indeterminate { why } = outcome(&noisy, 101.0) else {
        panic!("told")
    };
    assert!(why.contains("5.0 % could hide"), "{why}");
}

#[test]
fn a_run_of_few_requests_is_no_surer_than_it_is() {
    let before = runs(&[(20, 100.0)], 0.005, 1);
    let short = Entry {
        error: 0.05,
        ..entry(108.0, 30)
    };
    assert_eq!(judge(&before, short, LESS, None).outcome, Outcome::Pass);
    assert_eq!(
        judge(&before, entry(108.0, 30), LESS, None).outcome,
        Outcome::Fail
    );
}

#[test]
fn history_knows_the_noise_between_runs() {
    let noise = noise(&runs(&[(100, 100.0)], 0.03, 4)).expect("enough");
    assert!((0.025..0.035).contains(&noise.deviation), "{noise:?}");
    assert_eq!(super::noise(&runs(&[(4, 100.0)], 0.03, 4)), None);
}

fn facts(pairs: &[(&str, &str)]) -> Facts {
    let fact = |value: &str| Fact {
        value: value.to_owned(),
        source: match value {
            "" => Source::Unknown,
            _ => Source::Engine,
        },
    };
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), fact(value)))
        .collect()
}

#[test]
fn versions_share_a_history_and_settings_do_not() {
    let level = Some(Level::Rate(Rate::try_from(8.0).expect("a rate")));
    let key = |pairs: &[(&str, &str)]| Key::of(&facts(pairs), level, LESS);
    let one = key(&[
        ("engine", "vllm"),
        ("version", "1"),
        ("hardware", ""),
        ("seen:tokens", "5"),
    ]);
    let other = key(&[("engine", "vllm"), ("version", "2"), ("hardware", "")]);
    assert_eq!(one, other);
    assert_eq!(one.point, "8 tpot p50");
    assert_eq!(one.facts["hardware"], "unknown");
    assert_ne!(one, key(&[("engine", "vllm"), ("hardware", "H100")]));
    assert_ne!(
        one,
        Key::of(
            &facts(&[("engine", "vllm"), ("hardware", "")]),
            level,
            Figure::Ceiling
        )
    );
}

#[test]
fn a_long_history_is_bounded() {
    let long = runs(&[(1000, 100.0)], 0.02, 9);
    assert!(current(&long).len() <= MOST);
    assert_eq!(current(&[]), []);
}

#[test]
fn figures_judged_together_seldom_fail_where_nothing_changed() {
    const FIGURES: u64 = 12;
    let failed = |together| {
        count(300, |study| {
            (0..FIGURES).any(|figure| {
                let all = runs(&[(21, 1.0)], 0.03, study * FIGURES + figure);
                let (new, before) = all.split_last().expect("runs");
                judge_among(before, *new, LESS, Bar::default(), together).outcome == Outcome::Fail
            })
        })
    };
    let (alone, together) = (failed(1), failed(FIGURES as usize));
    // Half of one in a hundred lie on the worse side; runs that stand aside and false changes add as many.
    assert!(together <= 9, "{together} of 300");
    assert!(2 * together < alone, "{alone} where each is judged alone");
    let before = runs(&[(10, 1.0)], 0.03, 1);
    let seen = |together| {
        let judged = judge_among(&before, entry(1.0, 20), LESS, Bar::default(), together);
        judged.change.expect("a baseline").smallest_seen
    };
    assert_eq!(seen(0), seen(1));
    assert!(seen(1) < seen(12) && seen(12) < 3.0 * seen(1));
}
