use super::super::reading::{Amount, Reading, Source, Value};
use super::*;
use crate::certificate::Innocence;
use crate::testing::answered;

fn looks(looks: &[(i64, &[(Quantity, f64)])], names: &[&str]) -> Readings {
    let source = |name: &&str| Source {
        name: (*name).to_owned(),
        ours: true,
    };
    let reading = |(at_ms, values): &(i64, &[(Quantity, f64)])| Reading {
        at_ms: *at_ms,
        values: values
            .iter()
            .map(|(quantity, number)| Value {
                quantity: *quantity,
                source: 0,
                amount: Amount::Number(*number),
            })
            .collect(),
    };
    Readings {
        sources: names.iter().map(source).collect(),
        readings: looks.iter().map(reading).collect(),
    }
}

fn records() -> Vec<RequestRecord> {
    let one = |index| answered(index, f64::from(index) * 10.0, 50.0, &[5.0; 9]);
    (0..100).map(one).collect()
}

#[test]
fn an_engine_without_metrics_leaves_everything_open_and_says_why() {
    let seen = Seen {
        engine: Look {
            absent: Some("the engine has no /metrics".into()),
            ..Look::default()
        },
        ..Seen::default()
    };
    let evidence = Evidence::of(&seen, &records(), &[], None);
    let open = evidence.statements.iter();
    let open = open.filter(|it| it.ends_with("cannot tell, the engine has no /metrics."));
    assert_eq!(open.count(), 4, "{:?}", evidence.statements);
    let tracks: Vec<&str> = evidence.tracks.iter().map(|it| it.of.as_str()).collect();
    assert_eq!(tracks, ["client"]);
    assert!(evidence.findings().is_empty());
}

#[test]
fn foreign_traffic_voids_the_point() {
    let before: &[_] = &[(Quantity::Finished, 40.0)];
    let after: &[_] = &[(Quantity::Finished, 190.0)];
    let seen = Seen {
        engine: Look {
            readings: looks(&[(-500, before), (2000, after)], &[""]),
            by: "vLLM".into(),
            ..Look::default()
        },
        ..Seen::default()
    };
    // Eight requests warmed up: 42 of the 150 are nobody's here.
    let evidence = Evidence::of(&seen, &records(), &[64; 8], None);
    let findings = evidence.findings();
    let (innocence, sentence) = findings.first().expect("a finding");
    assert_eq!(*innocence, Innocence::Void);
    assert!(sentence.contains("42 of somebody else's"), "{sentence}");
}

#[track_caller]
fn check_energy(first: &[(Quantity, f64)], last: &[(Quantity, f64)], expected: f64) {
    let seen = Seen {
        gpu: Look {
            readings: looks(&[(-900, first), (0, first), (2000, last)], &["GPU 0"]),
            ..Look::default()
        },
        ..Seen::default()
    };
    let evidence = Evidence::of(&seen, &records(), &[], None);
    // A thousand tokens.
    let each = evidence.joules_per_output_token.expect("energy");
    assert!((each - expected).abs() < 1e-9, "{each}");
    assert!(evidence.figures.iter().any(|it| it.name == "GPU energy"));
}

#[test]
fn energy_is_counted_or_follows_from_power() {
    let energy = |joules| [(Quantity::GpuEnergy, joules)];
    check_energy(&energy(100.0), &energy(600.0), 0.5);
    let power = |watts| [(Quantity::GpuPower, watts)];
    check_energy(&power(100.0), &power(300.0), 0.4);
}

#[test]
fn a_restart_and_an_address_of_several_engines_are_told() {
    for (counts, says) in [
        (&[5.0, 1.0, 2.0, 3.0, 4.0, 5.0][..], "started anew"),
        (&[5.0, 1.0, 6.0, 2.0, 7.0, 3.0][..], "in turn"),
    ] {
        let values: Vec<[(Quantity, f64); 1]> = counts
            .iter()
            .map(|it| [(Quantity::Finished, *it)])
            .collect();
        let all: Vec<(i64, &[(Quantity, f64)])> = values
            .iter()
            .enumerate()
            .map(|(index, it)| (index as i64, &it[..]))
            .collect();
        let look = Look {
            readings: looks(&all, &[""]),
            ..Look::default()
        };
        let said = read(&look, "engine").join(" ");
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn a_percentile_stands_with_its_bounds_and_its_count() {
    let at = |lo, value, hi| Between { lo, value, hi };
    let all = [
        at(0.01, 0.012, Some(0.015)),
        at(0.02, 0.02, Some(0.02)),
        at(10.0, 10.0, None),
    ];
    assert_eq!(
        percentile_words((all, 200), true),
        "p50 12.0 ms (10.0 ms to 15.0 ms), p95 20.0 ms, p99 above 10.0 s, of 200"
    );
    let wide = [
        at(0.0, 0.15, Some(0.3)),
        at(0.0, 0.0, Some(0.0)),
        at(0.3, 0.45, Some(0.5)),
    ];
    assert_eq!(
        percentile_words((wide, 70), true),
        "p50 between 0 ms and 300 ms, p95 0 ms, p99 450 ms (300 ms to 500 ms), of 70"
    );
}

#[test]
fn evidence_survives_json() {
    let running: &[_] = &[(Quantity::Running, 3.0)];
    let seen = Seen {
        engine: Look {
            readings: looks(&[(-500, running), (500, running)], &[""]),
            ..Look::default()
        },
        ..Seen::default()
    };
    let evidence = Evidence::of(&seen, &records(), &[], None);
    let json = serde_json::to_string(&evidence).expect("json");
    let back: Evidence = serde_json::from_str(&json).expect("back");
    assert_eq!(back, evidence);
}
