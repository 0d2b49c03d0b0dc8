//! The points as a table: every percentile with its interval and its count on hover; cards on a phone.

use leptos::html;
use leptos::prelude::*;
use measure::certificate::Innocence;
use measure::quantile::{Distribution, Estimate};
use measure::slo::Judgement;
use measure::summary::{Capacity, Summary};

use super::Page;
use crate::figure_svg::series_colour;
use crate::studio::{PointState, PointView, StudyView};
use crate::ui::badge::{CLEAN, SUSPECT, VOID, point_word};
use crate::ui::erased::Erase;
use crate::ui::format;
use crate::ui::html::{Html, badge, heads, html, missing};
use crate::ui::reactive::effect;
use crate::words;

/// The table.
#[component]
pub fn Points(page: Page) -> impl IntoView {
    let owner = page.is_owner();
    let unit = page
        .known
        .with_untracked(|study| words::rate_unit(&study.spec));
    let body = NodeRef::<html::Tbody>::new();
    keep(page, body, owner);
    let rows = page.rested.with_untracked(|study| rows(study, owner));
    view! {
        <section class="stack" aria-labelledby="points-heading">
            <h2 id="points-heading">"Points"</h2>
            <div class="scroll-x" tabindex="0">
                <table class="points">
                    <thead>
                        <tr inner_html=head(unit, owner).into_string()></tr>
                    </thead>
                    <tbody node_ref=body inner_html=rows.into_string()></tbody>
                </table>
            </div>
            <p class="small muted">
                "Point at a number, go to it with Tab and the arrow keys, or touch it for its 95 % interval and the requests behind it. Failed requests stand as infinity in every percentile."
            </p>
        </section>
    }
    .erased()
}

/// Draws the rows anew when a point went on; else they stay, and how many were good is written anew where that is another
/// number now.
fn keep(page: Page, body: NodeRef<html::Tbody>, owner: bool) {
    let drawn = StoredValue::new((Vec::new(), Vec::new()));
    effect(move || {
        let now = page.rested.with(|study| {
            let points = study.points.iter();
            let state = points.clone().map(|point| (point.id, point.state as u8));
            let good = |point: &PointView| good(point.judgement.as_ref()).into_string();
            (
                state.collect::<Vec<_>>(),
                points.map(good).collect::<Vec<_>>(),
            )
        });
        let before = drawn.get_value();
        // The first time they stand there already.
        if !before.0.is_empty() && before.0 != now.0 {
            if let Some(body) = body.get_untracked() {
                let rows = page.rested.with_untracked(|study| rows(study, owner));
                body.set_inner_html(&rows.into_string());
            }
        } else {
            let cells = now.0.iter().zip(&now.1).zip(&before.1);
            for (((id, _), text), _) in cells.filter(|((_, now), before)| now != before) {
                if let Some(cell) = document().get_element_by_id(&format!("good-{id}")) {
                    cell.set_inner_html(text);
                }
            }
        }
        drawn.set_value(now);
    });
}

fn rows(study: &StudyView, owner: bool) -> Html {
    let points = study.points.iter();
    points.map(|point| row(study, point, owner)).collect()
}

fn row(study: &StudyView, point: &PointView, owner: bool) -> Html {
    let state = if point.state == PointState::Finished {
        "finished"
    } else {
        "open"
    };
    html!(
        r#"<tr data-state="{}">{}</tr>"#,
        state,
        cells(study, point, owner)
    )
}

fn head(unit: &str, owner: bool) -> Html {
    let rate = format!("#rate ({unit})");
    let names = [
        "?configuration@configuration",
        &rate,
        "#?offered@offered-rate /s",
        "#req/s",
        "#tok/s",
    ];
    let metrics = [("TTFT", "ttft"), ("TPOT", "tpot"), ("E2E", "e2e")];
    let latencies = metrics.iter().flat_map(|(metric, anchor)| {
        [
            format!("#?{metric}@{anchor} p50"),
            format!("#{metric} p95"),
            format!("#{metric} p99"),
        ]
    });
    let latencies: Vec<String> = latencies.collect();
    let rest = ["#?good@good-request", "#failed", "?client@certificate"];
    let raw = owner.then_some("raw");
    heads(
        names
            .into_iter()
            .chain(latencies.iter().map(String::as_str))
            .chain(rest)
            .chain(raw),
    )
}

fn cells(study: &StudyView, point: &PointView, owner: bool) -> Html {
    let configuration = study.configurations.get(point.configuration as usize);
    let configuration = configuration.map_or("", |found| found.spec.name.as_str());
    let over = point.state.is_over();
    let level = match point.repeat {
        0 => point.level.to_string(),
        repeat => format!("{}, repeat {}", point.level, repeat.saturating_add(1)),
    };
    let link = html!(
        r#"<a href="/studies/{}/points/{}" rel="external">{}</a>"#,
        study.id.to_string(),
        point.id.to_string(),
        level
    );
    let raw = html!(
        r#"<a href="/api/v1/points/{}/records.parquet" download rel="external">parquet</a>"#,
        point.id.to_string()
    );
    html!(
        r#"<th scope="row" data-label="configuration"><span class="row nowrap" style="--series:{}"><span class="key" aria-hidden="true"></span>{}</span></th><td class="num" data-label="rate">{}</td>{}{}"#,
        series_colour(point.configuration as usize),
        configuration,
        if owner && over {
            link
        } else {
            html!("{}", level)
        },
        numbers(point),
        owner.then(|| html!(r#"<td data-label="raw">{}</td>"#, over.then_some(raw))),
    )
}

fn numbers(point: &PointView) -> Html {
    let Some(summary) = &point.summary else {
        return html!(
            r#"<td colspan="15" data-label="state">{} {}</td>"#,
            badge(point_word(point.state)),
            point.problem.as_deref().unwrap_or_default()
        );
    };
    let above = match &summary.capacity {
        Capacity::Above { why } => Some(why.as_str()),
        Capacity::Within | Capacity::Unknown => None,
    };
    html!(
        "{}{}{}{}{}{}{}{}{}",
        rate(
            "offered",
            summary.offered_rate,
            "No rate: not an open-loop point."
        ),
        rate(
            "completed",
            summary.completed_per_s,
            "Nothing was completed."
        ),
        rate(
            "tok/s",
            summary.output_tokens_per_s,
            "The engine did not say how many tokens."
        ),
        latencies("TTFT", &summary.ttft, above),
        latencies("TPOT", &summary.tpot, above),
        latencies("E2E", &summary.e2e, above),
        html!(
            r#"<td class="num" data-label="good" id="good-{}">{}</td>"#,
            point.id.to_string(),
            good(point.judgement.as_ref())
        ),
        failed(summary),
        client(point),
    )
}

fn rate(label: &str, value: Option<f64>, reason: &str) -> Html {
    let shown = value.map_or_else(
        || missing(reason),
        |value| html!("{}", format::number(value)),
    );
    html!(r#"<td class="num" data-label="{}">{}</td>"#, label, shown)
}

/// p50, p95, p99 of one metric. Above capacity they are marked: a direction, no value.
fn latencies(metric: &str, distribution: &Distribution, above: Option<&str>) -> Html {
    let cell = |name: &str, estimate: &Option<Estimate>, text: Option<String>| {
        let mut detail = words::estimate_detail(estimate.as_ref(), distribution);
        if let Some(why) = above {
            detail = format!("above capacity, a direction and no value: {why}; {detail}");
        }
        let value = |text: String| {
            let arrow = if above.is_some() { "↑ " } else { "" };
            html!(
                r#"<span title="{}">{}{}</span>"#,
                detail,
                arrow,
                format::value_of(&text)
            )
        };
        html!(
            r#"<td class="num{}" data-label="{} {}">{}</td>"#,
            if above.is_some() { " beyond" } else { "" },
            metric,
            name,
            text.map_or_else(|| missing(&detail), value),
        )
    };
    let Distribution { p50, p95, p99, .. } = distribution;
    let texts = format::latencies([p50, p95, p99].map(Option::as_ref));
    [("p50", p50), ("p95", p95), ("p99", p99)]
        .into_iter()
        .zip(texts)
        .map(|((name, estimate), text)| cell(name, estimate, text))
        .collect()
}

fn good(judgement: Option<&Judgement>) -> Html {
    let share =
        judgement.and_then(|judgement| judgement.attainment.map(|share| (judgement, share)));
    let Some((judgement, share)) = share else {
        return missing("Not judged under this SLO yet.");
    };
    let detail = format!(
        "{} of {} good, {} undetermined; 95 % interval {} to {}; {}",
        judgement.good,
        judgement.scheduled,
        judgement.undetermined,
        format::percent(share.lo),
        format::percent(share.hi),
        words::keeps(judgement.by_attainment),
    );
    html!(
        r#"<span title="{}">{}</span>"#,
        detail,
        format::percent(share.value)
    )
}

fn failed(summary: &Summary) -> Html {
    html!(
        r#"<td class="num" data-label="failed"><span title="{}">{}</span></td>"#,
        words::failures::list(&summary.failures),
        summary.failed
    )
}

fn client(point: &PointView) -> Html {
    let word = point.certificate.as_ref().map(|certificate| {
        let word = match certificate.innocence {
            Innocence::Clean => CLEAN,
            Innocence::Suspect => SUSPECT,
            Innocence::Void => VOID,
        };
        html!(
            r#"<span title="{}">{}</span>"#,
            certificate.reasons.join(" "),
            badge(word)
        )
    });
    html!(r#"<td data-label="client">{}</td>"#, word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn row_of(study: &StudyView, index: usize, owner: bool) -> String {
        cells(study, &study.points[index], owner).into_string()
    }

    #[test]
    fn a_row_has_as_many_cells_as_its_head() {
        for owner in [false, true] {
            let cells = row_of(&fixture::study(), 0, owner);
            let cells = cells.matches("<td").count() + cells.matches("<th ").count();
            assert_eq!(
                head("req/s", owner).into_string().matches("<th ").count(),
                cells
            );
        }
    }

    #[test]
    fn a_guest_gets_no_link_into_the_studio() {
        assert!(row_of(&fixture::study(), 0, true).contains("records.parquet"));
        assert!(!row_of(&fixture::study(), 0, false).contains("href"));
    }

    #[test]
    fn an_unfinished_point_says_so() {
        let mut study = fixture::study();
        study.points[0].summary = None;
        study.points[0].state = PointState::Planned;
        assert!(row_of(&study, 0, true).contains("planned"));
    }

    #[test]
    fn above_capacity_each_latency_carries_its_arrow() {
        let mut study = fixture::study();
        study.points[0].summary.as_mut().expect("summary").capacity = Capacity::Above {
            why: "in flight grows".into(),
        };
        assert_eq!(row_of(&study, 0, true).matches("↑ ").count(), 9);
    }
}
