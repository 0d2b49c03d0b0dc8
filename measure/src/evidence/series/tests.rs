use super::super::reading::{Amount, Reading, Source, Value};
use super::*;

fn readings(looks: usize) -> Readings {
    let reading = |look: usize| {
        let value = |quantity, amount| Value {
            quantity,
            source: 0,
            amount,
        };
        let number = |quantity, number: f64| value(quantity, Amount::Number(number));
        let look = look as f64;
        let up_to = vec![(0.01, look), (0.1, 3.0 * look)];
        Reading {
            at_ms: (1000.0 * look) as i64 - 1000,
            values: vec![
                number(Quantity::Running, look),
                number(Quantity::KvUsage, 0.123_456),
                number(Quantity::Finished, 2.0 * look),
                number(Quantity::CacheQueries, 100.0 * look),
                number(Quantity::CacheHits, 25.0 * look),
                value(
                    Quantity::QueueTime,
                    Amount::Buckets(Buckets::cumulative(up_to, look).expect("buckets")),
                ),
            ],
        }
    };
    Readings {
        sources: vec![Source {
            name: "a".into(),
            ours: true,
        }],
        readings: (0..looks).map(reading).collect(),
    }
}

#[track_caller]
fn check(track: &Track, key: &str, expected: &[Option<f64>]) {
    let series = track.series.iter().find(|series| series.key == key);
    let series = series.unwrap_or_else(|| panic!("no {key}"));
    assert_eq!(series.values, expected, "{key}");
}

#[test]
fn each_quantity_is_drawn_after_its_kind() {
    let track = engine(&readings(3));
    assert_eq!(track.at_ms, [-1000, 0, 1000]);
    check(&track, "running", &[Some(0.0), Some(1.0), Some(2.0)]);
    check(&track, "kv_usage", &[Some(12.35); 3]);
    check(&track, "finished", &[None, Some(2.0), Some(2.0)]);
    check(&track, "hit_rate", &[None, Some(25.0), Some(25.0)]);
    check(&track, "queue_time_p50", &[None, Some(32.5), Some(32.5)]);
    let p50 = track.series.iter().find(|it| it.key == "queue_time_p50");
    let p50 = p50.expect("a p50");
    assert_eq!((p50.lo[1], p50.hi[1]), (Some(10.0), Some(100.0)));
    assert!(!track.series.iter().any(|it| it.key == "preemptions"));
}

#[test]
fn a_long_point_is_drawn_in_few_looks_and_loses_no_count() {
    let track = engine(&readings(2000));
    assert!(track.at_ms.len() <= MOST + 1, "{}", track.at_ms.len());
    let rates = track.series.iter().find(|it| it.key == "finished");
    let rates = &rates.expect("rates").values;
    let spans = track
        .at_ms
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) as f64 / 1e3);
    let all: f64 = rates[1..]
        .iter()
        .flatten()
        .zip(spans)
        .map(|(rate, span)| rate * span)
        .sum();
    assert!((all - 2.0 * 1999.0).abs() < 1e-6, "{all}");
}

#[test]
fn what_is_in_flight_is_counted_at_each_moment() {
    let one = |index: u32| crate::testing::answered(index, f64::from(index) * 100.0, 450.0, &[]);
    let records: Vec<RequestRecord> = (0..3).map(one).collect();
    let track = client(&records);
    assert_eq!(track.at_ms, [0, 250, 500, 750]);
    check(
        &track,
        "in_flight",
        &[Some(1.0), Some(3.0), Some(2.0), Some(0.0)],
    );
}

#[test]
fn nothing_told_is_nothing_drawn() {
    assert!(engine(&Readings::default()).series.is_empty());
    assert!(client(&[]).series.is_empty());
}
