//! Configurations side by side: the verdict or why there is none, what differs, the curves over each other, ceilings,
//! and the difference at each rate.

mod differences; // what differs, and by how much
mod verdict; // the first line

use crate::ui::erased::Erase;
use crate::ui::reactive::memo;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::components::A;
use leptos_router::hooks::use_query_map;
use leptos_router::params::ParamsMap;
use measure::certificate::Innocence;
use measure::curve::Ceiling;
use measure::slo::{Slo, SloError};
use measure::study::{Connection, FieldError};
use uuid::Uuid;

use crate::api::compare;
use crate::chart::{Axes, Chart, Rules, Series, Upward, chart};
use crate::figure_svg::series_colour;
use crate::pages::study::cache_word;
use crate::reading::Reading;
use crate::studio::{CompareView, ComparedConfiguration, PointView, StudioError};
use crate::ui::badge::{Badge, CLEAN, INSECURE, SIMULATED, SUSPECT, VOID};
use crate::ui::bind::Bind;
use crate::ui::chart::ChartView;
use crate::ui::format;
use crate::ui::html::{Html, badge, heads, html, table};
use crate::ui::segmented::Segmented;
use crate::url_state::{Across, METRICS, Percentile, ViewState, escape, metric_key, metric_of};
use crate::words;

/// Configurations by the ids in the URL; the first is the baseline.
#[component]
pub fn ComparePage() -> impl IntoView {
    let query = use_query_map();
    let asked = memo(move || query.with(asked));
    let compared = Reading::new(
        move || asked.get(),
        async |(ids, slo): Asked| compare(enough(ids)?, slo.transpose().map_err(unread)?).await,
    );
    compared.page("Comparing…", |compared| {
        view! { <CompareBody compared /> }.erased()
    })
}

/// The configurations (`None` where an id cannot be read) and the SLO that a query asks for.
type Asked = (Option<Vec<Uuid>>, Option<Result<Slo, SloError>>);

/// What a query asks for.
fn asked(query: &ParamsMap) -> Asked {
    let ids = query.get_all("c").unwrap_or_default();
    let ids = ids.iter().map(|id| id.parse().ok()).collect();
    let slo = query.get("slo").filter(|text| !text.is_empty());
    (ids, slo.map(|text| text.parse()))
}

/// An SLO in the address that is none.
fn unread(wrong: SloError) -> StudioError {
    StudioError::Invalid {
        fields: vec![FieldError {
            field: "slo".into(),
            message: wrong.to_string(),
        }],
    }
}

/// The configurations, if they make a comparison.
fn enough(ids: Option<Vec<Uuid>>) -> Result<Vec<Uuid>, StudioError> {
    let none = |what: &str| StudioError::NotFound { what: what.into() };
    match ids {
        None => Err(none("configuration")),
        Some(ids) if ids.len() < 2 => Err(none(
            "comparison: it needs two configurations; open one from a study's page",
        )),
        Some(ids) => Ok(ids),
    }
}

/// The comparison of these configurations as a link.
fn link(ids: &[Uuid], slo: Option<&Slo>) -> String {
    let mut pairs: Vec<String> = ids.iter().map(|id| format!("c={id}")).collect();
    pairs.extend(slo.map(|slo| format!("slo={}", escape(&slo.to_string()))));
    format!("/compare?{}", pairs.join("&"))
}

/// A configuration's name here: with its study where there are several.
pub(super) fn name_of(compared: &CompareView, index: usize) -> String {
    let several = compared
        .configurations
        .windows(2)
        .any(|pair| pair[0].study != pair[1].study);
    compared
        .configurations
        .get(index)
        .map_or_else(String::new, |one| {
            let name = &one.configuration.spec.name;
            if several {
                format!("{} ({})", name, one.study_name)
            } else {
                name.clone()
            }
        })
}

#[component]
fn CompareBody(compared: CompareView) -> impl IntoView {
    let simulated = compared.configurations.iter().any(|one| one.simulated);
    let insecure = compared.configurations.iter().any(|one| {
        let connection = one.configuration.facts.get("connection");
        connection.is_some_and(|fact| fact.value.contains(Connection::UNCHECKED))
    });
    let title = (0..compared.configurations.len())
        .map(|index| name_of(&compared, index))
        .collect::<Vec<_>>()
        .join(" against ");
    let slo = compared.slo.to_string();
    let study = compared
        .configurations
        .first()
        .map(|one| (format!("/studies/{}", one.study), one.study_name.clone()));
    let compared = StoredValue::new(compared);
    view! {
        <Title text=title.clone() />
        <article class="page compare">
            <header class="page-head">
                <div class="stack tight">
                    <nav class="crumbs" aria-label="Breadcrumb">
                        <A href="/">"Studies"</A>
                        {study.map(|(href, name)| view! { <A href=href>{name}</A> })}
                        <span aria-current="page">"Compare"</span>
                    </nav>
                    <h1>{title}</h1>
                    <div class="row">
                        {simulated.then(|| view! { <Badge word=SIMULATED /> })}
                        {insecure.then(|| view! { <Badge word=INSECURE /> })}
                        <span class="muted">{format!("judged by {slo}")}</span>
                    </div>
                </div>
            </header>
            <verdict::Verdicts compared />
            <differences::WhatDiffers compared />
            <Overlay compared />
            <Ceilings compared />
            <differences::AtEqualRate compared />
        </article>
    }
    .erased()
}

fn series<'a>(compared: &'a CompareView, names: &'a [String]) -> Vec<Series<'a>> {
    compared
        .configurations
        .iter()
        .zip(names)
        .enumerate()
        .map(|(index, (one, name))| Series {
            name,
            colour: index,
            points: one.points.iter().collect(),
            ceiling: one.configuration.ceiling,
        })
        .collect()
}

fn overlay(compared: &CompareView, axes: Axes) -> Chart {
    let names: Vec<String> = (0..compared.configurations.len())
        .map(|index| name_of(compared, index))
        .collect();
    chart(
        &series(compared, &names),
        Rules {
            slo: &compared.slo,
            home: &compared.slo,
            axes,
            unit: unit(compared),
        },
    )
}

/// What rates count. Comparable configurations share their workload, so the baseline's points tell.
pub(super) fn unit(compared: &CompareView) -> &'static str {
    let sessions = |one: &ComparedConfiguration| {
        one.points
            .iter()
            .filter_map(|point| point.summary.as_ref())
            .any(|summary| summary.sessions < summary.scheduled)
    };
    if compared.configurations.iter().any(sessions) {
        "sessions/s"
    } else {
        "req/s"
    }
}

/// The curves over each other.
#[component]
fn Overlay(compared: StoredValue<CompareView>) -> impl IntoView {
    let query = use_query_map();
    let state = query.with_untracked(|query| ViewState::read(|key| query.get(key)));
    let metric = RwSignal::new(metric_key(state.metric).to_owned());
    let percentile = RwSignal::new(state.percentile.name().to_owned());
    let across = RwSignal::new(state.across.name().to_owned());
    let drawn = memo(move || {
        let percentile = Percentile::ALL
            .into_iter()
            .find(|one| percentile.with(|name| one.name() == name))
            .unwrap_or_default();
        let across = Across::ALL
            .into_iter()
            .find(|one| across.with(|name| one.name() == name))
            .unwrap_or_default();
        let metric = metric.with(|key| metric_of(key)).unwrap_or(state.metric);
        let axes = Axes {
            upward: Upward::Latency(metric, percentile),
            across,
            log: false,
        };
        compared.with_value(|compared| overlay(compared, axes))
    });
    view! {
        <section class="card chart main-chart" aria-label="The curves over each other">
            <div class="menus">
                <Segmented name="compare-y" label="Latency" bind=Bind::signal(metric) options=METRICS.map(|metric| (metric_key(metric), words::metric_name(metric))).to_vec() />
                <Segmented name="compare-p" label="Percentile" bind=Bind::signal(percentile) options=Percentile::ALL.map(|one| (one.name(), one.name())).to_vec() />
                <Segmented name="compare-x" label="Against" bind=Bind::signal(across) options=Across::ALL.map(|one| (one.name(), one.label())).to_vec() />
            </div>
            <ChartView chart=drawn live=true />
        </section>
    }
    .erased()
}

/// Ceilings as bars with their intervals, each beside its numbers; the baseline carries a pin.
#[component]
fn Ceilings(compared: StoredValue<CompareView>) -> impl IntoView {
    let table = compared.with_value(ceilings).into_string();
    view! {
        <section class="stack" aria-labelledby="ceilings-heading">
            <h2 id="ceilings-heading">"Goodput ceilings"</h2>
            <div class="scroll-x" tabindex="0" inner_html=table></div>
        </section>
    }
    .erased()
}

fn ceilings(compared: &CompareView) -> Html {
    let ends = compared
        .configurations
        .iter()
        .filter_map(|one| end_of(one.configuration.ceiling.as_ref()?));
    let top = ends.fold(0.0, f64::max) * 1.05;
    let unit = unit(compared);
    let (attainment, percentile) = (
        format!("#by attainment ({unit})"),
        format!("#by percentile ({unit})"),
    );
    let heads = heads([
        "configuration",
        &attainment,
        "interval",
        &percentile,
        "client",
        "cache",
        "baseline",
    ]);
    let rows = (0..compared.configurations.len())
        .map(|index| ceiling_row(compared, index, top))
        .collect();
    table("ceiling-table", "Goodput ceilings", heads, rows)
}

fn end_of(ceiling: &Ceiling) -> Option<f64> {
    match *ceiling {
        Ceiling::Bracket { hi, .. } | Ceiling::NoneKept { hi } => Some(hi),
        Ceiling::AtLeast { lo } => Some(lo * 1.15),
        Ceiling::Unresolved { lo, hi } => hi.or(lo),
        Ceiling::Ramped => None,
    }
}

fn ceiling_row(compared: &CompareView, index: usize, top: f64) -> Html {
    let one = &compared.configurations[index];
    let text = |found: Option<&Ceiling>| found.map_or("not judged".into(), format::ceiling);
    let mut order: Vec<Uuid> = compared
        .configurations
        .iter()
        .map(|one| one.configuration.id)
        .collect();
    order[..=index].rotate_right(1);
    let pin = match index {
        0 => html!("<strong>baseline</strong>"),
        _ => html!(
            r#"<a href="{}">make it the baseline</a>"#,
            link(&order, Some(&compared.slo))
        ),
    };
    html!(
        r#"<tr style="--series:{}"><th scope="row"><span class="row nowrap"><span class="key" aria-hidden="true"></span><a href="/studies/{}">{}</a></span></th><td class="num">{}</td><td class="bar-column">{}</td><td class="num">{}</td><td>{}</td><td>{}</td><td>{}</td></tr>"#,
        series_colour(index),
        one.study.to_string(),
        name_of(compared, index),
        text(one.configuration.ceiling.as_ref()),
        one.configuration
            .ceiling
            .as_ref()
            .map(|ceiling| bar(ceiling, top)),
        text(one.configuration.ceiling_by_percentile.as_ref()),
        client(&one.points),
        badge(cache_word(one.configuration.cache_cold)),
        pin,
    )
}

/// The worst certificate, and how many points have it.
fn client(points: &[PointView]) -> Html {
    let certificates = points.iter().filter_map(|it| it.certificate.as_ref());
    let all: Vec<Innocence> = certificates.map(|it| it.innocence).collect();
    let count = |of: Innocence| all.iter().filter(|it| **it == of).count();
    let (void, suspect) = (count(Innocence::Void), count(Innocence::Suspect));
    let (word, number) = match (void, suspect) {
        (0, 0) => (CLEAN, all.len()),
        (0, suspect) => (SUSPECT, suspect),
        (void, _) => (VOID, void),
    };
    html!(
        "{} {} of {}",
        badge(word),
        number.to_string(),
        all.len().to_string()
    )
}

/// A ceiling as a bar up to its value with its interval as a whisker; an open end has an arrow.
fn bar(ceiling: &Ceiling, top: f64) -> Html {
    // Nothing is known of any of them: the whole width is open.
    let top = if 0.0 < top { top } else { 1.0 };
    let percent = |rate: f64| format!("{:.1}%", rate / top * 100.0);
    let (value, lo, hi, open) = match *ceiling {
        Ceiling::Bracket { value, lo, hi } => (value, lo, hi, ""),
        Ceiling::AtLeast { lo } => (lo, lo, lo, "→"),
        Ceiling::NoneKept { hi } => (0.0, 0.0, hi, ""),
        Ceiling::Unresolved { lo, hi } => (0.0, lo.unwrap_or(0.0), hi.unwrap_or(top), "?"),
        Ceiling::Ramped => (0.0, 0.0, top, "?"),
    };
    let (value, lo, hi) = (percent(value), percent(lo), percent(hi));
    html!(
        r#"<svg class="ceiling-bar" width="100%" height="20" aria-hidden="true"><rect y="5" height="10" width="{}"/><line x1="{}" x2="{}" y1="10" y2="10"/><line x1="{}" x2="{}" y1="4" y2="16"/><line x1="{}" x2="{}" y1="4" y2="16"/><text x="{}" dx="4" y="15">{}</text></svg>"#,
        value,
        lo,
        hi,
        lo,
        lo,
        hi,
        hi,
        hi,
        open
    )
}
