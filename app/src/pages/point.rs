//! One point: what happened, then every distribution, then what failed, then the client's certificate.

use crate::ui::erased::Erase;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::components::A;
use measure::certificate::{Certificate, Innocence};
use measure::quantile::{Distribution, Estimate};
use measure::slo::{Judgement, Metric};
use measure::summary::{Capacity, Summary};
use measure::units::Nanos;
use uuid::Uuid;

use super::ErrorView;
use super::study::uuid_param;
use crate::api::{get_study, reading};
use crate::chart::level_words;
use crate::studio::{PointView, StudioError, StudyView};
use crate::ui::badge::{Badge, CLEAN, SIMULATED, SUSPECT, VOID, point_word};
use crate::ui::format;
use crate::ui::number::Missing;
use crate::words;

/// A point by the ids in its URL.
#[component]
pub fn PointPage() -> impl IntoView {
    let (study, point) = (uuid_param("id"), uuid_param("point"));
    let found = reading(
        move || (study.get(), point.get()),
        async |(study, point): (Option<Uuid>, Option<Uuid>)| {
            let missing = || StudioError::NotFound {
                what: "point".into(),
            };
            let study = get_study(study.ok_or_else(missing)?).await?;
            match point {
                Some(id) if study.points.iter().any(|point| point.id == id) => Ok((study, id)),
                _ => Err(missing()),
            }
        },
    );
    view! {
        <Suspense fallback=|| view! { <p class="page muted">"Reading the point…"</p> }>
            {move || Suspend::new(async move {
                match found.await {
                    Ok((study, point)) => view! { <PointBody study point /> }.erased(),
                    Err(error) => view! { <ErrorView error /> }.erased(),
                }
            })}
        </Suspense>
    }
    .erased()
}

#[component]
fn PointBody(study: StudyView, point: Uuid) -> impl IntoView {
    let unit = words::rate_unit(&study.spec);
    let simulated = study.is_simulated();
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
    let answer = answer(&point);
    let numbers = point.summary.clone();
    Some(view! {
        <Title text=format!("{heading}, {}", study.spec.name) />
        <article class="page narrow point">
            <header class="page-head">
                <div class="stack tight">
                    <nav class="crumbs" aria-label="Breadcrumb">
                        <A href="/">"Studies"</A>
                        <A href=back>{study.spec.name.clone()}</A>
                        <span aria-current="page">{heading.clone()}</span>
                    </nav>
                    <h1>{heading}</h1>
                    <div class="row">
                        <Badge word=point_word(point.state) />
                        {simulated.then(|| view! { <Badge word=SIMULATED /> })}
                    </div>
                </div>
                <div class="actions">
                    {numbers.is_some().then(|| view! { <a class="button" href=raw download="" rel="external">"Requests as Parquet"</a> })}
                </div>
            </header>
            <div class="answer">
                <p>{answer}</p>
            </div>
            {numbers.map(|summary| view! { <Distributions summary=summary.clone() /> <Counts summary unit /> })}
            {point.judgement.map(|judgement| view! { <Promise judgement /> })}
            {point.certificate.map(|certificate| view! { <Client certificate /> })}
        </article>
    })
}

/// What happened, in one sentence.
fn answer(point: &PointView) -> String {
    let Some(summary) = &point.summary else {
        return format!(
            "Not measured yet: {} requests are planned.",
            point.planned_requests
        );
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
        parts.push(format!("above capacity: {why}"));
    }
    format!("{}.", parts.join("; "))
}

#[component]
fn Distributions(summary: Summary) -> impl IntoView {
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
        let distribution = summary.of(metric).clone();
        let name = if chunky && metric == Metric::Itl {
            "ITL (chunk gap)"
        } else {
            words::metric_name(metric)
        };
        view! {
            <tr>
                <th scope="row">{words::capital(name)}</th>
                {[distribution.p50, distribution.p95, distribution.p99].map(|estimate| latency_cell(estimate, &distribution)).collect_view()}
                <td class="num">{format::count(distribution.count.into())}</td>
                <td class="num">{distribution.failed}</td>
                <td class="num">{format::number(distribution.effective)}</td>
            </tr>
        }
    };
    view! {
        <section class="stack" aria-labelledby="distributions-heading">
            <h2 id="distributions-heading">"Latencies"</h2>
            <div class="scroll-x">
                <table>
                    <thead>
                        <tr>
                            <th scope="col">"metric"</th>
                            <th scope="col" class="num">"p50"</th>
                            <th scope="col" class="num">"p95"</th>
                            <th scope="col" class="num">"p99"</th>
                            <th scope="col" class="num" title="Values behind the percentiles">"n"</th>
                            <th scope="col" class="num" title="Failed requests; they stand as infinity">"failed"</th>
                            <th scope="col" class="num" title="Independent values the sample is worth: requests queue behind each other">"worth"</th>
                        </tr>
                    </thead>
                    <tbody>{metrics.map(row).collect_view()}</tbody>
                </table>
            </div>
        </section>
    }
    .erased()
}

fn latency_cell(estimate: Option<Estimate>, distribution: &Distribution) -> AnyView {
    let detail = words::estimate_detail(estimate.as_ref(), distribution);
    match estimate {
        Some(estimate) => {
            view! { <td class="num"><span title=detail>{format::latency(&estimate)}</span></td> }
                .erased()
        }
        None => view! { <td class="num"><Missing reason=detail /></td> }.erased(),
    }
}

#[component]
fn Counts(summary: Summary, unit: &'static str) -> impl IntoView {
    let rate = |value: Option<f64>, unit: &str| {
        value.map_or("–".into(), |value| {
            format!("{} {unit}", format::number(value))
        })
    };
    let rows = [
        ("Duration", summary.duration.to_string()),
        (
            "Requests",
            format!(
                "{} scheduled, {} sent, {} completed, {} failed",
                summary.scheduled, summary.sent, summary.completed, summary.failed
            ),
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
        (
            "From the prefix cache",
            summary
                .cached_tokens
                .map_or("the engine does not say".into(), |tokens| {
                    format!("{} tokens", format::count(tokens))
                }),
        ),
        ("Most in flight", summary.max_in_flight.to_string()),
        (
            "Tokens per chunk",
            summary.tokens_per_chunk.map_or("–".into(), format::number),
        ),
    ];
    let failures = summary.failures.clone();
    view! {
        <section class="stack" aria-labelledby="counts-heading">
            <h2 id="counts-heading">"Counts and rates"</h2>
            <dl class="facts">{rows.map(|(name, value)| view! { <dt>{name}</dt> <dd>{value}</dd> }).collect_view()}</dl>
        </section>
        <section class="stack" aria-labelledby="failures-heading">
            <h2 id="failures-heading">"Failures"</h2>
            {if failures.is_empty() {
                view! { <p class="muted">"None."</p> }.erased()
            } else {
                view! {
                    <dl class="facts">
                        {failures.into_iter().map(|(kind, count)| view! { <dt>{kind.name().replace('_', " ")}</dt> <dd>{count}</dd> }).collect_view()}
                    </dl>
                }
                    .erased()
            }}
        </section>
    }
    .erased()
}

/// Both verdicts, by name.
#[component]
fn Promise(judgement: Judgement) -> impl IntoView {
    let share = judgement
        .attainment
        .map_or("–".into(), |share| format::proportion(&share));
    view! {
        <section class="stack" aria-labelledby="promise-heading">
            <h2 id="promise-heading">"Under the study's SLO"</h2>
            <dl class="facts">
                <dt>"By attainment"</dt>
                <dd>{format!("{share} good: {}", words::keeps(judgement.by_attainment))}</dd>
                <dt>"By percentile"</dt>
                <dd>{words::keeps(judgement.by_percentile)}</dd>
                {judgement
                    .bounds
                    .into_iter()
                    .map(|bound| {
                        let observed = bound.observed.as_ref().map_or("–".into(), format::latency);
                        view! { <dt>{bound.bound}</dt> <dd>{format!("{observed}: {}", words::keeps(bound.keeps))}</dd> }
                    })
                    .collect_view()}
                <dt>"Good output"</dt>
                <dd>{judgement.good_tokens_per_s.map_or("–".into(), |rate| format!("{} tok/s", format::number(rate)))}</dd>
            </dl>
        </section>
    }
    .erased()
}

#[component]
fn Client(certificate: Certificate) -> impl IntoView {
    let word = match certificate.innocence {
        Innocence::Clean => CLEAN,
        Innocence::Suspect => SUSPECT,
        Innocence::Void => VOID,
    };
    let span = |value: Option<Nanos>| value.map_or("–".into(), |value| value.to_string());
    let client = certificate.client;
    let rows = [
        (
            "Sent after it was due",
            format!(
                "p50 {}, p99 {}, at most {}",
                span(certificate.lag_p50),
                span(certificate.lag_p99),
                span(certificate.lag_max)
            ),
        ),
        (
            "Sent over offered",
            certificate
                .sent_over_offered
                .map_or("–".into(), format::percent),
        ),
        (
            "Connections opened inside the clock",
            certificate.fresh_connections.to_string(),
        ),
        (
            "Reads with several events",
            certificate.coalesced_reads.to_string(),
        ),
        (
            "Load runtime polled late",
            format!(
                "p99 {}, at most {}",
                span(client.poll_lag_p99),
                span(client.poll_lag_max)
            ),
        ),
        (
            "Cores used",
            client.cpu_cores.map_or("–".into(), |cores| {
                format!(
                    "{}{}",
                    format::number(cores),
                    client
                        .cores_available
                        .map(|all| format!(" of {all}"))
                        .unwrap_or_default()
                )
            }),
        ),
    ];
    view! {
        <section class="stack" aria-labelledby="client-heading">
            <h2 id="client-heading">"Was the client innocent?"</h2>
            <p class="row">
                <Badge word />
                <span>{certificate.reasons.join("; ")}</span>
            </p>
            <dl class="facts">{rows.map(|(name, value)| view! { <dt>{name}</dt> <dd>{value}</dd> }).collect_view()}</dl>
        </section>
    }
    .erased()
}
