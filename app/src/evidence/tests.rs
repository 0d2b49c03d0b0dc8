use measure::evidence::{Look, RoundTrip, Seen, Series, Track};
use measure::units::Nanos;

use super::*;

pub(super) fn evidence() -> Evidence {
    let series = |key: &str, label: &str| Series {
        key: key.to_owned(),
        label: label.to_owned(),
        values: vec![Some(1.0), None, Some(4.0)],
        ..Series::default()
    };
    let trip = RoundTrip {
        min: Nanos(40_000),
        median: Nanos(55_000),
        tries: 7,
    };
    let seen = Seen {
        engine: Look {
            absent: Some("the engine has no /metrics".into()),
            ..Look::default()
        },
        round_trips: [Some(trip), None],
        ..Seen::default()
    };
    let mut evidence = Evidence::of(&seen, &[], &[], None);
    evidence.tracks = vec![Track {
        of: "engine".into(),
        at_ms: vec![-1000, 0, 1000],
        series: vec![
            series("running", "running <b>"),
            series("gpu0_power", "GPU 0: power"),
        ],
    }];
    evidence
}

/// The panel and what stands on the axis of the requests.
fn all(evidence: &Evidence) -> String {
    panel(Uuid::nil(), evidence) + &tracks(&evidence.tracks, (-1000.0, 1000.0)).into_string()
}

#[test]
fn what_cannot_be_told_is_said_and_what_was_seen_is_drawn() {
    let html = all(&evidence());
    for part in [
        "cannot tell, the engine has no /metrics.",
        "Network round trip before",
        "at least 40.0 µs, median 55.0 µs, of 7",
        "running &lt;b&gt;",
        "GPU 0: power",
        "As a table",
        "/api/v1/points/00000000-0000-0000-0000-000000000000/evidence",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    // A gap breaks the line: one value on each side of it.
    assert_eq!(html.matches("class=\"series\"").count(), 4);
    assert!(!html.contains("/metrics\" download"), "no text was kept");
}

#[test]
fn foreign_traffic_stands_first_and_loud() {
    let mut evidence = evidence();
    evidence.foreign.presence = Presence::Others;
    let html = all(&evidence);
    let loud = html.find(r#"data-tone="bad">Whether somebody else"#);
    assert!(
        loud.is_some_and(|place| place < html.find("<ul>").unwrap_or(0)),
        "{html}"
    );
}

#[test]
fn bounds_far_apart_are_drawn_as_such_and_no_value_is_made_up() {
    let mut evidence = evidence();
    evidence.tracks[0].series = vec![Series {
        key: "queue_time_p50".into(),
        label: "queue time p50".into(),
        unit: "ms".into(),
        values: vec![Some(150.0), Some(150.0), Some(450.0)],
        lo: vec![Some(0.0), Some(0.0), Some(300.0)],
        hi: vec![Some(300.0), Some(300.0), Some(500.0)],
    }];
    let html = all(&evidence);
    assert_eq!(html.matches("<polygon").count(), 1, "{html}");
    assert!(
        html.contains(">0 to 300</td>") && html.contains(">450</td>"),
        "{html}"
    );
    assert!(!html.contains(">150</td>"), "{html}");
    assert!(html.contains("(at most 450)"), "{html}");
}

fn queue_time(lo: [f64; 3], hi: [Option<f64>; 3]) -> String {
    let mut evidence = evidence();
    evidence.tracks[0].series = ["p50", "p95"]
        .map(|name| Series {
            key: format!("queue_time_{name}"),
            label: format!("queue time {name}"),
            unit: "ms".into(),
            values: lo.iter().map(|lo| Some(lo + 150.0)).collect(),
            lo: lo.map(Some).to_vec(),
            hi: hi.to_vec(),
        })
        .into();
    all(&evidence)
}

#[test]
fn a_picture_that_would_be_one_block_is_told_in_words() {
    let html = queue_time([0.0; 3], [Some(300.0); 3]);
    let words = "queue time p50 between 0 and 300, queue time p95 between 0 and 300 throughout.";
    assert!(html.contains(words), "{html}");
    assert!(
        !html.contains("<polygon") && !html.contains("<svg"),
        "{html}"
    );
    assert!(html.contains(">0 to 300</td>"), "the table stays: {html}");
    let html = queue_time([0.0, 0.0, 300.0], [Some(300.0), Some(300.0), Some(900.0)]);
    assert!(html.contains("<polygon"), "{html}");
}

#[test]
fn the_last_bucket_is_no_value() {
    let html = queue_time([10_000.0; 3], [None; 3]);
    assert!(html.contains(">above 10000</td>"), "{html}");
    assert!(html.contains("(above 10000)"), "{html}");
    assert!(!html.contains("class=\"series\""), "{html}");
}

#[test]
fn figures_of_before_name_no_place_within_a_wide_bucket() {
    for (stored, shown) in [
        (
            "p50 150 ms (0 ms to 300 ms), p95 285 ms (0 ms to 300 ms), p99 450 ms (300 ms to 500 ms), of 70",
            "p50 between 0 ms and 300 ms, p95 between 0 ms and 300 ms, p99 450 ms (300 ms to 500 ms), of 70",
        ),
        (
            "p50 900 µs (900 µs to 1.80 ms), p95 above 10.0 s, of 7",
            "p50 900 µs (900 µs to 1.80 ms), p95 above 10.0 s, of 7",
        ),
        ("p50 24 (16 to 64), of 7", "p50 between 16 and 64, of 7"),
        ("95 % of 1000 tokens", "95 % of 1000 tokens"),
        (
            "p50 40 %, at most 99 %, of 3 looks",
            "p50 40 %, at most 99 %, of 3 looks",
        ),
    ] {
        assert_eq!(as_known(stored), shown);
    }
}

#[test]
fn moments_at_the_ends_of_time_are_drawn() {
    let mut evidence = evidence();
    for at_ms in [
        vec![i64::MIN, 0, i64::MAX],
        vec![i64::MAX; 3],
        vec![i64::MIN; 3],
    ] {
        evidence.tracks[0].at_ms = at_ms;
        let html = all(&evidence);
        assert!(html.contains("As a table"), "{html}");
        assert!(!html.contains("NaN") && !html.contains("inf"), "{html}");
    }
}

#[test]
fn a_window_shows_its_own_moments_and_where_lines_go_on() {
    let mut evidence = evidence();
    evidence.tracks[0].at_ms = (0..100).map(|it| it * 1000).collect();
    evidence.tracks[0].series.truncate(1);
    evidence.tracks[0].series[0].values = (0..100).map(|it| Some(f64::from(it))).collect();
    let html = tracks(&evidence.tracks, (10_000.0, 20_000.0)).into_string();
    assert!(html.contains("(at most 21)"), "{html}");
    assert_eq!(html.matches("<tr><td").count(), 13, "{html}");
    assert!(html.contains("M-100 "), "it comes from before: {html}");
    let beside = tracks(&evidence.tracks, (500_000.0, 600_000.0)).into_string();
    assert!(!beside.contains("NaN"), "{beside}");
}
