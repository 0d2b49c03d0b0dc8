use super::*;
use crate::fixture;
use crate::studio::StudyView;
use measure::knobs::{Fact, Source};
use measure::quantile::Estimate;
use measure::summary::gpus;

const AXES: Axes = Axes {
    upward: Upward::Latency(Metric::Ttft, Percentile::P95),
    across: Across::OutputTokens,
    log: false,
};

fn chart_of(study: &StudyView, axes: Axes) -> Chart {
    let points = study
        .points
        .iter()
        .filter(|point| point.configuration == 0)
        .collect();
    let series = Series {
        name: "off",
        colour: 0,
        points,
        ceiling: study.configurations[0].ceiling,
        gpus: gpus(&study.configurations[0].facts),
    };
    chart(
        &[series],
        Rules {
            slo: &study.spec.slo,
            home: &study.spec.slo,
            axes,
            unit: "sessions/s",
        },
    )
}

fn joined(chart: &Chart) -> Vec<f64> {
    chart.lines[0].knots().iter().map(|knot| knot.y).collect()
}

#[test]
fn a_curve_joins_its_rates_and_leaves_everything_at_once_alone() {
    let chart = chart_of(&fixture::study(), AXES);
    assert_eq!(joined(&chart), [40.0, 140.0, 240.0]);
    let inf = &chart.lines[0].marks[3];
    assert_eq!((inf.place, inf.x), (Place::RightEdge, chart.x.top()));
}

#[test]
fn a_void_point_is_hollow_and_not_joined() {
    let mut study = fixture::study();
    study.points[1].certificate = Some(fixture::certificate(Innocence::Void));
    let chart = chart_of(&study, AXES);
    assert_eq!(chart.lines[0].marks[1].fill, Fill::Hollow);
    assert_eq!(joined(&chart), [40.0, 240.0]);
    assert!(chart.notes.iter().any(|note| note.starts_with("○ void")));
}

#[test]
fn a_suspect_point_is_half_filled_and_joined() {
    let mut study = fixture::study();
    study.points[1].certificate = Some(fixture::certificate(Innocence::Suspect));
    let chart = chart_of(&study, AXES);
    assert_eq!(chart.lines[0].marks[1].fill, Fill::Half);
    assert_eq!(joined(&chart).len(), 3);
}

#[test]
fn above_capacity_there_is_a_direction_and_no_value() {
    let mut study = fixture::study();
    study.points[2].summary.as_mut().expect("summary").capacity = Capacity::Above {
        why: "in flight grows".into(),
    };
    let chart = chart_of(&study, AXES);
    let mark = &chart.lines[0].marks[2];
    assert_eq!(
        (mark.place, mark.y, mark.glyph()),
        (Place::Above, chart.y.top(), Some("↑"))
    );
    assert_eq!(joined(&chart).len(), 2);
    assert!(mark.hover.contains("in flight grows"));
}

#[test]
fn an_infinite_percentile_is_not_joined() {
    let mut study = fixture::study();
    study.points[2].summary.as_mut().expect("summary").ttft.p95 = Some(Estimate {
        value: None,
        lo: None,
        hi: None,
    });
    assert_eq!(chart_of(&study, AXES).lines[0].marks[2].glyph(), Some("∞"));
}

#[test]
fn a_logarithmic_axis_drops_zeros_and_says_so() {
    let mut study = fixture::study();
    study.points[0]
        .summary
        .as_mut()
        .expect("summary")
        .output_tokens_per_s = Some(0.0);
    let chart = chart_of(&study, Axes { log: true, ..AXES });
    assert_eq!(joined(&chart).len(), 2);
    assert!(
        chart
            .notes
            .contains(&"1 point at zero left out: a logarithmic axis has no zero.".to_owned())
    );
}

#[test]
fn a_ceiling_lies_where_its_rate_is_on_the_axis() {
    let study = fixture::study();
    let offered = chart_of(
        &study,
        Axes {
            across: Across::Offered,
            ..AXES
        },
    )
    .over
    .ceilings[0]
        .clone();
    assert_eq!(
        (offered.at, offered.from, offered.to),
        (Some(11.4), 10.6, 12.1)
    );
    let tokens = chart_of(&study, AXES).over.ceilings[0].clone();
    let at = tokens.at.expect("value");
    assert!(
        tokens.from < at && at < tokens.to && 960.0 < at && at < 1920.0,
        "{tokens:?}"
    );
}

fn across(study: &StudyView, across: Across) -> Chart {
    chart_of(study, Axes { across, ..AXES })
}

#[test]
fn per_gpu_is_the_throughput_over_what_the_hardware_says() {
    let mut study = fixture::study();
    let unknown = across(&study, Across::PerGpu);
    assert!(unknown.is_empty());
    let note = &unknown.notes[0];
    assert!(
        note.starts_with("off is left out: nobody says how many GPUs it has"),
        "{note}"
    );
    let fact = Fact {
        value: "2x H100".into(),
        source: Source::Declared,
    };
    study.configurations[0]
        .facts
        .insert("hardware".into(), fact);
    let whole: Vec<f64> = across(&study, Across::OutputTokens).lines[0]
        .knots()
        .iter()
        .map(|it| it.x)
        .collect();
    let per_gpu: Vec<f64> = across(&study, Across::PerGpu).lines[0]
        .knots()
        .iter()
        .map(|it| it.x * 2.0)
        .collect();
    assert_eq!(per_gpu, whole);
}

#[test]
fn one_users_speed_falls_as_the_load_rises_and_the_ceiling_lies_the_other_way_round() {
    let mut study = fixture::study();
    for (point, millis) in study.points.iter_mut().zip([10, 20, 40]) {
        let tpot = &mut point.summary.as_mut().expect("summary").tpot;
        let value = Some(measure::units::Nanos::from_millis(millis));
        tpot.p95 = Some(Estimate {
            value,
            lo: value,
            hi: value,
        });
    }
    let chart = across(&study, Across::PerUser);
    let speeds: Vec<f64> = chart.lines[0].knots().iter().map(|it| it.x).collect();
    assert_eq!(speeds, [100.0, 50.0, 25.0]);
    study.configurations[0].ceiling = Some(Ceiling::AtLeast { lo: 8.0 });
    let chart = across(&study, Across::PerUser);
    let ceiling = &chart.over.ceilings[0];
    assert_eq!(
        ceiling.from,
        chart.x.bottom(),
        "no rate tried broke it: slower users still"
    );
    assert!(ceiling.to <= 50.0, "{ceiling:?}");
}

#[test]
fn what_has_no_value_stays_at_the_edge_of_a_part() {
    let mut study = fixture::study();
    study.points[2].summary.as_mut().expect("summary").capacity = Capacity::Above {
        why: "in flight grows".into(),
    };
    let chart = chart_of(&study, AXES).zoomed(None, Some((0.0, 50.0)));
    assert_eq!((chart.y.top(), chart.lines[0].marks[2].y), (50.0, 50.0));
    assert_eq!(chart.over.limit, chart_of(&study, AXES).over.limit);
}

#[test]
fn a_dragged_line_does_not_drag_its_axis() {
    let study = fixture::study();
    let home = chart_of(&study, AXES).y;
    let lower = "ttft:p95<100ms attain>=95%".parse().expect("slo");
    let series = Series {
        name: "off",
        colour: 0,
        points: study.points.iter().collect(),
        ceiling: None,
        gpus: None,
    };
    let dragged = chart(
        &[series],
        Rules {
            slo: &lower,
            home: &study.spec.slo,
            axes: AXES,
            unit: "req/s",
        },
    );
    assert_eq!(dragged.y, home);
    assert_eq!(dragged.over.limit.map(|limit| limit.value), Some(100.0));
}

#[test]
fn points_without_numbers_are_left_out() {
    let mut study = fixture::study();
    study
        .points
        .iter_mut()
        .for_each(|point| point.summary = None);
    assert!(chart_of(&study, AXES).is_empty());
}
