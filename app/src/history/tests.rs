use super::*;

fn figure(outcome: Outcome, metric: Option<Metric>) -> FigureHistory {
    let run = |day: i64, value: f64, counts, changed| EarlierRun {
        study: Uuid::from_u128(7),
        name: "nightly <b>".into(),
        at_ms: day * 86_400_000,
        value,
        version: Some("0.31.0".into()),
        counts,
        changed,
    };
    FigureHistory {
        metric,
        percentile: metric.map(|_| 50.0),
        outcome,
        why: None,
        value: Some(1.3e8),
        error: None,
        at_ms: 9 * 86_400_000,
        baseline: Some(Baseline {
            value: 1e8,
            lo: 0.95e8,
            hi: 1.05e8,
        }),
        change: Some(Change {
            relative: 0.3,
            lo: 0.24,
            hi: 0.36,
            smallest_seen: 0.06,
        }),
        improved: false,
        counted: 2,
        runs: vec![
            run(1, 0.8e8, false, false),
            run(2, 1e8, true, true),
            run(3, 1.01e8, true, false),
        ],
    }
}

fn view(outcome: Outcome) -> HistoryView {
    let left = FigureHistory {
        outcome: Outcome::LeftOut,
        why: Some("too few requests to bound it".into()),
        value: None,
        baseline: None,
        change: None,
        runs: Vec::new(),
        percentile: Some(99.0),
        ..figure(outcome, Some(Metric::Ttft))
    };
    HistoryView {
        study: Uuid::from_u128(1),
        name: "tonight".into(),
        simulated: false,
        marks: vec![crate::ui::badge::TOY_MODEL],
        unit: "req/s".into(),
        allowed: None,
        blind: 0.3,
        together: 1,
        outcome,
        lacking: false,
        why: None,
        configurations: vec![ConfigurationHistory {
            id: Uuid::from_u128(2),
            name: "baseline".into(),
            version: None,
            points: vec![PointHistory {
                level: "8".parse().ok(),
                outcome,
                figures: vec![figure(outcome, Some(Metric::Ttft)), left],
            }],
        }],
    }
}

#[test]
fn one_that_fails_is_enough_and_nothing_at_all_tells_nothing() {
    use Outcome::{Fail, Indeterminate, LeftOut, Pass};
    for (each, expected) in [
        (&[Pass, LeftOut][..], Pass),
        (&[Pass, Indeterminate], Indeterminate),
        (&[Pass, Indeterminate, Fail], Fail),
        (&[LeftOut], Indeterminate),
        (&[], Indeterminate),
    ] {
        assert_eq!(Outcome::of(each.iter().copied()), expected, "{each:?}");
    }
}

fn figure_of(view: &mut HistoryView) -> &mut FigureHistory {
    &mut view.configurations[0].points[0].figures[0]
}

#[test]
fn what_passes_says_its_largest_blind_spot() {
    assert_eq!(
        sentence(&view(Outcome::Pass)),
        "Pass: no worse than runs of the same are at 1 operating point. The largest blind spot: TTFT p50 at 8.00 req/s would have been seen from 6\u{202f}% more on."
    );
}

#[test]
fn the_first_line_says_where() {
    assert_eq!(
        sentence(&view(Outcome::Fail)),
        "Fail: worse than runs of the same are at 1 of 1 operating point."
    );
    let mut allowed = view(Outcome::Pass);
    allowed.allowed = Some(0.05);
    assert_eq!(
        sentence(&allowed),
        "Pass: no worse than the 5\u{202f}% that were allowed at 1 operating point."
    );
    let mut open = view(Outcome::Indeterminate);
    open.configurations[0].points[0].figures[0].why = Some("3 runs of the same".into());
    assert!(
        sentence(&open).ends_with("accept a larger blind spot (--blind)."),
        "{}",
        sentence(&open)
    );
    figure_of(&mut open).change = None;
    let said = sentence(&open);
    assert!(
        said.ends_with("at 1 of 1 operating point. 3 runs of the same."),
        "{said}"
    );
    open.configurations.clear();
    assert_eq!(sentence(&open), "Indeterminate: there is nothing to judge.");
}

#[test]
fn a_figure_is_told_with_its_interval_and_what_would_have_been_seen() {
    let told_of = |outcome| told(&figure(outcome, Some(Metric::Tpot)));
    assert_eq!(
        told_of(Outcome::Fail),
        "fail: +30\u{202f}% (+24 to +36) against 2 runs"
    );
    assert!(told_of(Outcome::Pass).ends_with("6\u{202f}% more would have been seen"));
    let mut noisy = figure(Outcome::Pass, Some(Metric::Tpot));
    noisy.change.as_mut().expect("a change").smallest_seen = 2.2;
    assert!(told(&noisy).ends_with("3.20 times as much would have been seen"));
    let ceiling = told(&figure(Outcome::Pass, None));
    assert!(
        ceiling.ends_with("5.7\u{202f}% less would have been seen"),
        "{ceiling}"
    );
}

#[test]
fn a_failing_point_stands_open_with_picture_table_and_words() {
    let html = page(&view(Outcome::Fail)).into_string();
    for part in [
        r#"<details class="card operating-point" open>"#,
        "nightly &lt;b&gt;",
        "changed here",
        ">changed</text>",
        "baseline 100 ms, one more run lies between 95.0 ms and 105 ms",
        "Not judged: too few requests to bound it",
        "this study",
        r#"data-word="fail""#,
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    let mut two = view(Outcome::Fail);
    let mut other = two.configurations[0].points[0].clone();
    other.outcome = Outcome::Pass;
    two.configurations[0].points.insert(0, other);
    let folded = r#"<details class="card operating-point"><summary>"#;
    assert!(page(&two).into_string().contains(folded), "what passes");
}

#[test]
fn a_ceiling_is_a_rate() {
    assert_eq!(value(None, 11.43, "req/s"), "11.4 req/s");
    let mut one = figure(Outcome::Pass, Some(Metric::Ttft));
    assert_eq!(written(&one, 1.236e8, "req/s"), "124 ms");
    one.error = Some(0.2);
    assert_eq!(written(&one, 1.236e8, "req/s"), "120\u{202f}ms");
    one.metric = None;
    assert_eq!(written(&one, 11.43, "req/s"), "11 req/s");
    assert_eq!(figure_name(&figure(Outcome::Pass, None)), "ceiling");
}

#[test]
fn the_studys_page_has_a_line_and_a_link() {
    let html = panel(&view(Outcome::Pass));
    let link = "/studies/00000000-0000-0000-0000-000000000001/history";
    assert!(
        html.contains(link) && html.contains("rel=\"external\""),
        "{html}"
    );
}

#[test]
fn one_reason_for_all_that_cannot_be_told_is_said_once() {
    let mut view = view(Outcome::Indeterminate);
    let why = "there is no earlier run of the same yet";
    let points = &mut view.configurations[0].points;
    points[0].figures.truncate(1);
    let figure = &mut points[0].figures[0];
    (figure.why, figure.change) = (Some(why.into()), None);
    points.push(points[0].clone());
    assert_eq!(common(&view), Some(why));
    let html = page(&view).into_string();
    // In sight once: elsewhere it is what hovering over a dash says.
    let shown =
        |text: &str| html.matches(text).count() - html.matches(&format!("title=\"{text}")).count();
    assert_eq!(
        shown("There is no earlier run of the same yet"),
        1,
        "{html}"
    );
    assert_eq!(
        html.matches(&format!("indeterminate: {why}</span>"))
            .count(),
        0
    );
    view.configurations[0].points[1].figures[0].why = Some("another".into());
    assert_eq!(common(&view), None);
}
