//! What the engine showed while one point was measured, small: beside a study's curves, for the point that is marked.

use measure::evidence::{Evidence, Track};

use super::drawing::{Small, small};
use crate::point::heading;
use crate::studio::{PointView, StudyView};
use crate::ui::html::{Html, html};

/// A picture: its name, the keys of its series, and what each is called where the engine did not show it.
type Lane = (&'static str, &'static [(&'static str, &'static str)]);

const LANES: [Lane; 2] = [
    (
        "Requests at the engine",
        &[("running", "running requests"), ("waiting", "queue depth")],
    ),
    ("KV cache", &[("kv_usage", "KV cache in use")]),
];

/// Where it is said which engines show what, and how.
const MORE: &str = r#"<a href="/docs/guide/engines" rel="external">Which engines show it</a>"#;

/// The panel of a measured point.
pub fn glance(study: &StudyView, point: &PointView, evidence: Option<&Evidence>) -> Html {
    let tracks = evidence.map_or(&[][..], |it| &it.tracks);
    let drawn = LANES.map(|lane| (lane, of_lane(lane, tracks, point)));
    let said: Vec<String> = drawn
        .iter()
        .flat_map(|(_, found)| found.iter().flat_map(|it| it.said.clone()))
        .collect();
    let missing = missing(tracks);
    let shown = match said.is_empty() {
        true => String::new(),
        false => format!(" {}.", said.join(", ")),
    };
    let absent = (!missing.is_empty()).then(|| {
        html!(
            r#" <span class="muted">The engine showed no {}. {}</span>"#,
            missing.join(" and no "),
            Html::literal(MORE)
        )
    });
    let pictures = drawn.into_iter().filter_map(|(_, found)| found);
    let pictures: Html = pictures.map(|it| it.figure).collect();
    let lanes =
        (!said.is_empty()).then(|| html!(r#"<div class="engine-lanes">{}</div>"#, pictures));
    html!(
        r#"<p class="engine-said" data-at="{}"><a href="/studies/{}/points/{}" rel="external">{}</a>:{}{}</p>{}"#,
        point.id.to_string(),
        study.id.to_string(),
        point.id.to_string(),
        heading(study, point),
        shown,
        absent,
        lanes
    )
}

/// In its place while no point has finished.
pub fn nothing() -> Html {
    Html::literal(r#"<p class="engine-said muted">No point has finished yet.</p>"#)
}

fn of_lane((name, series): Lane, tracks: &[Track], point: &PointView) -> Option<Small> {
    let keys: Vec<&str> = series.iter().map(|it| it.0).collect();
    small(tracks, ends(tracks, point), (name, &keys))
}

/// From the point's start to its end, in milliseconds; to the last look where that is not known.
fn ends(tracks: &[Track], point: &PointView) -> (f64, f64) {
    let duration = point.summary.as_ref().map(|it| it.duration.as_millis_f64());
    let looks = tracks.iter().filter_map(|it| it.at_ms.last());
    let last = looks.max().map_or(0.0, |it| *it as f64);
    let end = duration.filter(|it| 0.0 < *it).unwrap_or(last);
    (0.0, end.max(1.0))
}

/// What the engine did not show.
fn missing(tracks: &[Track]) -> Vec<&'static str> {
    let series = || tracks.iter().flat_map(|it| &it.series);
    let is_shown =
        |key: &str| series().any(|it| it.key == key && it.values.iter().any(Option::is_some));
    let all = LANES.iter().flat_map(|lane| lane.1);
    all.filter(|it| !is_shown(it.0)).map(|it| it.1).collect()
}

#[cfg(test)]
mod tests {
    use measure::evidence::Series;

    use super::*;
    use crate::evidence::tests::evidence;
    use crate::fixture;

    fn series(key: &str, values: [f64; 3]) -> Series {
        Series {
            key: key.into(),
            label: key.into(),
            unit: if key == "kv_usage" { "%" } else { "" }.into(),
            values: values.map(Some).to_vec(),
            ..Series::default()
        }
    }

    fn of(all: Vec<Series>) -> String {
        let study = fixture::study();
        let mut evidence = evidence();
        evidence.tracks = vec![Track {
            of: "engine".into(),
            at_ms: vec![0, 1000, 2000],
            series: all,
        }];
        glance(&study, &study.points[0], Some(&evidence)).into_string()
    }

    #[test]
    fn queue_running_and_kv_use_are_drawn_with_words_and_tables() {
        let html = of(vec![
            series("running", [1.0, 4.0, 4.0]),
            series("waiting", [0.0, 0.0, 27.0]),
            series("kv_usage", [1.0, 50.0, 87.0]),
        ]);
        assert!(
            html.contains("running at most 4, waiting at most 27, kv_usage at most 87\u{202f}%."),
            "{html}"
        );
        assert_eq!(html.matches("<svg class=\"frame\"").count(), 2, "{html}");
        assert_eq!(html.matches("<table").count(), 2, "{html}");
        assert!(!html.contains("showed no"), "{html}");
    }

    #[test]
    fn what_the_engine_did_not_show_is_named_in_one_sentence() {
        let html = of(vec![series("running", [1.0, 4.0, 4.0])]);
        assert!(
            html.contains("The engine showed no queue depth and no KV cache in use."),
            "{html}"
        );
        let study = fixture::study();
        let html = glance(&study, &study.points[0], None).into_string();
        assert!(
            html.contains(
                "The engine showed no running requests and no queue depth and no KV cache in use."
            ),
            "{html}"
        );
        assert!(
            !html.contains("<svg") && !html.contains("engine-lanes"),
            "{html}"
        );
    }
}
