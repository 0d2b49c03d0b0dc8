use proptest::prelude::*;

use super::*;
use crate::sampling::Draws;
use crate::testing::Queue;

#[track_caller]
fn check(values: &[f64], p: f64, expected: Option<f64>) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (percentile_linear(&sorted, p), expected) {
        (Some(got), Some(expected)) if expected.is_finite() => {
            assert!((got - expected).abs() < 1e-9, "{got}")
        }
        (got, expected) => assert_eq!(got, expected),
    }
}

#[test]
fn percentiles_interpolate_as_numpy_does() {
    check(&[10.0, 20.0, 30.0], 99.0, Some(29.8));
    check(&[1.0, 2.0, 3.0, 4.0], 50.0, Some(2.5));
    check(&[1.0, 2.0, 3.0, 4.0], 0.0, Some(1.0));
    check(&[1.0, 2.0, 3.0, 4.0], 100.0, Some(4.0));
    check(&[], 50.0, None);
}

#[test]
fn any_weight_on_infinity_is_infinity() {
    let inf = f64::INFINITY;
    check(&[1.0, 2.0, inf], 50.0, Some(2.0));
    check(&[1.0, 2.0, inf], 50.1, Some(inf));
    check(&[inf, inf], 50.0, Some(inf));
    // 101 values: the p95 is the 96th exactly, and infinity at the 97th does not touch it.
    let values: Vec<f64> = (0..101)
        .map(|i| if i < 96 { f64::from(i) } else { inf })
        .collect();
    check(&values, 95.0, Some(95.0));
}

fn uniform(n: usize, seed: u64) -> Vec<f64> {
    let mut draws = Draws::new(seed);
    (0..n).map(|_| draws.uniform() * 1e9).collect()
}

/// How many of 400 intervals hold the true value; `None` at an end holds everything.
fn covered(truth: f64, sample: impl Fn(u64) -> Option<Estimate>) -> usize {
    (0..400)
        .filter_map(sample)
        .filter(|e| {
            e.lo.is_none_or(|lo| lo.0 as f64 <= truth) && e.hi.is_none_or(|hi| truth <= hi.0 as f64)
        })
        .count()
}

#[test]
fn intervals_of_independent_values_cover_95_of_100() {
    for (p, n) in [(50.0, 100), (95.0, 100), (95.0, 400), (99.0, 1000)] {
        let hits = covered(p * 1e7, |seed| {
            Some(Sample::new(uniform(n, seed)).estimate(p)?.0)
        });
        assert!(376 <= hits, "p{p} of {n}: {hits} of 400");
    }
}

#[test]
fn intervals_are_no_wider_than_they_must_be() {
    // A normal approximation gives 1.96 * sqrt(0.95 * 0.05 / 1000) on each side: 2.7 % of the scale together.
    let widths: f64 = (0..100)
        .map(|seed| {
            let (estimate, _) = Sample::new(uniform(1000, seed))
                .estimate(95.0)
                .expect("some");
            let (lo, hi) = (estimate.lo.expect("lo"), estimate.hi.expect("hi"));
            (hi - lo).as_secs_f64()
        })
        .sum();
    assert!(
        (0.025..0.034).contains(&(widths / 100.0)),
        "{}",
        widths / 100.0
    );
}

#[test]
fn intervals_of_a_queue_cover_too() {
    // Requests that wait for each other at 71 % of capacity: the naive interval is far too narrow here.
    let waits = |n, seed| {
        let queue = Queue {
            rate: 7.0,
            servers: 1,
            service_ms: 90.0,
            sigma: 0.5,
        };
        queue
            .run(n, seed)
            .iter()
            .skip(100)
            .filter_map(|r| Some(r.ttft()?.0 as f64))
            .collect::<Vec<f64>>()
    };
    let mut long = waits(60_000, 9999);
    long.sort_by(f64::total_cmp);
    let truth = percentile_linear(&long, 95.0).expect("some");
    let hits = covered(truth, |seed| {
        Some(Sample::new(waits(600, seed)).estimate(95.0)?.0)
    });
    assert!(364 <= hits, "{hits} of 400");
}

#[test]
fn an_interval_with_memory_agrees_with_numpy_and_scipy() {
    // 400 requests on a wave of 48: numpy.quantile, scipy.linalg.toeplitz, scipy.stats.t, following docs/metrics.md.
    let value = |i: i64| 20 + (i * i * 7 + 3 * i) % 11 + ((i * 5) % 240 - 120).abs() / 4;
    let sample = Sample::new((0..400).map(|i| 1e6 * value(i) as f64).collect());
    let expected = [
        (95.0, 86.310_081_6, (51.0, 53.05, 75.035_692_5)),
        (99.0, 172.397_981_5, (55.0, 58.0, 75.802_154_7)),
    ];
    for (p, worth, (lo, value, hi)) in expected {
        let (estimate, effective) = sample.estimate(p).expect("some");
        assert!((effective / worth - 1.0).abs() < 1e-8, "p{p}: {effective}");
        let ends = [estimate.lo, estimate.value, estimate.hi];
        for (got, expected) in ends.into_iter().zip([lo, value, hi]) {
            let got = got.expect("finite").as_millis_f64();
            assert!((got - expected).abs() < 1e-4, "p{p}: {got}, not {expected}");
        }
    }
}

fn pooled(requests: &[Vec<u64>]) -> Distribution {
    let of = |place: usize, on: &mut dyn FnMut(u64)| requests[place].iter().copied().for_each(on);
    Pool::of(requests.len(), of).distribution()
}

#[test]
fn pooled_gaps_are_resampled_by_request() {
    // Each request has its own pace, so 40 gaps of one request are worth little more than one.
    let pool = |seed: u64, n: usize| {
        let mut draws = Draws::new(seed);
        let requests: Vec<Vec<u64>> = (0..n)
            .map(|_| {
                let pace = 1e7 * (1.0 + draws.uniform());
                let gap = |_| (pace * (0.99 + 0.02 * draws.uniform())).round() as u64;
                (0..40).map(gap).collect()
            })
            .collect();
        pooled(&requests)
    };
    let truth = pool(77, 20_000).p95.and_then(|e| e.value).expect("some").0 as f64;
    let hits = covered(truth, |seed| pool(seed, 200).p95);
    assert!(360 <= hits, "{hits} of 400");
    let one = pool(1, 200);
    assert_eq!(one.count, 8000);
    assert!(one.effective < 800.0, "{}", one.effective);
}

#[test]
fn a_few_pooled_requests_have_no_interval() {
    let requests: Vec<Vec<u64>> = (0..19).map(|i| vec![i, 5]).collect();
    let p50 = pooled(&requests).p50.expect("some");
    assert_eq!((p50.lo, p50.hi), (None, None));
    for nothing in [vec![], vec![vec![]; 30]] {
        assert_eq!(pooled(&nothing), Distribution::default());
    }
}

#[test]
fn a_failure_is_an_infinite_gap() {
    let requests = [vec![vec![1_000_000; 3]; 30], vec![vec![FAILED]; 10]].concat();
    let itl = pooled(&requests);
    assert_eq!((itl.count, itl.failed), (100, 10));
    assert_eq!(itl.p50.and_then(|e| e.value), Some(Nanos::from_millis(1)));
    assert_eq!(itl.p95.map(|e| e.value), Some(None));
}

#[test]
fn failures_count_and_weigh() {
    let values = (0..100)
        .map(|i| if i % 10 == 9 { f64::INFINITY } else { 1e6 })
        .collect();
    let ttft = Sample::new(values).distribution();
    assert_eq!((ttft.count, ttft.failed), (100, 10));
    assert_eq!(ttft.p50.and_then(|e| e.value), Some(Nanos::from_millis(1)));
    assert_eq!(ttft.p95.map(|e| e.value), Some(None));
    assert_eq!(
        ttft.at_least(95.0),
        Some("at least 1.00 ms; failed requests leave it no upper end".to_owned())
    );
}

#[test]
fn too_few_values_are_said_to_be_at_least() {
    let sample =
        Sample::new((1..=100).map(|i| f64::from(i * 37 % 101) * 1e6).collect()).distribution();
    assert_eq!(sample.at_least(50.0), None);
    assert_eq!(sample.at_least(95.0), None);
    let text = sample.at_least(99.0).expect("no upper end");
    assert!(
        text.starts_with("at least ") && text.contains(" more requests would give it an upper end"),
        "{text}"
    );
    assert_eq!(
        Distribution {
            count: 100,
            effective: 100.0,
            ..Distribution::default()
        }
        .more_needed(99.0),
        268
    );
    // Each worth a fiftieth: they must come to a sixteenth of 72.
    let dependent = Distribution {
        count: 100,
        effective: 2.0,
        ..Distribution::default()
    };
    assert_eq!(dependent.more_needed(95.0), 125);
    assert!(!dependent.carries(95.0) && dependent.carries(50.0));
}

#[test]
fn a_distribution_survives_json() {
    let sample = Sample::new(uniform(100, 1)).distribution();
    let json = serde_json::to_string(&sample).expect("json");
    assert_eq!(
        serde_json::from_str::<Distribution>(&json).expect("back"),
        sample
    );
}

proptest! {
    #[test]
    fn percentiles_agree_with_the_definition(values in prop::collection::vec(-1e12f64..1e12, 1..60), p in 0.0f64..=100.0) {
        let mut sorted = values;
        sorted.sort_by(f64::total_cmp);
        let got = percentile_linear(&sorted, p).expect("not empty");
        // At least p % of the gaps between values lie at or below it, and no more.
        let position = p * (sorted.len() - 1) as f64 / 100.0;
        let (below, above) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
        prop_assert!(below <= got + 1e-3 && got <= above + 1e-3);
        let expected = below + (above - below) * position.fract();
        prop_assert!((got - expected).abs() <= 1e-3, "{} {}", got, expected);
    }

    #[test]
    fn an_interval_encloses_its_value(values in prop::collection::vec(0u32..1000, 1..200), p in 1.0f64..99.0) {
        let (estimate, effective) = Sample::new(values.iter().map(|v| f64::from(*v)).collect()).estimate(p).expect("some");
        prop_assert!(estimate.lo.is_none_or(|lo| Some(lo) <= estimate.value));
        prop_assert!(estimate.hi.is_none_or(|hi| estimate.value <= Some(hi)));
        prop_assert!(effective <= values.len() as f64);
    }

    #[test]
    fn wilson_encloses_the_share(good in 0u32..500, more in 0u32..500) {
        prop_assume!(0 < good + more);
        let share = Proportion::wilson(f64::from(good) / f64::from(good + more), f64::from(good + more)).expect("some");
        prop_assert!(0.0 <= share.lo && share.lo <= share.value && share.value <= share.hi && share.hi <= 1.0);
    }
}
