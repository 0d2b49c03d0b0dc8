//! What a person can do with a study. Each act names its cost before and says after what it did.

use std::future::Future;

use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::{effect, memo};
use leptos::prelude::*;
use leptos::task::spawn_local;
use measure::slo::Slo;
use uuid::Uuid;

use super::Page;
use crate::api::{Answer, delete_study, edit_study, get_study, resume_study, stop_study};
use crate::live::is_live;
use crate::live::take_newer;
use crate::studio::{StudyEdit, StudyState, StudyView};
use crate::ui::dialog::Dialog;
use crate::ui::toast::toasts;
use crate::url_state::{ViewState, escape};
use crate::words;

/// Does something, says what happened, and reads the study anew.
pub(super) fn act(
    page: Page,
    said: &'static str,
    what: impl Future<Output = Answer<()>> + 'static,
) {
    let messages = toasts();
    spawn_local(async move {
        match what.await {
            Ok(()) => {
                messages.say(said);
                reread(page).await;
            }
            Err(error) => messages.say(words::capital(&error.to_string())),
        }
    });
}

/// Reads the study anew. Where that fails the live stream, or a reload, will tell.
pub(super) async fn reread(page: Page) {
    if let Some(id) = page.known.try_with_untracked(|study| study.id)
        && let Ok(study) = get_study(id).await
    {
        take_newer(page.known, study);
    }
}

pub(super) fn id(page: Page) -> Uuid {
    page.known.with_untracked(|study| study.id)
}

/// The row of buttons.
#[component]
pub fn Actions(page: Page) -> impl IntoView {
    let state = memo(move || page.known.with(|study| study.state));
    let rest = memo(move || page.known.with(remaining));
    let compare = memo(move || {
        let tried = page.state.with(|state| state.slo.clone());
        page.known.with(|study| compare_link(study, tried.as_ref()))
    });
    let editing = RwSignal::new(false);
    let share = move || {
        let view = page.state.with(ViewState::query);
        format!("/studies/{}/share{view}", id(page))
    };
    let resumable = move || {
        matches!(
            state.get(),
            StudyState::Stopped | StudyState::Interrupted | StudyState::Failed
        ) && 0 < rest.get()
    };
    let clone = format!("/studies/new?from={}", id(page));
    let export = format!("/api/v1/studies/{}/bundle", id(page));
    view! {
        <div class="actions">
            <button
                type="button"
                class="button"
                hidden=move || !is_live(state.get())
                title="Stops the load; finished points are kept, the one under load is measured anew when the study resumes"
                on:click=move |_| act(page, "Stopping. Finished points are kept.", stop_study(id(page)))
            >
                "Stop"
            </button>
            <button
                type="button"
                class="button primary"
                hidden=move || !resumable()
                title="Puts the study back in the queue; the engine is under load again"
                on:click=move |_| act(page, "Back in the queue.", resume_study(id(page)))
            >
                {shared(move || format!("Resume, {} left", words::count(rest.get(), "point")))}
            </button>
            {shared(move || {
                compare.get().map(|href| view! { <a class="button" rel="external" href=href title="Baseline against the others, with what differs">"Compare configurations"</a> })
            })}
            <a class="button" rel="external" href=clone title="A new study that begins with this one's settings">"Clone"</a>
            <a class="button" rel="external" download="" href=export hidden=move || is_live(state.get()) title="One file that another studio opens without any engine; addresses, paths, logs and notes are left out">"Export"</a>
            <a class="button" rel="external" href=share title="A link that others can open, and the curve as a file">"Share"</a>
            <button type="button" class="button quiet" aria-haspopup="dialog" on:click=move |_| editing.set(true)>"Edit"</button>
            <Delete page />
            <Edit page open=editing />
        </div>
    }
    .erased()
}

fn remaining(study: &StudyView) -> usize {
    study
        .points
        .iter()
        .filter(|point| !point.state.is_over())
        .count()
}

/// The comparison of the study's configurations, baseline first, under the SLO that is tried; none where there is only one.
fn compare_link(study: &StudyView, tried: Option<&Slo>) -> Option<String> {
    if study.configurations.len() < 2 {
        return None;
    }
    let ids: Vec<String> = study
        .configurations
        .iter()
        .map(|one| format!("c={}", one.id))
        .collect();
    let slo = tried.map_or_else(String::new, |slo| {
        format!("&slo={}", escape(&slo.to_string()))
    });
    Some(format!("/compare?{}{slo}", ids.join("&")))
}

/// Hides the study at once; the page of studies says what that ended, and offers the way back.
#[component]
fn Delete(page: Page) -> impl IntoView {
    let messages = toasts();
    let press = move |_| {
        let id = id(page);
        spawn_local(async move {
            match delete_study(id).await {
                Ok(()) => drop(window().location().set_href(&format!("/?deleted={id}"))),
                Err(error) => messages.say(words::capital(&error.to_string())),
            }
        });
    };
    view! {
        <button type="button" class="button quiet danger" title="Hides the study, and ends its share links; it can be brought back for 30 days" on:click=press>
            "Delete"
        </button>
    }
    .erased()
}

/// Name, tags, note.
#[component]
fn Edit(page: Page, open: RwSignal<bool>) -> impl IntoView {
    let fields = move || {
        page.known.with_untracked(|study| {
            (
                study.spec.name.clone(),
                study.tags.join(", "),
                study.note.clone(),
            )
        })
    };
    let (name, tags, note) = fields();
    let (name, tags, note) = (
        RwSignal::new(name),
        RwSignal::new(tags),
        RwSignal::new(note),
    );
    effect(move || {
        if open.get() {
            let (now_name, now_tags, now_note) = fields();
            name.set(now_name);
            tags.set(now_tags);
            note.set(now_note);
        }
    });
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let words = tags.with_untracked(|tags| {
            tags.split(',')
                .map(|tag| tag.trim().to_owned())
                .filter(|tag| !tag.is_empty())
                .collect()
        });
        let edit = StudyEdit {
            name: Some(name.get_untracked()),
            tags: Some(words),
            note: Some(note.get_untracked()),
            ..StudyEdit::default()
        };
        act(page, "Saved.", edit_study(id(page), edit));
        open.set(false);
    };
    view! {
        <Dialog open id="edit-heading" title="Name, tags and note">
            <form class="stack" on:submit=save>
                <div class="field">
                    <label for="edit-name">"Name"</label>
                    <input id="edit-name" type="text" required maxlength="200" prop:value=move || name.get() on:input=move |event| name.set(event_target_value(&event)) />
                </div>
                <div class="field">
                    <label for="edit-tags">"Tags"</label>
                    <input id="edit-tags" type="text" prop:value=move || tags.get() on:input=move |event| tags.set(event_target_value(&event)) />
                    <p class="hint">"Separated by commas."</p>
                </div>
                <div class="field">
                    <label for="edit-note">"Note"</label>
                    <textarea id="edit-note" rows="4" prop:value=move || note.get() on:input=move |event| note.set(event_target_value(&event))></textarea>
                    <p class="hint">"Part of a shared page only where its link shows all."</p>
                </div>
                <div class="actions">
                    <button type="button" class="button" on:click=move |_| open.set(false)>"Cancel"</button>
                    <button type="submit" class="button primary">"Save"</button>
                </div>
            </form>
        </Dialog>
    }
    .erased()
}

/// The note, where there is one. A link that does not show all has none.
#[component]
pub fn Note(page: Page) -> impl IntoView {
    let note = memo(move || page.known.with(|study| study.note.clone()));
    view! {
        <section class="stack tight" hidden=move || note.with(String::is_empty) aria-labelledby="note-heading">
            <h2 id="note-heading">"Note"</h2>
            <p class="note">{shared(move || note.get())}</p>
        </section>
    }
    .erased()
}
