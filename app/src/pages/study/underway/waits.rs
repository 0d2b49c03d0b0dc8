//! A study that waits for a person: to restart its engine, or because somebody paused it.

use leptos::prelude::*;
use measure::study::Turn;

use super::super::Page;
use super::super::controls::{act, id};
use crate::api::proceed_study;
use crate::studio::{Hold, StudyView};
use crate::ui::badge::Tone;
use crate::ui::empty::Notice;
use crate::ui::erased::Erase;

/// What to do, and the button for when it is done.
#[component]
pub fn Waiting(page: Page, problem: Option<String>) -> impl IntoView {
    let paused = page
        .known
        .with_untracked(|study| study.hold == Hold::Paused);
    let instruction = page.known.with_untracked(instruction);
    let (tone, head, text) = if paused {
        let text = problem.unwrap_or_else(|| "Paused by a person.".into());
        (Tone::Plain, "", text)
    } else {
        let text = instruction.or(problem);
        let text = text
            .unwrap_or_else(|| "restart the engine with the next configuration's settings".into());
        (Tone::Warn, "Your turn: ", text)
    };
    let press = move |_| act(page, "Going on.", proceed_study(id(page)));
    view! {
        <Notice tone>
            <strong>{head}</strong>
            {text}
            {page
                .is_owner()
                .then(|| {
                    view! {
                        " "
                        <button type="button" class="button primary compact" on:click=press>
                            "Continue"
                        </button>
                    }
                })}
        </Notice>
    }
    .erased()
}

/// What the next configuration asks a person to do.
fn instruction(study: &StudyView) -> Option<String> {
    let next = study.points.iter().find(|it| !it.state.is_over())?;
    let spec = &study.configurations.get(next.configuration as usize)?.spec;
    match &spec.turn {
        Turn::Pause { instruction } => Some(format!(
            "{instruction} (for “{}”), then press Continue.",
            spec.name
        )),
        Turn::AsIs | Turn::OtherEndpoint(_) | Turn::Managed { .. } => None,
    }
}
