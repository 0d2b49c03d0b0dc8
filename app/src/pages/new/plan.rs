//! The plan beside the form: how long it takes, what it holds, what to think about first; and Launch.

use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::memo;
use leptos::prelude::*;
use leptos::task::spawn_local;
use measure::study::{EngineSpec, FieldError, PlannedPoint, StudySpec, Turn};

use super::advice::{Advice, advise, pauses, total_ms};
use super::form::{Form, section_of};
use super::later::{Asking, Later};
use super::sentence::{engines_words, rate_unit};
use super::spoken::spoken;
use crate::api::foretell_study;
use crate::ui::badge::{Badge, SIMULATED};
use crate::ui::format;
use crate::words;

/// The points of one configuration.
#[derive(Clone, Debug, PartialEq)]
struct Lane {
    name: String,
    points: Vec<PlannedPoint>,
}

fn lanes(spec: &StudySpec, plan: &[PlannedPoint]) -> Vec<Lane> {
    let lane = |(index, configuration): (usize, &measure::study::ConfigurationSpec)| Lane {
        name: configuration.name.clone(),
        points: plan
            .iter()
            .filter(|point| point.configuration as usize == index)
            .copied()
            .collect(),
    };
    spec.configurations.iter().enumerate().map(lane).collect()
}

/// The plan.
#[component]
pub fn Plan(
    /// The form.
    form: Form,
    /// Whether the study is being launched.
    pending: Signal<bool>,
    /// What went wrong with launching, where it belongs to no field.
    problem: Signal<Option<String>>,
) -> impl IntoView {
    let engine = move || form.draft.with(engines_words);
    let searched = move || form.spec.with(|spec| spec.as_ref().ok()?.adaptive);
    let headline = move || {
        if let Some(adaptive) = searched() {
            return format!("Up to {} min", adaptive.minutes);
        }
        form.plan.with(|plan| match plan.len() {
            0 => "No plan yet".to_owned(),
            points => format!(
                "{}, {}",
                words::count(points, "point"),
                format::about(total_ms(plan))
            ),
        })
    };
    let drawn = memo(move || {
        form.spec.with(|spec| {
            spec.as_ref()
                .map(|spec| form.plan.with(|plan| lanes(spec, plan)))
                .unwrap_or_default()
        })
    });
    let unit = move || form.draft.with(rate_unit);
    let paused = move || {
        form.spec
            .with(|spec| spec.as_ref().map(pauses).unwrap_or_default())
    };
    let started = move || {
        let started = |spec: &StudySpec| {
            let engine = matches!(spec.engine, EngineSpec::Managed { .. });
            let own = |turn: &Turn| engine && matches!(turn, Turn::AsIs);
            let turns = spec.configurations.iter().map(|it| &it.turn);
            let starts = turns.filter(|it| own(it) || matches!(it, Turn::Managed { .. }));
            starts.count()
        };
        form.spec
            .with(|spec| spec.as_ref().map(started).unwrap_or_default())
    };
    view! {
        <section class="plan card stack" aria-label="Plan">
            <div class="row">
                <h2>{headline}</h2>
                <Show when=move || form.draft.with(|draft| draft.is_simulated())>
                    <Badge word=SIMULATED />
                </Show>
            </div>
            {shared(move || drawn.with(|lanes| lanes.iter().enumerate().map(|(index, it)| lane(index, it, unit())).collect_view()))}
            {foretold(form)}
            <p class="small muted">"Holds " {engine} " meanwhile. " {shared(move || pause_words(paused()))} {shared(move || starts_words(started()))}</p>
            {shared(move || points_table(&drawn.get(), unit()))}
            <Problems form problem />
            <button class="button primary" aria-busy=move || pending.get().to_string() disabled=move || pending.get()>
                "Launch"
            </button>
            <AdviceList form />
            <Later form what="Copy it as JSON or as command lines" ask=Asking::Written />
        </section>
    }
    .erased()
}

/// What an adaptive sweep would take, as the server works it out.
fn foretold(form: Form) -> impl IntoView {
    let spec = memo(move || {
        let spec = form.spec.get().ok()?;
        spec.adaptive.map(|_| spec)
    });
    let said = RwSignal::new(String::new());
    Effect::new(move |_| match spec.get() {
        Some(spec) => spawn_local(async move {
            said.set(foretell_study(spec).await.unwrap_or_default());
        }),
        None => said.set(String::new()),
    });
    view! { <p class="small">{move || said.get()}</p> }.erased()
}

fn pause_words(pauses: usize) -> Option<String> {
    match pauses {
        0 => None,
        1 => Some("It pauses once for you to restart the engine.".into()),
        many => Some(format!(
            "It pauses {many} times for you to restart the engine."
        )),
    }
}

fn starts_words(starts: usize) -> Option<String> {
    match starts {
        0 => None,
        1 => Some("Starting the engine comes on top.".into()),
        many => Some(format!("Starting engines {many} times comes on top.")),
    }
}

/// One configuration on the timeline: each point as wide as it is long.
fn lane(index: usize, lane: &Lane, unit: &'static str) -> impl IntoView + use<> {
    let part = |point: &PlannedPoint| {
        let style = format!(
            "flex-grow: {}",
            (point.estimated.as_secs_f64() * 10.0).round().max(1.0)
        );
        view! { <i style=style title=point_words(point, unit)></i> }
    };
    let label = format!(
        "{}: {}, {}",
        lane.name,
        words::count(lane.points.len(), "point"),
        format::about(total_ms(&lane.points))
    );
    view! {
        <div class="lane" style=format!("--series: var(--series-{})", index % 8 + 1)>
            <span class="small">{lane.name.clone()}</span>
            <span class="bar" role="img" aria-label=label>
                {lane.points.iter().map(part).collect_view()}
            </span>
        </div>
    }
}

fn point_words(point: &PlannedPoint, unit: &str) -> String {
    let level = match point.level.rate() {
        Some(rate) => format!("{rate} {unit}"),
        None => point.level.to_string(),
    };
    format!(
        "{level}: {} requests, {}",
        format::count(point.requests.into()),
        format::about(point.estimated.0 / 1_000_000)
    )
}

/// The same as a table: the timeline for those who read.
fn points_table(lanes: &[Lane], unit: &'static str) -> Option<impl IntoView + use<>> {
    let first = lanes.first().filter(|lane| !lane.points.is_empty())?;
    let row = |point: &PlannedPoint| {
        view! {
            <tr>
                <td class="num">{point.level.to_string()}</td>
                <td class="num">{format::count(point.requests.into())}</td>
                <td class="num">{format::about(point.estimated.0 / 1_000_000).replacen("about ", "", 1)}</td>
            </tr>
        }
    };
    let each = if lanes.len() > 1 {
        "Points of each configuration"
    } else {
        "Points"
    };
    Some(view! {
        <details class="more">
            <summary>{each}</summary>
            <table class="tight">
                <thead>
                    <tr>
                        <th class="num" scope="col">{unit}</th>
                        <th class="num" scope="col">"requests"</th>
                        <th class="num" scope="col">"about"</th>
                    </tr>
                </thead>
                <tbody>{first.points.iter().map(row).collect_view()}</tbody>
            </table>
        </details>
    })
}

/// What must be mended before the study can start; each entry leads to its field.
#[component]
fn Problems(form: Form, problem: Signal<Option<String>>) -> impl IntoView {
    let entry = move |FieldError { field, message }: FieldError| {
        let (section, id) = (section_of(&field), field.clone());
        view! {
            <li>
                <button type="button" class="linkish" on:click=move |_| form.go_to(section, id.clone())>{spoken(&field)}</button>
                " " {message}
            </li>
        }
    };
    view! {
        <div role="alert">
            {shared(move || problem.get().map(|text| view! { <p class="notice" data-tone="bad">{text}</p> }))}
        </div>
        {shared(move || {
            let errors = form.all_errors();
            (!errors.is_empty()).then(|| view! {
                <div class="notice" data-tone="bad" id="problems" tabindex="-1">
                    <strong>"To mend before it can start"</strong>
                    <ul>{errors.into_iter().map(entry).collect_view()}</ul>
                </div>
            })
        })}
    }
    .erased()
}

#[component]
fn AdviceList(form: Form) -> impl IntoView {
    let advice = memo(move || {
        form.spec.with(|spec| match spec {
            Ok(spec) => form
                .plan
                .with(|plan| form.draft.with(|draft| advise(draft, spec, plan))),
            Err(_) => Vec::new(),
        })
    });
    let entry = move |Advice {
                          tone,
                          lead,
                          text,
                          section,
                      }: Advice| {
        view! {
            <li class="notice small" data-tone=tone.name()>
                <strong>{lead}</strong> " " {text} " "
                <button type="button" class="linkish" on:click=move |_| form.go_to(section, String::new())>
                    "Change"
                </button>
            </li>
        }
    };
    view! {
        <ul class="stack tight" aria-live="polite" aria-label="Good to know first">
            {shared(move || advice.get().into_iter().map(entry).collect_view().erased())}
        </ul>
    }
    .erased()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_announced() {
        assert_eq!(pause_words(0), None);
        assert_eq!(
            pause_words(2).as_deref(),
            Some("It pauses 2 times for you to restart the engine.")
        );
    }
}
