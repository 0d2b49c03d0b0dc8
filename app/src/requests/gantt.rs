//! Requests as rows: when each was due, sent, had its first token and its end, and how it fared. Rows are drawn as they come into sight; all
//! of them have their height.

use measure::request::RequestRecord;
use measure::score::Score;
use measure::units::Nanos;

use super::axis::Scale;
use super::drawing::percent;
use super::part::{Fared, Part};
use super::view::{View, seconds};
use crate::ui::format;
use crate::ui::html::{Html, heads, html, missing, table};
use crate::words::failures;

/// Rows that are drawn at a time, and so many at most.
pub const BLOCK: usize = 100;
const MOST: usize = 200;
/// Pixels of a row; the same as in point.css.
const HEIGHT: usize = 24;

/// The list with its first rows, its legend, and its table.
pub fn gantt(part: &Part<'_>) -> Html {
    let all = part.inside.len();
    let first = part.view.row.min(all.saturating_sub(1)) / BLOCK * BLOCK;
    let last = (first + BLOCK).min(all);
    html!(
        r#"<figure class="stack tight time-lane"><figcaption><strong>Requests.</strong> {} {}</figcaption><div class="rows" id="rows" data-height="{}" data-block="{}" role="region" aria-label="Requests in the order in which they were due"><div class="rows-all" style="height:{}px">{}</div></div>{}<details class="as-text"><summary>As a table<span class="sr-only">: requests {} to {}</span></summary><div class="scroll-x" tabindex="0" role="region" aria-label="Requests as a table">{}</div></details></figure>"#,
        legend(part),
        "Each opens.",
        HEIGHT.to_string(),
        BLOCK.to_string(),
        ((last - first).max(all) * HEIGHT).to_string(),
        rows(part, first, last),
        pager(part, first, last),
        (first + 1).to_string(),
        last.to_string(),
        as_table(part, first, last)
    )
}

/// Rows from one place up to another, as a list that stands where they belong.
pub fn rows(part: &Part<'_>, from: usize, to: usize) -> Html {
    let to = to.min(from.saturating_add(MOST)).min(part.inside.len());
    let from = from.min(to);
    let x = Scale::time(part);
    let link = Link::of(part.view, part);
    let shown = part.inside.get(from..to).unwrap_or_default();
    let row = |place: &usize| {
        let record = part.of.records.get(*place)?;
        let score = part.of.scores.get(*place)?;
        Some(row(&x, &link, (*place, record, score), part.fared(score)))
    };
    html!(
        r#"<ol class="rows-block" data-from="{}" style="top:{}px">{}</ol>"#,
        from.to_string(),
        (from * HEIGHT).to_string(),
        shown.iter().filter_map(row).collect::<Html>()
    )
}

/// Where a request's own page is, as seen from the point's.
struct Link {
    point: String,
    query: String,
}

impl Link {
    fn of(view: &View, part: &Part<'_>) -> Self {
        Self {
            point: part.of.point.to_string(),
            query: view.from_row(0).query(),
        }
    }

    fn to(&self, place: usize) -> String {
        format!("{}/requests/{}{}", self.point, place + 1, self.query)
    }
}

fn row(
    x: &Scale,
    link: &Link,
    (place, record, score): (usize, &RequestRecord, &Score),
    fared: Fared,
) -> Html {
    let number = format!("{} {}", place + 1, fared.sign());
    html!(
        r#"<li><a href="{}" data-fared="{}" title="{}"><span class="number">{}</span><span class="bar">{}</span></a></li>"#,
        link.to(place),
        fared.name(),
        told(place, record, score, fared),
        number,
        bars(x, record)
    )
}

/// `Request 12: kept the SLO; sent at 1.2 s, TTFT 210 ms, E2E 2.10 s, 128 tokens`.
fn told(place: usize, record: &RequestRecord, score: &Score, fared: Fared) -> String {
    let mut parts = vec![match record.outcome {
        measure::request::Outcome::Error(kind) => failures::kind(kind),
        measure::request::Outcome::Ok => fared.words().to_owned(),
    }];
    parts.push(match record.sent {
        Some(sent) => format!("sent at {} s", seconds(sent)),
        None => format!("due at {} s, never sent", seconds(record.scheduled)),
    });
    parts.extend(score.ttft.map(|it| format!("TTFT {it}")));
    parts.extend(score.e2e.map(|it| format!("E2E {it}")));
    parts.extend(score.n.map(|it| format!("{it} tokens")));
    format!("Request {}: {}", place + 1, parts.join(", "))
}

/// Due to sent, sent to first token, first token to end: what of it lies on the axis.
fn bars(x: &Scale, record: &RequestRecord) -> Html {
    let end = record.end.or(record.sent).unwrap_or(record.scheduled);
    let sent = record.sent.unwrap_or(end);
    let first = record.chunks.first().map_or(end, |it| it.arrived());
    let parts = [
        ("due", record.scheduled, sent),
        ("wait", sent, first),
        ("stream", first, end),
    ];
    parts
        .into_iter()
        .filter_map(|(name, from, to)| bar(x, name, from, to))
        .collect()
}

fn bar(x: &Scale, name: &str, from: Nanos, to: Nanos) -> Option<Html> {
    let place = |at: Nanos| x.fraction(at.0).clamp(0.0, 1.0);
    let (left, right) = (place(from), place(to));
    let is_seen = from < to && (left < right || (0.0 < left && left < 1.0));
    is_seen.then(|| {
        html!(
            r#"<i class="{}" style="left:{};width:{}"></i>"#,
            name,
            percent(left),
            percent(right - left)
        )
    })
}

fn legend(part: &Part<'_>) -> Html {
    let count = |fared: Fared| {
        let all = part.scored().filter(|it| part.fared(it.2) == fared);
        all.count()
    };
    let entry = |fared: Fared| {
        let count = count(fared);
        (0 < count || fared == Fared::Kept).then(|| {
            html!(
                r#"<span class="fared" data-fared="{}"><span class="bar" aria-hidden="true"><i class="stream"></i></span>{} {} {}</span> "#,
                fared.name(),
                fared.sign(),
                format::count(count as u64),
                fared.words()
            )
        })
    };
    html!(
        r#"{}. <span class="muted">{}.</span> {} <span class="muted">Thin: due but not sent. Pale: waiting for the first token. Full: tokens.</span>"#,
        part.words(),
        part.slo.pretty(),
        Fared::ALL.into_iter().filter_map(entry).collect::<Html>()
    )
}

/// The way to other rows where there is no script.
fn pager(part: &Part<'_>, first: usize, last: usize) -> Html {
    let link = |row: usize, words: &str| {
        html!(
            r#"<a class="button" href="{}{}">{}</a>"#,
            part.of.path(),
            part.view.from_row(row).query(),
            words
        )
    };
    let before = (0 < first).then(|| link(first - BLOCK, "Earlier requests"));
    let after = (last < part.inside.len()).then(|| link(last, "Later requests"));
    html!(
        r#"<p class="row pager">Rows {} to {} of {} {}{}</p>"#,
        (first + 1).to_string(),
        last.to_string(),
        part.inside.len().to_string(),
        before,
        after
    )
}

fn as_table(part: &Part<'_>, first: usize, last: usize) -> Html {
    let link = Link::of(part.view, part);
    let span = |of: Option<Nanos>| match of {
        Some(value) => html!("{}", value.to_string()),
        None => missing("No value."),
    };
    let row = |place: &usize| {
        let record = part.of.records.get(*place)?;
        let score = part.of.scores.get(*place)?;
        Some(html!(
            r#"<tr><th scope="row"><a href="{}">{}</a></th><td class="num">{}</td><td class="num">{}</td><td class="num">{}</td><td class="num">{}</td><td class="num">{}</td><td>{} {}</td></tr>"#,
            link.to(*place),
            (place + 1).to_string(),
            seconds(record.scheduled),
            span(record.dispatch_lag()),
            span(score.ttft),
            span(score.e2e),
            score.n,
            part.fared(score).sign(),
            match record.outcome {
                measure::request::Outcome::Error(kind) => failures::kind(kind),
                measure::request::Outcome::Ok => part.fared(score).words().to_owned(),
            }
        ))
    };
    let shown = part.inside.get(first..last).unwrap_or_default();
    let heads = heads([
        "request",
        "#due, s",
        "#sent after",
        "#TTFT",
        "#E2E",
        "#tokens",
        "how it fared",
    ]);
    table(
        "",
        "Requests",
        heads,
        shown.iter().filter_map(row).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::{point, whole};
    use super::*;

    #[test]
    fn a_row_has_its_three_parts_on_the_axis() {
        let point = point(3);
        let view = whole();
        let html = rows(&point.part(&view), 0, 3).into_string();
        assert_eq!(html.matches("<li>").count(), 3);
        // Sent 2 ms after it was due, first token 100 ms later, end at 1.302 s of 3.302 s.
        assert!(
            html.contains(r#"<i class="due" style="left:0.00%;"#),
            "{html}"
        );
        assert!(
            html.contains(r#"<i class="wait" style="left:0.06%;width:3.03%">"#),
            "{html}"
        );
        assert!(html.contains("requests/3\" data-fared="), "{html}");
        assert!(
            html.contains("Request 1: kept the SLO, sent at 0.002 s, TTFT 100 ms"),
            "{html}"
        );
    }

    #[test]
    fn only_what_is_asked_for_is_drawn_and_all_has_its_height() {
        let point = point(450);
        let view = whole();
        let part = point.part(&view);
        let html = gantt(&part).into_string();
        assert_eq!(html.matches("<li>").count(), BLOCK);
        assert!(html.contains("style=\"height:10800px\""), "450 rows");
        let later = rows(&part, 400, 10_000).into_string();
        assert!(later.contains("top:9600px") && later.matches("<li>").count() == 50);
        assert_eq!(
            rows(&part, 0, 10_000).into_string().matches("<li>").count(),
            MOST
        );
        assert_eq!(
            rows(&part, 9000, 9100)
                .into_string()
                .matches("<li>")
                .count(),
            0
        );
    }

    #[test]
    fn the_window_is_carried_to_a_requests_page() {
        let point = point(30);
        let view = View::read(|key| (key == "from").then(|| "3".to_owned()));
        let html = rows(&point.part(&view), 0, 1).into_string();
        assert!(html.contains("/requests/4?from=3\""), "{html}");
    }
}
