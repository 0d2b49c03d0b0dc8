//! One point: what happened, then every distribution, then what failed, then the client's certificate.

mod client; // was the client innocent

use crate::ui::erased::Erase;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::components::A;
use measure::quantile::{Distribution, Estimate};
use measure::slo::{Judgement, Metric};
use measure::summary::{Capacity, Summary};
use uuid::Uuid;

use super::study::uuid_param;
use crate::api::{get_evidence, get_study};
use crate::chart::level_words;
use crate::reading::Reading;
use crate::studio::{PointView, StudioError, StudyView};
use crate::ui::badge::{Badge, INSECURE, SIMULATED, point_word};
use crate::ui::format;
use crate::ui::html::{Html, heads, html, missing, table, terms};
use crate::words;

/// A point by the ids in its URL.
#[component]
pub fn PointPage() -> impl IntoView {
    let (study, point) = (uuid_param("id"), uuid_param("point"));
    let found = Reading::new(
        move || (study.get(), point.get()),
        async |(study, point): (Option<Uuid>, Option<Uuid>)| {
            let missing = || StudioError::NotFound {
                what: "point".into(),
            };
            let study = get_study(study.ok_or_else(missing)?).await?;
            match point {
                Some(id) if study.points.iter().any(|point| point.id == id) => {
                    // The page stands without it.
                    let evidence = get_evidence(id).await.unwrap_or_default();
                    Ok((study, id, evidence))
                }
                _ => Err(missing()),
            }
        },
    );
    found.page("Reading the point…", |(study, point, evidence)| {
        view! { <PointBody study point evidence /> }.erased()
    })
}

#[component]
fn PointBody(study: StudyView, point: Uuid, evidence: String) -> impl IntoView {
    let unit = words::rate_unit(&study.spec);
    let simulated = study.is_simulated();
    let insecure = study.is_insecure();
    // The page's resource has checked that the point is one of the study's.
    let point = study
        .points
        .iter()
        .find(|known| known.id == point)
        .cloned()?;
    let configuration = study
        .configurations
        .get(point.configuration as usize)
        .map(|one| one.spec.name.clone())
        .unwrap_or_default();
    let heading = format!("{configuration} at {}", level_words(point.level, unit));
    let back = format!("/studies/{}", study.id);
    let raw = format!("/api/v1/points/{}/records.parquet", point.id);
    let measured = point.summary.is_some();
    let body = body(&point, unit).into_string() + &evidence;
    let view = view! {
        <Title text=format!("{heading}, {}", study.spec.name) />
        <article class="page narrow point">
            <header class="page-head">
                <div class="stack tight">
                    <nav class="crumbs" aria-label="Breadcrumb">
                        <A href="/">"Studies"</A>
                        <A href=back>{study.spec.name.clone()}</A>
                        <span aria-current="page">{heading.clone()}</span>
                    </nav>
                    <h1>{heading.clone()}</h1>
                    <div class="row">
                        <Badge word=point_word(point.state) />
                        {simulated.then(|| view! { <Badge word=SIMULATED /> })}
                        {insecure.then(|| view! { <Badge word=INSECURE /> })}
                    </div>
                </div>
                <div class="actions">
                    {measured.then(|| view! { <a class="button" href=raw download="" rel="external">"Requests as Parquet"</a> })}
                </div>
            </header>
            <div class="answer">
                <p>{answer(&point)}</p>
            </div>
            <div class="stack loose" inner_html=body></div>
        </article>
    };
    Some(view.erased())
}

/// What happened, in one sentence.
fn answer(point: &PointView) -> String {
    let Some(summary) = &point.summary else {
        let planned = words::count(point.planned_requests as usize, "request");
        return format!("Not measured yet: {planned} planned.");
    };
    let mut parts = vec![match &point.judgement {
        Some(judgement) => format!("{} of {} good", judgement.good, judgement.scheduled),
        None => format!("{} of {} completed", summary.completed, summary.scheduled),
    }];
    parts.extend(
        summary
            .failures
            .iter()
            .map(|(kind, count)| format!("{count} {}", kind.name().replace('_', " "))),
    );
    if let Some(p95) = &summary.ttft.p95 {
        parts.push(format!("TTFT p95 {}", format::latency(p95)));
    }
    if let Capacity::Above { why } = &summary.capacity {
        parts.push(format!("above capacity: {}", why.trim_end_matches('.')));
    }
    format!("{}.", parts.join("; "))
}

fn body(point: &PointView, unit: &str) -> Html {
    let numbers = point.summary.as_ref().map(|summary| {
        html!(
            "{}{}{}",
            section(
                "Latencies",
                html!(
                    r#"<div class="scroll-x" tabindex="0">{}</div>"#,
                    distributions(summary)
                )
            ),
            section(
                "Counts and rates",
                html!(
                    r#"<dl class="facts">{}</dl>"#,
                    terms(counts(summary, &point.notes, unit))
                )
            ),
            section("Failures", failures(summary)),
        )
    });
    let remarks = point.summary.as_ref().map(|summary| {
        let remarks = summary.remarks.iter();
        remarks
            .map(|remark| {
                html!(
                    r#"<p class="notice" data-tone="warn">{}.</p>"#,
                    words::capital(remark)
                )
            })
            .collect::<Html>()
    });
    let promise = point.judgement.as_ref().map(|judgement| {
        section(
            "Under the study's SLO",
            html!(r#"<dl class="facts">{}</dl>"#, terms(verdicts(judgement))),
        )
    });
    let client = point
        .certificate
        .as_ref()
        .map(|certificate| section("Was the client innocent?", client::client(certificate)));
    html!("{}{}{}{}", remarks, numbers, promise, client)
}

fn section(heading: &str, body: Html) -> Html {
    html!(
        r#"<section class="stack"><h2>{}</h2>{}</section>"#,
        heading,
        body
    )
}

fn distributions(summary: &Summary) -> Html {
    let chunky = summary.tokens_per_chunk.is_some_and(|tokens| 1.0 < tokens);
    let metrics = [
        Metric::Ttft,
        Metric::ScheduledTtft,
        Metric::Ttfa,
        Metric::Tpot,
        Metric::Itl,
        Metric::Stall,
        Metric::E2e,
    ];
    let row = |metric: Metric| {
        let distribution = summary.of(metric);
        let Distribution {
            count,
            failed,
            effective,
            p50,
            p95,
            p99,
        } = distribution;
        let name = if chunky && metric == Metric::Itl {
            "ITL (chunk gap)"
        } else {
            words::metric_name(metric)
        };
        let cells: Html = [p50, p95, p99]
            .into_iter()
            .map(|estimate| latency(estimate.as_ref(), distribution))
            .collect();
        html!(
            r#"<tr><th scope="row">{}</th>{}<td class="num">{}</td><td class="num">{}</td><td class="num">{}</td></tr>"#,
            words::capital(name),
            cells,
            format::count(u64::from(*count)),
            failed,
            format::number(*effective)
        )
    };
    let heads = heads([
        "metric",
        "#p50",
        "#p95",
        "#p99",
        "#n",
        "#failed",
        "#independent",
    ]);
    table(
        "",
        "Latencies of this point",
        heads,
        metrics.into_iter().map(row).collect(),
    )
}

fn latency(estimate: Option<&Estimate>, distribution: &Distribution) -> Html {
    let detail = words::estimate_detail(estimate, distribution);
    let value = |estimate: &Estimate| {
        html!(
            r#"<span title="{}">{}</span>"#,
            detail,
            format::latency(estimate)
        )
    };
    html!(
        r#"<td class="num">{}</td>"#,
        estimate.map_or_else(|| missing(&detail), value)
    )
}

fn counts(summary: &Summary, notes: &[String], unit: &str) -> Vec<(String, String)> {
    let rate = |value: Option<f64>, unit: &str| {
        value.map_or("–".into(), |value| {
            format!("{} {unit}", format::number(value))
        })
    };
    let Summary {
        scheduled,
        sent,
        completed,
        failed,
        ..
    } = summary;
    let cached = summary
        .cached_tokens
        .map_or("the answers' usage does not say".into(), |tokens| {
            format!("{} tokens", format::count(tokens))
        });
    let per_chunk = summary.tokens_per_chunk.map_or("–".into(), format::number);
    // Points of before say nothing of it.
    let prompts = match notes {
        [] => "–".into(),
        notes => notes.join(" "),
    };
    [
        ("Duration", summary.duration.to_string()),
        (
            "Requests",
            format!("{scheduled} scheduled, {sent} sent, {completed} completed, {failed} failed"),
        ),
        ("Sessions", summary.sessions.to_string()),
        ("Offered", rate(summary.offered_rate, unit)),
        ("Sent", rate(summary.sent_rate, unit)),
        ("Completed", rate(summary.completed_per_s, "req/s")),
        (
            "Output",
            format!(
                "{}, {} tokens",
                rate(summary.output_tokens_per_s, "tok/s"),
                format::count(summary.output_tokens)
            ),
        ),
        (
            "Input",
            format!(
                "{}, {} tokens",
                rate(summary.input_tokens_per_s, "tok/s"),
                format::count(summary.input_tokens)
            ),
        ),
        ("Prompts", prompts),
        ("From the prefix cache", cached),
        ("Most in flight", summary.max_in_flight.to_string()),
        ("Tokens per chunk", per_chunk),
    ]
    .map(|(term, what)| (term.to_owned(), what))
    .to_vec()
}

fn failures(summary: &Summary) -> Html {
    if summary.failures.is_empty() {
        return html!(r#"<p class="muted">None.</p>"#);
    }
    let kinds: Html = summary
        .failures_in_words()
        .iter()
        .map(|words| html!("<li>{}</li>", words))
        .collect();
    let mend = summary
        .mend()
        .map(|mend| html!(r#"<p class="muted">{}.</p>"#, words::capital(mend)));
    html!("<ul>{}</ul>{}", kinds, mend)
}

/// Both verdicts, by name, and each bound.
fn verdicts(judgement: &Judgement) -> Vec<(String, String)> {
    let share = judgement
        .attainment
        .map_or("–".into(), |share| format::proportion(&share));
    let tokens = judgement.good_tokens_per_s.map_or("–".into(), |rate| {
        format!("{} tok/s", format::number(rate))
    });
    let mut rows = vec![
        (
            "By attainment".into(),
            format!("{share} good: {}", words::keeps(judgement.by_attainment)),
        ),
        (
            "By percentile".into(),
            words::keeps(judgement.by_percentile).into(),
        ),
    ];
    rows.extend(judgement.bounds.iter().map(|bound| {
        let observed = bound.observed.as_ref().map_or("–".into(), format::latency);
        (
            bound.bound.clone(),
            format!("{observed}: {}", words::keeps(bound.keeps)),
        )
    }));
    rows.push(("Good output".into(), tokens));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn the_first_line_says_what_happened() {
        let study = fixture::study();
        assert!(
            answer(&study.points[0]).starts_with("196 of 200 good; TTFT p95 40"),
            "{}",
            answer(&study.points[0])
        );
    }

    #[test]
    fn a_point_to_be_says_so() {
        let mut point = fixture::study().points[0].clone();
        point.summary = None;
        assert_eq!(answer(&point), "Not measured yet: 200 requests planned.");
    }

    #[test]
    fn what_was_done_otherwise_than_asked_stands_first() {
        let mut point = fixture::study().points[0].clone();
        let remark = "prompts arrived as 12 tokens where 60 were meant <b>";
        if let Some(summary) = &mut point.summary {
            summary.remarks = vec![remark.into()];
        }
        let text = body(&point, "req/s").into_string();
        let shown = "Prompts arrived as 12 tokens where 60 were meant &lt;b&gt;.";
        assert!(text.find(shown) < text.find("Latencies") && text.contains(shown));
        assert!(text.contains("Input lengths counted by the engine"));
    }

    #[test]
    fn every_metric_has_its_row() {
        let study = fixture::study();
        let text = body(&study.points[0], "req/s").into_string();
        assert_eq!(text.matches("<tr>").count(), 8, "one head, seven metrics");
        assert!(text.contains("None."));
    }
}
