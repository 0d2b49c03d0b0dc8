//! The curve with its menus, the legend that is also a switch, and the two small charts.

use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::{derived, memo};
use leptos::prelude::*;
use measure::slo::{Metric, Slo};
use measure::summary::gpus;

use super::Page;
use super::map::IsoMap;
use super::promise::{try_slo, with_bound};
use crate::chart::{Axes, Chart, Over, Rules, Series, Upward, chart, over};
use crate::figure_svg::series_colour;
use crate::studio::StudyView;
use crate::ui::chart::{ChartView, Drag, Part};
use crate::ui::html::term;
use crate::url_state::{
    Across, COUNTED, METRICS, Percentile, ViewState, counted, escape, is_scheduled, metric_key,
    metric_of,
};
use crate::words;

/// The configurations of a study as a chart takes them; hidden ones keep their colour's place.
pub fn series_of<'a>(study: &'a StudyView, hidden: &[u32]) -> Vec<Series<'a>> {
    (0_u32..)
        .zip(&study.configurations)
        .filter(|(index, _)| !hidden.contains(index))
        .map(|(index, configuration)| Series {
            name: &configuration.spec.name,
            colour: index as usize,
            points: study
                .points
                .iter()
                .filter(|point| point.configuration == index)
                .collect(),
            ceiling: configuration.ceiling,
            gpus: gpus(&configuration.facts),
        })
        .collect()
}

/// The chart that a page leads with.
pub fn main_chart(study: &StudyView, home: &Slo, state: &ViewState) -> Chart {
    whole_chart(study, home, state).zoomed(state.zoom, state.up)
}

/// The same, of the whole axes.
fn whole_chart(study: &StudyView, home: &Slo, state: &ViewState) -> Chart {
    chart(&series_of(study, &state.hidden), rules(study, home, state))
}

fn rules<'a>(study: &'a StudyView, home: &'a Slo, state: &ViewState) -> Rules<'a> {
    Rules {
        slo: &study.spec.slo,
        home,
        axes: Axes {
            upward: Upward::Latency(state.metric, state.percentile),
            across: state.across,
            log: state.log,
        },
        unit: words::rate_unit(&study.spec),
    }
}

/// Attainment or goodput over the offered rate.
pub fn small_chart(study: &StudyView, state: &ViewState, upward: Upward) -> Chart {
    let axes = Axes {
        upward,
        across: Across::Offered,
        log: false,
    };
    let rules = Rules {
        slo: &study.spec.slo,
        home: &study.spec.slo,
        axes,
        unit: words::rate_unit(&study.spec),
    };
    // Everything at once has no rate, so it has no place over one.
    let mut series = series_of(study, &state.hidden);
    for series in &mut series {
        series.points.retain(|point| point.level.is_open());
    }
    chart(&series, rules)
}

/// The charts of the page.
#[component]
pub fn Charts(
    /// The page.
    page: Page,
    /// The iso-goodput map as it is when the page is made.
    map: String,
    /// What the engine showed at the point that is chosen then.
    engine: String,
) -> impl IntoView {
    let home = memo(move || page.known.with(|study| study.spec.slo.clone()));
    // What the SLO under the pointer does not change.
    let view = memo(move || {
        page.state.with(|state| ViewState {
            slo: None,
            ..state.clone()
        })
    });
    let whole = memo(move || {
        home.with(|home| {
            page.rested
                .with(|study| view.with(|state| whole_chart(study, home, state)))
        })
    });
    let main = memo(move || {
        let (across, up) = view.with(|state| (state.zoom, state.up));
        whole.get().zoomed(across, up)
    });
    // What a dragged line moves; the curves stay, and so do their axes.
    let moved = memo(move || {
        let of = |study: &StudyView, state: &ViewState| -> Over {
            let series = series_of(study, &state.hidden);
            let rules = rules(study, &study.spec.slo, state);
            let all = whole.with(|chart| over(&series, rules, &chart.x));
            if state.zoom.is_none() {
                return all;
            }
            main.with(|chart| all.within(&chart.x))
        };
        page.shown
            .with(|study| page.state.with(|state| of(study, state)))
    });
    let small = move |upward: Upward| {
        memo(move || {
            let of = |study: &StudyView| view.with(|state| small_chart(study, state, upward));
            page.rested.with(of)
        })
    };
    let (attainment, goodput) = (small(Upward::Attainment), small(Upward::Goodput));
    let fixed = page.known.with_untracked(|study| study.aggregates_only);
    let open = page.is_owner().then(|| opens(page));
    view! {
        <div class="stack">
            <section class="card chart main-chart" aria-label="Latency against throughput">
                <Menus page />
                <Legend page />
                <ChartView chart=main over=Some(moved) live=true drag=(!fixed).then(|| drag(page)) open zoom=Some(zooms(page)) />
            </section>
            <OverRates page attainment goodput />
            {page.is_owner().then(|| engine_at_a_point(engine))}
            <IsoMap page map />
        </div>
    }
    .erased()
}

/// What the engine showed at the point that is marked: drawn by the server, and asked for again by the page's script.
fn engine_at_a_point(drawn: String) -> AnyView {
    view! {
        <section class="card chart engine-seen" aria-labelledby="engine-heading">
            <h2 id="engine-heading">"Engine at the marked point"</h2>
            <div class="engine-body" inner_html=drawn></div>
        </section>
    }
    .erased()
}

/// What is drawn over the rate of arrivals, where there is one.
#[component]
fn OverRates(page: Page, attainment: Memo<Chart>, goodput: Memo<Chart>) -> impl IntoView {
    let no_rate = page.known.with_untracked(words::has_no_rate);
    view! {
        <p class="small muted" hidden=!no_rate>
            "Attainment and goodput are curves over the rate of arrivals, and no point here has one: how many requests were good stands in the table of points."
        </p>
        <div class="small-charts" hidden=no_rate>
            <section class="card chart small-chart" aria-labelledby="attainment-heading">
                <h2 id="attainment-heading" inner_html=term("Attainment", "attainment").into_string()></h2>
                <ChartView chart=attainment />
            </section>
            <section class="card chart small-chart" aria-labelledby="goodput-heading">
                <h2 id="goodput-heading" inner_html=term("Goodput", "goodput").into_string()></h2>
                <ChartView chart=goodput />
            </section>
        </div>
    }
    .erased()
}

/// Leads to a point's page, under the SLO that is tried.
fn opens(page: Page) -> Callback<String> {
    Callback::new(move |point: String| {
        let id = page.known.with_untracked(|study| study.id);
        let slo = page.state.with_untracked(|state| state.slo.clone());
        let slo = slo.map_or_else(String::new, |slo| {
            format!("?slo={}", escape(&slo.to_string()))
        });
        // The point's page is a document of its own. Where the browser refuses, nothing is lost.
        let _ = window()
            .location()
            .assign(&format!("/studies/{id}/points/{point}{slo}"));
    })
}

/// Shows the part of the axes that was chosen; all of them where none was.
fn zooms(page: Page) -> Callback<Part> {
    Callback::new(move |[across, up]: Part| {
        page.state.update(|state| {
            let all = across.is_none() && up.is_none();
            state.zoom = across.or(state.zoom.filter(|_| !all));
            state.up = up.or(state.up.filter(|_| !all));
        });
    })
}

/// Dragging the line sets the bound of the metric that the chart shows.
fn drag(page: Page) -> Drag {
    Drag {
        begin: Callback::new(move |()| page.tried.fetch()),
        to: Callback::new(move |millis: f64| {
            let metric = page.state.with_untracked(|state| state.metric);
            try_slo(
                page,
                page.slo
                    .with_untracked(|slo| with_bound(slo, metric, millis)),
            );
        }),
        held: RwSignal::new(false),
    }
}

/// What the axes show.
#[component]
fn Menus(page: Page) -> impl IntoView {
    let state = page.state;
    let metrics = METRICS.map(|metric| (metric_key(metric), words::metric_name(metric)));
    let percentiles = Percentile::ALL.map(|percentile| (percentile.name(), percentile.name()));
    let across = Across::ALL.map(|across| (across.name(), across.label()));
    let scales = [("lin", "linear"), ("log", "logarithmic")];
    let set_metric = move |key: String| {
        let metric = metric_of(&key).unwrap_or(Metric::Ttft);
        let to = |now: Metric| counted(metric, is_scheduled(now));
        state.update(|state| (state.metric, state.up) = (to(state.metric), None));
    };
    let froms = COUNTED.map(|(_, name)| (name, name));
    let set_from = move |name: String| {
        let from_schedule = COUNTED.iter().any(|it| it.0 && it.1 == name);
        let to = |now: Metric| counted(now, from_schedule);
        state.update(|state| (state.metric, state.up) = (to(state.metric), None));
    };
    let from =
        derived(move || COUNTED[usize::from(state.with(|state| is_scheduled(state.metric)))].1);
    let begins_later =
        derived(move || state.with(|state| state.metric.as_sent().as_scheduled().is_none()));
    let set_percentile = move |key: String| {
        let chosen = Percentile::ALL
            .into_iter()
            .find(|percentile| percentile.name() == key)
            .unwrap_or_default();
        state.update(|state| state.percentile = chosen);
    };
    let set_across = move |key: String| {
        let chosen = Across::ALL
            .into_iter()
            .find(|across| across.name() == key)
            .unwrap_or_default();
        state.update(|state| (state.across, state.zoom) = (chosen, None));
    };
    view! {
        <div class="menus">
            <Menu id="axis-y" label="Latency" options=metrics.to_vec() now=derived(move || state.with(|state| metric_key(state.metric.as_sent()))) set=Callback::new(set_metric) />
            <Menu id="axis-p" label="Percentile" options=percentiles.to_vec() now=derived(move || state.with(|state| state.percentile.name())) set=Callback::new(set_percentile) />
            <Menu id="axis-x" label="Against" options=across.to_vec() now=derived(move || state.with(|state| state.across.name())) set=Callback::new(set_across) />
            <Menu
                id="axis-scale"
                label="Scale"
                options=scales.to_vec()
                now=derived(move || if state.with(|state| state.log) { "log" } else { "lin" })
                set=Callback::new(move |key: String| state.update(|state| state.log = key == "log"))
            />
            <span class="menu-slot" hidden=move || begins_later.get()>
                <Menu id="axis-from" label="Counted" options=froms.to_vec() now=from set=Callback::new(set_from) />
            </span>
            <button type="button" class="button compact" hidden=move || state.with(|state| state.zoom.is_none() && state.up.is_none()) on:click=move |_| state.update(|state| (state.zoom, state.up) = (None, None))>
                "Show all of the axes"
            </button>
        </div>
    }
    .erased()
}

/// One menu.
#[component]
fn Menu(
    id: &'static str,
    label: &'static str,
    options: Vec<(&'static str, &'static str)>,
    now: Signal<&'static str>,
    set: Callback<String>,
) -> impl IntoView {
    let option = move |(key, text): (&'static str, &'static str)| {
        view! {
            <option value=key selected=now.get_untracked() == key prop:selected=move || now.get() == key>
                {text}
            </option>
        }
    };
    view! {
        <label class="menu" for=id>
            <span>{label}</span>
            <select id=id on:change=move |event| set.run(event_target_value(&event))>
                {options.into_iter().map(option).collect_view()}
            </select>
        </label>
    }
    .erased()
}

/// The configurations with their colours and ceilings; each a switch.
#[component]
pub fn Legend(
    /// The page.
    page: Page,
) -> impl IntoView {
    let names = memo(move || {
        page.known.with(|study| {
            let configurations = study.configurations.iter();
            let name = configurations.map(|one| one.spec.name.clone());
            (0_u32..).zip(name).collect::<Vec<_>>()
        })
    });
    let row = move |(index, name): (u32, String)| {
        let on = memo(move || page.state.with(|state| !state.hidden.contains(&index)));
        let turn = move |_| {
            page.state
                .update(|state| match state.hidden.binary_search(&index) {
                    Ok(place) => drop(state.hidden.remove(place)),
                    Err(place) => state.hidden.insert(place, index),
                });
        };
        let ceiling = memo(move || page.shown.with(|study| ceiling_of(study, index)));
        let series = series_colour(index as usize);
        view! {
            <li>
                <button type="button" class="legend-entry" aria-pressed=move || on.get().to_string() style=("--series", series) data-dash=index % 4 on:click=turn>
                    <span class="stroke" aria-hidden="true"></span>
                    <span>{name}</span>
                    <span class="muted">{ceiling}</span>
                </button>
            </li>
        }
    };
    view! { <ul class="legend" aria-label="Configurations">{shared(move || names.get().into_iter().map(row).collect_view().erased())}</ul> }.erased()
}

/// A configuration's ceiling with its unit.
fn ceiling_of(study: &StudyView, index: u32) -> String {
    let found = study.configurations.get(index as usize);
    if words::has_no_rate(study) {
        return String::new();
    }
    found.and_then(|one| one.ceiling.as_ref()).map_or_else(
        || "not yet judged".into(),
        |found| words::with_unit(found, words::rate_unit(&study.spec)),
    )
}
