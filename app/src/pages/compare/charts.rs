//! The curves: over each other, side by side with the baseline in grey, or ceilings against a knob. Every choice is a link.

use super::brush::BRUSH;
use super::{ComparePage, CompareState, Drawing, facts, knob, legend, names, sources, title, unit};
use crate::chart::{Axes, Chart, Rules, Series, Upward, chart};
use crate::sheet::{self, Panel, Sheet, open_note, within};
use crate::studio::CompareView;
use crate::ui::chart::numbers;
use crate::ui::html::{Html, html};
use crate::url_state::{Across, COUNTED, METRICS, Percentile, counted, is_scheduled, metric_key};
use crate::words;
use measure::summary::gpus;

/// The section.
pub fn section(page: &ComparePage, compared: &CompareView, nonce: &str) -> Html {
    let panels = panels(&page.state, compared);
    let table = match on_axis(&page.state, compared) {
        Some(knob) => knob::numbers(compared, &knob),
        None => numbers(&table_chart(&page.state, compared)),
    };
    let kind = if 1 < panels.len() { "many" } else { "one" };
    html!(
        r#"<section class="card chart main-chart compared-chart" id="chart" aria-labelledby="chart-heading"><h2 id="chart-heading" class="sr-only">Curves</h2><div class="menus">{}{}</div><div class="panels {}">{}</div><ul class="chart-notes">{}</ul><details class="chart-table"><summary>The numbers of this chart</summary><div class="scroll-x" tabindex="0">{}</div></details><div class="row small exports">{}{}</div></section><script nonce="{}">{}</script>"#,
        drawings(page, compared),
        menus(page),
        kind,
        panels.iter().map(|it| plot(page, it)).collect::<Html>(),
        notes(&panels),
        table,
        exports(page),
        zoomed(page),
        nonce,
        Html::script(BRUSH.to_owned())
    )
}

/// A group of choices, each a link.
fn choices(label: &str, links: impl IntoIterator<Item = (String, String, bool)>) -> Html {
    let links = links.into_iter().map(|(text, link, now)| {
        html!(
            r##"<a href="{}#chart"{}>{}</a>"##,
            link,
            now.then(|| Html::literal(r#" aria-current="true""#)),
            text
        )
    });
    html!(
        r#"<nav class="choices" aria-label="{}">{}</nav>"#,
        label,
        links.collect::<Html>()
    )
}

fn drawings(page: &ComparePage, compared: &CompareView) -> Html {
    let has_knob = !knob::knobs(compared).is_empty();
    let all = Drawing::ALL.into_iter();
    let all = all.filter(|(it, ..)| has_knob || *it != Drawing::Knob);
    choices(
        "Curves",
        all.map(|(drawing, _, text)| {
            let link = page.state.with(|it| it.drawing = drawing);
            (text.to_owned(), link, page.state.drawing == drawing)
        }),
    )
}

/// What the axes show; a knob's axis has but the knob.
fn menus(page: &ComparePage) -> Html {
    if page.state.drawing == Drawing::Knob {
        let compared = page.compared.iter();
        return compared.map(|it| knob_menu(page, it)).collect();
    }
    let (state, now) = (&page.state, &page.state.chart);
    let to = |metric| state.with(|it| (it.chart.metric, it.chart.up) = (metric, None));
    let metrics = METRICS.map(|metric| {
        let name = words::metric_name(metric).to_owned();
        let link = to(counted(metric, is_scheduled(now.metric)));
        (name, link, now.metric.as_sent() == metric)
    });
    let froms = COUNTED.map(|(from_schedule, name)| {
        let metric = counted(now.metric, from_schedule);
        (name.to_owned(), to(metric), now.metric == metric)
    });
    let begins_at_the_send = now.metric.as_sent().as_scheduled().is_some();
    let percentiles = Percentile::ALL.map(|percentile| {
        let link = state.with(|it| it.chart.percentile = percentile);
        (
            percentile.name().to_owned(),
            link,
            now.percentile == percentile,
        )
    });
    let across = Across::ALL.map(|across| {
        let link =
            state.with(|it| (it.chart.across, it.chart.zoom, it.chart.up) = (across, None, None));
        (across.label().to_owned(), link, now.across == across)
    });
    let scales = [("linear", false), ("logarithmic", true)].map(|(text, log)| {
        let link = state.with(|it| it.chart.log = log);
        (text.to_owned(), link, now.log == log)
    });
    html!(
        "{}{}{}{}{}",
        choices(&format!("Latency: {}", metric_key(now.metric)), metrics),
        choices("Percentile", percentiles),
        choices("Against", across),
        choices("Scale", scales),
        begins_at_the_send.then(|| choices("Counted", froms))
    )
}

fn knob_menu(page: &ComparePage, compared: &CompareView) -> Html {
    let now = knob::chosen(&page.state, compared).map(|it| it.name);
    let all = knob::knobs(compared).into_iter();
    choices(
        "Knob",
        all.map(|it| {
            let link = page.state.with(|state| state.knob = Some(it.name.clone()));
            let is_now = now.as_ref() == Some(&it.name);
            (it.name, link, is_now)
        }),
    )
}

/// Which part of the axis is shown, as a field: dragging over the chart fills it, too.
fn zoomed(page: &ComparePage) -> Option<Html> {
    if page.state.drawing == Drawing::Knob {
        return None;
    }
    let kept = page.state.pairs().into_iter();
    let kept = kept.filter(|(key, _)| key != "zoom");
    let kept =
        kept.map(|(key, value)| html!(r#"<input type="hidden" name="{}" value="{}">"#, key, value));
    let zoom = page.state.chart.zoom;
    Some(html!(
        r#"<form method="get" action="{}#chart" class="row small zoom">{}<label for="zoom">Part of the horizontal axis</label><input id="zoom" name="zoom" type="text" inputmode="decimal" size="12" placeholder="from, to" value="{}"><button type="submit" class="button compact">Show</button>{}</form>"#,
        page.state.path(),
        kept.collect::<Html>(),
        zoom.map(|(from, to)| format!("{from},{to}")),
        zoom.is_some().then(|| html!(
            r##"<a href="{}#chart">all of it</a>"##,
            page.state.with(|it| it.chart.zoom = None)
        ))
    ))
}

fn plot(page: &ComparePage, panel: &Panel) -> Html {
    let heading = (!panel.title.is_empty()).then(|| html!("<h3>{}</h3>", panel.title));
    let x = &panel.chart.x;
    let limit = panel.chart.over.limit.as_ref();
    let limit = limit.map(|it| {
        html!(
            r#"<span class="limit" style="top:{}">{}</span>"#,
            format!("{:.2}%", (1.0 - panel.chart.y.fraction(it.value)) * 100.0),
            it.text
        )
    });
    let zoomable = page.state.drawing != Drawing::Knob;
    let range = zoomable.then(|| {
        html!(
            r#" data-zoom="{},{}"{}"#,
            x.bottom().to_string(),
            x.top().to_string(),
            x.log.then(|| Html::literal(" data-log"))
        )
    });
    html!(
        r#"<div class="panel">{}<div class="plot"><div class="picture"{}>{}</div><div class="overlay">{}</div></div></div>"#,
        heading,
        range,
        Html::script(within(panel)),
        limit
    )
}

fn notes(panels: &[Panel]) -> Html {
    let notes = panels.iter().flat_map(|it| &it.chart.notes).cloned();
    let open = panels.iter().filter_map(|it| open_note(&it.chart));
    let mut notes: Vec<String> = notes.chain(open).collect();
    notes.sort();
    notes.dedup();
    notes
        .into_iter()
        .map(|it| html!("<li>{}</li>", it))
        .collect()
}

/// The files of what is shown.
fn exports(page: &ComparePage) -> Html {
    let query = page.state.query();
    let files = [
        ("csv", "CSV of what is plotted"),
        ("svg", "picture (SVG)"),
        ("png", "picture (PNG)"),
    ];
    let links = files.map(|(ending, text)| {
        html!(
            r#"<a href="{}/export.{}?{}" download="comparison.{}">{}</a>"#,
            page.state.path(),
            ending,
            query,
            ending,
            text
        )
    });
    links.into_iter().collect()
}

/// Everything that is not hidden, with its place in the order of the comparison.
fn series<'a>(
    state: &CompareState,
    compared: &'a CompareView,
    names: &'a [String],
) -> Vec<(usize, Series<'a>)> {
    let all = compared.configurations.iter().zip(names).enumerate();
    let shown = all.filter(|(index, _)| !state.hides(compared, *index));
    shown
        .map(|(index, (one, name))| {
            let series = Series {
                name,
                colour: state.colour(compared, index),
                points: one.points.iter().collect(),
                ceiling: one.configuration.ceiling,
                gpus: gpus(&one.configuration.facts),
            };
            (index, series)
        })
        .collect()
}

fn of(state: &CompareState, compared: &CompareView, series: &[Series<'_>]) -> Chart {
    let view = &state.chart;
    let rules = Rules {
        slo: &compared.slo,
        home: &compared.slo,
        axes: Axes {
            upward: Upward::Latency(view.metric, view.percentile),
            across: view.across,
            log: view.log,
        },
        unit: unit(compared),
    };
    chart(series, rules).zoomed(view.zoom, view.up)
}

/// The knob that is on the axis, where one is.
fn on_axis(state: &CompareState, compared: &CompareView) -> Option<knob::Knob> {
    let asked = state.drawing == Drawing::Knob;
    asked.then(|| knob::chosen(state, compared)).flatten()
}

/// What is plotted, as rows for other programs.
pub fn csv(state: &CompareState, compared: &CompareView) -> String {
    match on_axis(state, compared) {
        Some(knob) => knob::csv(compared, &knob),
        None => {
            let chart = table_chart(state, compared);
            sheet::csv(&chart, &sources(state, compared), &compared.slo.to_string())
        }
    }
}

/// All curves in one chart: what the table and the CSV have rows of.
pub fn table_chart(state: &CompareState, compared: &CompareView) -> Chart {
    let names = names(compared);
    let all = series(state, compared, &names);
    let all: Vec<Series<'_>> = all.into_iter().map(|(_, it)| it).collect();
    of(state, compared, &all)
}

fn panels(state: &CompareState, compared: &CompareView) -> Vec<Panel> {
    match (state.drawing, on_axis(state, compared)) {
        (Drawing::Small, _) => small(state, compared),
        (_, Some(knob)) => vec![knob::panel(state, compared, &knob)],
        _ => vec![Panel::alone(table_chart(state, compared))],
    }
}

/// A chart a configuration, all on the same axes; the baseline stands in grey behind the others.
fn small(state: &CompareState, compared: &CompareView) -> Vec<Panel> {
    let names = names(compared);
    let all = series(state, compared, &names);
    let every: Vec<Series<'_>> = all.iter().map(|(_, it)| it.clone()).collect();
    let whole = of(state, compared, &every);
    let baseline = all.iter().find(|(index, _)| *index == 0);
    let baseline = baseline.map(|(_, it)| it.clone());
    all.iter()
        .map(|(index, own)| {
            let behind = baseline.clone().filter(|_| 0 < *index);
            let grey = behind.as_ref().map(|_| (own.colour + 4) % 8);
            let behind = behind.map(|it| Series {
                name: "",
                colour: grey.unwrap_or_default(),
                ..it
            });
            let both: Vec<Series<'_>> = behind.into_iter().chain([own.clone()]).collect();
            let mut chart = of(state, compared, &both);
            (chart.x, chart.y) = (whole.x.clone(), whole.y.clone());
            // The heading says whose it is.
            chart
                .lines
                .iter_mut()
                .for_each(|it| it.name = String::new());
            let title = match index {
                0 => format!("{} (baseline)", own.name),
                _ => own.name.to_owned(),
            };
            Panel {
                title,
                grey,
                ..Panel::alone(chart)
            }
        })
        .collect()
}

/// The picture to take away.
pub fn sheet_of(page: &ComparePage, compared: &CompareView) -> Sheet {
    Sheet {
        title: title(page),
        facts: facts(compared),
        legend: legend(&page.state, compared),
        panels: panels(&page.state, compared),
    }
}
