//! The points as a table: every percentile with its interval and its count on hover; cards on a phone.

use crate::ui::erased::Erase;
use leptos::prelude::*;
use measure::certificate::Innocence;
use measure::quantile::Distribution;
use measure::summary::{Capacity, Summary};
use uuid::Uuid;

use super::Page;
use crate::figure_svg::series_colour;
use crate::studio::{PointState, PointView, StudyView};
use crate::ui::badge::{Badge, CLEAN, SUSPECT, VOID, point_word};
use crate::ui::format;
use crate::ui::number::Missing;
use crate::words;

/// What a row needs beside its point.
#[derive(Clone, PartialEq)]
struct Around {
    study: Uuid,
    configuration: String,
    owner: bool,
}

/// The table.
#[component]
pub fn Points(page: Page) -> impl IntoView {
    let owner = page.is_owner();
    let unit = page
        .known
        .with_untracked(|study| words::rate_unit(&study.spec));
    let rows = Memo::new(move |_| page.shown.with(|study| rows(study, owner)));
    view! {
        <section class="stack" aria-labelledby="points-heading">
            <h2 id="points-heading">"Points"</h2>
            <div class="scroll-x">
                <table class="points">
                    <thead>
                        <tr>
                            <th scope="col">"configuration"</th>
                            <th scope="col" class="num">{format!("rate ({unit})")}</th>
                            <th scope="col" class="num" title="Arrivals of the realised schedule over its length">"offered /s"</th>
                            <th scope="col" class="num" title="Completed requests per second">"req/s"</th>
                            <th scope="col" class="num" title="Output tokens per second">"tok/s"</th>
                            <PercentileHeads metric="TTFT" />
                            <PercentileHeads metric="TPOT" />
                            <PercentileHeads metric="E2E" />
                            <th scope="col" class="num">"good"</th>
                            <th scope="col" class="num">"failed"</th>
                            <th scope="col">"client"</th>
                            {owner.then(|| view! { <th scope="col">"raw"</th> })}
                        </tr>
                    </thead>
                    <tbody>
                        <For each=move || rows.get() key=row_key children=|(point, around)| view! { <Row point around /> } />
                    </tbody>
                </table>
            </div>
            <p class="small muted">
                "Hover a number for its 95 % interval and the requests behind it. Failed requests stand as infinity in every percentile."
            </p>
        </section>
    }
    .erased()
}

fn rows(study: &StudyView, owner: bool) -> Vec<(PointView, Around)> {
    let around = |point: &PointView| Around {
        study: study.id,
        configuration: study
            .configurations
            .get(point.configuration as usize)
            .map(|found| found.spec.name.clone())
            .unwrap_or_default(),
        owner,
    };
    study
        .points
        .iter()
        .map(|point| (point.clone(), around(point)))
        .collect()
}

/// A row is drawn anew when the point changed or is judged otherwise; else it stays.
fn row_key((point, _): &(PointView, Around)) -> (Uuid, u8, Option<(u32, u32)>) {
    (
        point.id,
        point.state as u8,
        point
            .judgement
            .as_ref()
            .map(|judgement| (judgement.good, judgement.undetermined)),
    )
}

#[component]
fn PercentileHeads(metric: &'static str) -> impl IntoView {
    ["p50", "p95", "p99"].map(|percentile| view! { <th scope="col" class="num">{format!("{metric} {percentile}")}</th> }).collect_view()
}

#[component]
fn Row(point: PointView, around: Around) -> impl IntoView {
    let Around {
        study,
        configuration,
        owner,
    } = around;
    let series = series_colour(point.configuration as usize);
    let href = format!("/studies/{study}/points/{}", point.id);
    let level = point.level.to_string();
    let level = if point.repeat > 0 {
        format!("{level}, repeat {}", point.repeat + 1)
    } else {
        level
    };
    let raw = format!("/api/v1/points/{}/records.parquet", point.id);
    let finished = point.state == PointState::Finished;
    view! {
        <tr data-state=if finished { "finished" } else { "open" }>
            <th scope="row" data-label="configuration">
                <span class="row nowrap" style=("--series", series)>
                    <span class="key" aria-hidden="true"></span>
                    {configuration}
                </span>
            </th>
            <td class="num" data-label="rate">
                {if owner && finished { view! { <a href=href>{level}</a> }.erased() } else { level.erased() }}
            </td>
            {match point.summary.clone() {
                Some(summary) => view! { <Numbers summary point=point.clone() /> }.erased(),
                None => view! { <td colspan="15" data-label="state"><Badge word=point_word(point.state) /></td> }.erased(),
            }}
            {owner.then(|| view! { <td data-label="raw">{finished.then(|| view! { <a href=raw download="" rel="external">"parquet"</a> })}</td> })}
        </tr>
    }
    .erased()
}

#[component]
fn Numbers(summary: Summary, point: PointView) -> impl IntoView {
    let above = match &summary.capacity {
        Capacity::Above { why } => Some(why.clone()),
        Capacity::Within | Capacity::Unknown => None,
    };
    let innocence = point
        .certificate
        .as_ref()
        .map(|certificate| (certificate.innocence, certificate.reasons.join("; ")));
    let failures = summary
        .failures
        .iter()
        .map(|(kind, count)| format!("{}: {count}", kind.name()))
        .collect::<Vec<_>>()
        .join(", ");
    let good = point.judgement.as_ref().and_then(|judgement| {
        judgement
            .attainment
            .map(|share| (format::percent(share.value), share, judgement.clone()))
    });
    view! {
        {rate_cell("offered", summary.offered_rate, "no rate: not an open-loop point")}
        {rate_cell("completed", summary.completed_per_s, "nothing was completed")}
        {rate_cell("tok/s", summary.output_tokens_per_s, "the engine did not say how many tokens")}
        {latency_cells("TTFT", &summary.ttft, above.as_deref())}
        {latency_cells("TPOT", &summary.tpot, above.as_deref())}
        {latency_cells("E2E", &summary.e2e, above.as_deref())}
        <td class="num" data-label="good">
            {match good {
                Some((text, share, judgement)) => {
                    let detail = format!(
                        "{} of {} good, {} undetermined; 95 % interval {} to {}; {}",
                        judgement.good,
                        judgement.scheduled,
                        judgement.undetermined,
                        format::percent(share.lo),
                        format::percent(share.hi),
                        words::keeps(judgement.by_attainment),
                    );
                    view! { <span title=detail>{text}</span> }.erased()
                }
                None => view! { <Missing reason="Not judged under this SLO yet." /> }.erased(),
            }}
        </td>
        <td class="num" data-label="failed">
            <span title=failures>{summary.failed.to_string()}</span>
        </td>
        <td data-label="client">
            {innocence
                .map(|(innocence, reasons)| {
                    let word = match innocence {
                        Innocence::Clean => CLEAN,
                        Innocence::Suspect => SUSPECT,
                        Innocence::Void => VOID,
                    };
                    view! { <span title=reasons><Badge word /></span> }
                })}
        </td>
    }
    .erased()
}

fn rate_cell(label: &'static str, value: Option<f64>, missing: &'static str) -> AnyView {
    view! {
        <td class="num" data-label=label>
            {match value {
                Some(value) => format::number(value).erased(),
                None => view! { <Missing reason=missing /> }.erased(),
            }}
        </td>
    }
    .erased()
}

/// p50, p95, p99 of one metric. Above capacity they are marked: they grow with the length of the run.
fn latency_cells(
    metric: &'static str,
    distribution: &Distribution,
    above: Option<&str>,
) -> AnyView {
    let cell = |name: &str, estimate: Option<measure::quantile::Estimate>| {
        let mut detail = words::estimate_detail(estimate.as_ref(), distribution);
        if let Some(why) = above {
            detail = format!("above capacity, grows with the length of the run: {why}; {detail}");
        }
        let arrow = if above.is_some() { "↑ " } else { "" };
        view! {
            <td class="num" class:beyond=above.is_some() data-label=format!("{metric} {name}")>
                {match estimate {
                    Some(estimate) => view! { <span title=detail>{arrow}{format::latency_value(&estimate)}</span> }.erased(),
                    None => view! { <Missing reason=detail /> }.erased(),
                }}
            </td>
        }
    };
    (
        cell("p50", distribution.p50),
        cell("p95", distribution.p95),
        cell("p99", distribution.p99),
    )
        .erased()
}
