//! Where there is no study yet: the goodput exercise, in one click.

use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::effect;
use leptos::prelude::*;
use leptos_router::components::A;
use leptos_router::hooks::use_navigate;
use measure::study::StudySpec;

use crate::api;
use crate::ui::empty::Empty;
use crate::ui::format;

/// What the exercise costs: `16 points, about 7 min`.
fn cost(spec: &StudySpec) -> String {
    let plan = spec.plan();
    let millis = plan.iter().map(|point| point.estimated.0 / 1_000_000).sum();
    format!("{} points, {}", plan.len(), format::about(millis))
}

/// Explains the goodput exercise and runs it.
#[component]
pub fn Exercise() -> impl IntoView {
    let navigate = use_navigate();
    let launch = Action::new(|(): &()| api::launch_study(StudySpec::goodput_exercise()));
    effect(move || {
        if let Some(Ok(id)) = launch.value().get() {
            navigate(&format!("/studies/{id}"), Default::default());
        }
    });
    let problem = move || {
        launch
            .value()
            .get()
            .and_then(Result::err)
            .map(|error| error.to_string())
    };
    let cost = cost(&StudySpec::goodput_exercise());
    view! {
        <Empty title="At which request rate does your engine still keep its promise?" picture=Sketch>
            <p>
                "Throughput alone does not say. Send requests at rising rates, as independent users would, and count how many keep the promise: a first token within 500 ms, then 50 ms a token. The highest rate at which 95 % do is the "
                <em>"goodput ceiling"</em> "."
            </p>
            <p>
                "The goodput exercise finds it for eight rates, flips one knob (prefix caching), and does it again with identical prompts and starts. The curve moves; the studio says by how much, and how sure it is."
            </p>
            <div class="row">
                <button
                    type="button"
                    class="button primary"
                    aria-busy=move || launch.pending().get().to_string()
                    disabled=move || launch.pending().get()
                    on:click=move |_| drop(launch.dispatch(()))
                >
                    "Run the goodput exercise on the simulator"
                </button>
                <a href="/studies/new?exercise=1" rel="external" class="button quiet">"Look at it first"</a>
            </div>
            <p class="small muted">{cost} ". Needs no engine: everything it measures is marked simulated."</p>
            <div role="alert">{shared(move || problem().map(|text| view! { <p class="notice" data-tone="bad">{text}</p> }))}</div>
        </Empty>
    }
    .erased()
}

/// What the exercise will show, drawn by hand: two curves, the promise, and how far each keeps it.
#[component]
fn Sketch() -> impl IntoView {
    view! {
        <svg viewBox="0 0 400 240" role="img" aria-label="A sketch: latency over rate for two configurations; each curve crosses the SLO line at its ceiling.">
            <g fill="none" stroke="var(--line)">
                <path d="M40 20v180h340"></path>
                <path d="M40 80h340M40 140h340" stroke-dasharray="1 4"></path>
            </g>
            <path d="M40 92h340" fill="none" stroke="var(--accent)" stroke-width="1.5" stroke-dasharray="5 4"></path>
            <g fill="none" stroke-width="2.5" stroke-linecap="round">
                <path d="M52 176c90-2 128-10 158-50 16-22 22-56 26-96" stroke="var(--series-1)"></path>
                <path d="M52 184c140-2 190-12 224-52 18-22 26-58 30-102" stroke="var(--series-2)" stroke-dasharray="8 5"></path>
            </g>
            <g stroke-width="2">
                <path d="M225 92v108" stroke="var(--series-1)" stroke-dasharray="2 3"></path>
                <path d="M295 92v108" stroke="var(--series-2)" stroke-dasharray="2 3"></path>
                <circle cx="225" cy="92" r="4.5" fill="var(--surface)" stroke="var(--series-1)"></circle>
                <circle cx="295" cy="92" r="4.5" fill="var(--surface)" stroke="var(--series-2)"></circle>
            </g>
            <g fill="var(--muted)">
                <text x="40" y="12">"TTFT p95"</text>
                <text x="380" y="218" text-anchor="end">"sessions/s"</text>
                <text x="46" y="86" fill="var(--accent)">"the promise"</text>
                <text x="225" y="218" text-anchor="middle">"ceiling"</text>
            </g>
        </svg>
    }
    .erased()
}

/// Nothing matches the search.
#[component]
pub fn NothingFound(
    /// What was searched.
    search: String,
) -> impl IntoView {
    let title = if search.is_empty() {
        "Nothing older".to_owned()
    } else {
        format!("Nothing has “{search}”")
    };
    view! {
        <Empty title>
            <p class="muted">"The search looks through names, tags, engines and models."</p>
            <A href="/">"Show all studies"</A>
        </Empty>
    }
    .erased()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exercise_names_its_cost() {
        let cost = cost(&StudySpec::goodput_exercise());
        assert!(cost.starts_with("16 points, about "), "{cost}");
    }
}
