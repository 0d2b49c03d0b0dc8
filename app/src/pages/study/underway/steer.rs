//! What can be done with a study that runs: end its point now, hold it after that. Each names its cost before it is done.

use leptos::html;
use leptos::prelude::*;
use uuid::Uuid;

use super::super::Page;
use super::super::controls::{act, id};
use super::now::of_current;
use super::{current, point_words};
use crate::api::{pause_study, proceed_study, skip_point};
use crate::studio::{Hold, Progress, StudyView};
use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::{effect, memo};

/// The buttons, and what skipping would cost.
#[component]
pub fn Steer(page: Page) -> impl IntoView {
    let under_load = memo(move || page.known.with(|study| current(study).map(|it| it.id)));
    let hold = memo(move || page.known.with(|study| study.hold));
    // The point that somebody is about to skip: it is named, so that another one that runs by then is not.
    let asked = RwSignal::new(None::<Uuid>);
    effect(move || {
        if asked.get().is_some() && asked.get() != under_load.get() {
            asked.set(None);
        }
    });
    let opener = NodeRef::<html::Button>::new();
    let toggle = move |_| {
        asked.update(|asked| {
            *asked = asked
                .is_none()
                .then(|| under_load.get_untracked())
                .flatten()
        });
    };
    let pause = move |_| {
        if hold.get_untracked() == Hold::Asked {
            act(
                page,
                "It goes on after this point.",
                proceed_study(id(page)),
            );
        } else {
            act(
                page,
                "It will pause after this point.",
                pause_study(id(page)),
            );
        }
    };
    let pauses = move || hold.get() == Hold::Asked;
    view! {
        <div class="steer">
            <div class="actions">
                <button
                    type="button"
                    class="button compact"
                    node_ref=opener
                    aria-expanded=move || asked.get().is_some().to_string()
                    disabled=move || under_load.get().is_none()
                    on:click=toggle
                >
                    "Skip this point"
                </button>
                <button type="button" class="button compact" on:click=pause>
                    {shared(move || if pauses() { "Do not pause" } else { "Pause after this point" })}
                </button>
            </div>
            <Skip page asked opener />
            <p class="small muted">
                {shared(move || if pauses() { "Pauses after this point. " } else { "" })}
                {page.known.with_untracked(pause_costs)}
            </p>
        </div>
    }
    .erased()
}

/// What skipping costs, and the last word.
#[component]
fn Skip(page: Page, asked: RwSignal<Option<Uuid>>, opener: NodeRef<html::Button>) -> impl IntoView {
    let costs = memo(move || {
        page.known
            .with(|study| page.underway.with(|it| skip_costs(study, it.as_ref())))
    });
    // Focus does not go away with the button that was pressed.
    let close = move || {
        asked.set(None);
        if let Some(button) = opener.get_untracked() {
            drop(button.focus());
        }
    };
    let skip = move |_| {
        if let Some(point) = asked.get_untracked() {
            act(page, "Skipping this point.", skip_point(point));
        }
        close();
    };
    view! {
        <div class="notice costs" role="group" aria-label="Skip this point?" hidden=move || asked.get().is_none()>
            <p>{shared(move || costs.get())}</p>
            <div class="actions">
                <button type="button" class="button danger compact" on:click=skip>"Skip it"</button>
                <button type="button" class="button quiet compact" on:click=move |_| close()>"Keep measuring"</button>
            </div>
        </div>
    }
    .erased()
}

/// What a skipped point keeps and loses.
fn skip_costs(study: &StudyView, underway: Option<&(Uuid, Progress)>) -> String {
    let Some(point) = current(study) else {
        return String::new();
    };
    let (sent, of) = match of_current(study, underway) {
        Some((_, it)) => (it.sent, it.scheduled),
        None => (0, point.planned_requests),
    };
    let ends = match study.spec.adaptive {
        Some(_) => " The search for its ceiling ends with it.",
        None => "",
    };
    format!(
        "{}: keeps {sent} of {of} requests; the point will be marked skipped, counts in no figure, and is not measured again.{ends}",
        point_words(study, point)
    )
}

/// What a paused study holds.
fn pause_costs(study: &StudyView) -> &'static str {
    if study.is_managed() {
        "While it is paused its engine keeps running and holds its GPU."
    } else {
        "While it is paused its engine stays reserved: studies of the same engine wait."
    }
}

#[cfg(test)]
mod tests {
    use measure::study::Adaptive;

    use super::*;
    use crate::fixture;
    use crate::studio::PointState;

    #[test]
    fn the_cost_of_skipping_names_the_point_and_what_is_kept() {
        let mut study = fixture::study();
        assert_eq!(skip_costs(&study, None), "");
        study.points[1].state = PointState::Running;
        assert!(skip_costs(&study, None).contains("keeps 0 of 200 requests"));
        let progress = Progress {
            sent: 120,
            scheduled: 500,
            ..Progress::default()
        };
        let underway = (study.points[1].id, progress);
        let costs = skip_costs(&study, Some(&underway));
        let name = study.configurations[0].spec.name.clone();
        assert!(costs.starts_with(&name), "{costs}");
        assert!(costs.contains("keeps 120 of 500 requests; the point will be marked skipped"));
        study.spec.adaptive = Some(Adaptive {
            from: 1.0.try_into().expect("a rate"),
            to: 8.0.try_into().expect("a rate"),
            minutes: 1,
            width: 0.3,
        });
        assert!(skip_costs(&study, Some(&underway)).ends_with("ends with it."));
    }
}
