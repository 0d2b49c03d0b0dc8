//! What failed: by kind, when, and the first words of each.

use std::collections::BTreeMap;

use measure::request::{ErrorKind, Outcome, RequestRecord};
use measure::summary::Summary;
use measure::units::Nanos;

use super::axis::Scale;
use super::drawing::{HIGH, WIDE, short};
use super::part::Part;
use super::view::seconds;
use crate::ui::html::{Html, heads, html, table};
use crate::words::{self, failures};

/// Failures of a kind: places of its requests, as they were due.
type Kinds = BTreeMap<ErrorKind, Vec<usize>>;

/// The section.
pub fn failures(part: &Part<'_>, summary: &Summary) -> Html {
    let mut kinds = Kinds::new();
    for (place, record, _) in part.scored() {
        if let Outcome::Error(kind) = record.outcome {
            kinds.entry(kind).or_default().push(place);
        }
    }
    let body = if kinds.is_empty() {
        html!(
            r#"<p class="muted">None{}.</p>"#,
            if part.windowed { " in the window" } else { "" }
        )
    } else {
        let x = Scale::time(part);
        let mut all: Vec<_> = kinds.iter().collect();
        all.sort_by_key(|(kind, places)| (std::cmp::Reverse(places.len()), **kind));
        let rows = all
            .iter()
            .filter_map(|(kind, places)| row(part, &x, **kind, places));
        let heads = heads([
            "kind",
            "#requests",
            "when they failed",
            "first",
            "its first words",
        ]);
        let mend = summary
            .mend()
            .map(|it| html!(r#"<p class="muted">{}.</p>"#, words::capital(it)));
        html!(
            r#"<div class="scroll-x" tabindex="0" role="region" aria-label="Failures by kind">{}</div>{}"#,
            table("failures", "Failures by kind", heads, rows.collect()),
            mend
        )
    };
    html!(
        r#"<section class="stack" aria-labelledby="failures"><h2 id="failures">Failures</h2><p class="muted small">{}, {} failed.</p>{}</section>"#,
        part.words(),
        summary.failed.to_string(),
        body
    )
}

fn row(part: &Part<'_>, x: &Scale, kind: ErrorKind, places: &[usize]) -> Option<Html> {
    let record = |place: &usize| part.of.records.get(*place);
    let first = part.of.records.get(*places.first()?)?;
    let moments: Vec<Nanos> = places.iter().filter_map(record).map(failed_at).collect();
    let (earliest, latest) = (moments.iter().min()?, moments.iter().max()?);
    Some(html!(
        r#"<tr><th scope="row">{}</th><td class="num">{}</td><td>{}</td><td><a href="{}/requests/{}{}">request {}</a></td><td>{}</td></tr>"#,
        failures::kind(kind),
        places.len().to_string(),
        strip(
            x,
            &moments,
            &format!("{} s to {} s", seconds(*earliest), seconds(*latest))
        ),
        part.of.point.to_string(),
        (places.first()? + 1).to_string(),
        part.view.from_row(0).query(),
        (places.first()? + 1).to_string(),
        first_words(first)
    ))
}

/// When a failure was noticed.
fn failed_at(record: &RequestRecord) -> Nanos {
    record.end.or(record.sent).unwrap_or(record.scheduled)
}

/// A tick for each failure on the axis of time.
fn strip(x: &Scale, moments: &[Nanos], words: &str) -> Html {
    let mut places: Vec<String> = moments
        .iter()
        .map(|at| short((x.fraction(at.0).clamp(0.0, 1.0) * WIDE).round()))
        .collect();
    places.dedup();
    let path: String = places.iter().map(|at| format!("M{at} 0V{HIGH}")).collect();
    html!(
        r#"<svg class="strip" width="100%" height="18" viewBox="0 0 1000 300" preserveAspectRatio="none" role="img" aria-label="{}"><path d="{}"/></svg><span class="small muted">{}</span>"#,
        words,
        path,
        words
    )
}

/// What the engine or the connection said, in one line; a failure without words says its status.
pub fn first_words(record: &RequestRecord) -> String {
    let status = record.http_status.map(|it| format!("HTTP {it}"));
    let detail = record.error_detail.as_deref();
    let detail = detail.map(|it| it.split_whitespace().collect::<Vec<_>>().join(" "));
    let parts: Vec<String> = status.into_iter().chain(detail).collect();
    if parts.is_empty() {
        "–".into()
    } else {
        parts.join(": ")
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{point, whole};
    use super::super::view::View;
    use super::*;

    #[test]
    fn each_kind_has_its_count_its_ticks_and_its_first_words() {
        let point = point(40);
        let view = whole();
        let part = point.part(&view);
        let html = failures(&part, &part.summary()).into_string();
        assert!(
            html.contains("rate limited") && html.contains("HTTP 429: slow &lt;down&gt;"),
            "{html}"
        );
        assert!(html.contains("request 20</a>"), "{html}");
        assert_eq!(html.matches(" 0V300").count(), 2, "{html}");
    }

    #[test]
    fn a_window_without_failures_says_so() {
        let point = point(40);
        let view = View::read(|key| (key == "to").then(|| "10".to_owned()));
        let part = point.part(&view);
        let html = failures(&part, &part.summary()).into_string();
        assert!(html.contains("None in the window."), "{html}");
    }
}
