//! One study of the list.

use crate::ui::erased::Erase;
use leptos::prelude::*;
use leptos_router::components::A;
use measure::curve::Ceiling;
use uuid::Uuid;

use super::Studies;
use super::choice::{Choice, compare_address};
use crate::api;
use crate::studio::{StudyRow, StudyState};
use crate::ui::badge::{Badge, IMPORTED, INSECURE, SIMULATED, study_word};
use crate::ui::number::Missing;
use crate::ui::time::RelativeTime;
use crate::ui::toast::toasts;
use crate::words;

/// A row.
#[component]
pub fn Row(
    /// The study.
    row: StudyRow,
    /// The list, fetched again after a change.
    studies: Studies,
    /// What is chosen for a comparison.
    choice: Choice,
) -> impl IntoView {
    let StudyRow {
        id,
        name,
        state,
        simulated,
        insecure,
        tags,
        engine,
        slo,
        configurations,
        ceilings,
        sessions,
        points_finished,
        points,
        created_ms,
        imported,
    } = row;
    let unit = if sessions { "sessions/s" } else { "req/s" };
    let (address, title) = (format!("/studies/{id}"), name.clone());
    let both = (configurations.len() > 1).then(|| compare_address(&configurations));
    let found = configurations.into_iter().zip(ceilings).enumerate();
    let lines = found.map(|(index, (id, (name, ceiling)))| view! { <CeilingLine index id name ceiling state unit choice /> }).collect_view();
    view! {
        <li class="study">
            <div class="what">
                <div class="row">
                    <A href=address attr:class="name">{title}</A>
                    <Badge word=study_word(state) />
                    {simulated.then(|| view! { <Badge word=SIMULATED /> })}
                    {insecure.then(|| view! { <Badge word=INSECURE /> })}
                    {imported.then(|| view! { <Badge word=IMPORTED /> })}
                    {tags.into_iter().map(|tag| view! { <span class="tag">{tag}</span> }).collect_view()}
                </div>
                <p class="small muted">{engine} " · " <code>{slo.to_string()}</code></p>
            </div>
            <ul class="ceilings" aria-label="Goodput ceilings">{lines}</ul>
            <div class="facts-line small muted">
                <span class="row">{points_words(points_finished, points)} " · " <RelativeTime unix_ms=created_ms /></span>
                <span class="row">
                    {both.map(|address| view! { <a class="button compact quiet" href=address>"Compare"</a> })}
                    <a class="button compact quiet" rel="external" href=format!("/studies/new?from={id}")>"Clone"</a>
                    <Delete id name state studies />
                </span>
            </div>
        </li>
    }
    .erased()
}

/// A configuration's ceiling, and whether it is chosen.
#[component]
fn CeilingLine(
    index: usize,
    id: Uuid,
    name: String,
    ceiling: Option<Ceiling>,
    state: StudyState,
    unit: &'static str,
    choice: Choice,
) -> impl IntoView {
    let value = match ceiling {
        Some(ceiling) => {
            view! { <span class="value">{words::with_unit(&ceiling, unit)}</span> }.erased()
        }
        None => view! { <Missing reason=why_no_ceiling(state) /> }.erased(),
    };
    view! {
        <li>
            <label>
                <input
                    type="checkbox"
                    name="c"
                    value=id.to_string()
                    prop:checked=move || choice.holds(id)
                    on:change=move |event| choice.set(id, event_target_checked(&event))
                />
                <span class="key" style=format!("--series: var(--series-{})", index % 8 + 1)></span>
                <span class="configuration-name">{name}</span>
            </label>
            {value}
        </li>
    }
    .erased()
}

fn why_no_ceiling(state: StudyState) -> &'static str {
    match state {
        StudyState::Queued => "Not measured yet: the study waits for its engine.",
        StudyState::Running | StudyState::Waiting => "Not measured yet.",
        StudyState::Finished => "No rate was measured that could have a ceiling.",
        StudyState::Stopped | StudyState::Interrupted | StudyState::Failed => {
            "The study ended before it was measured."
        }
    }
}

fn points_words(finished: u32, points: u32) -> String {
    match points {
        1 if finished == 1 => "1 point".into(),
        _ if finished == points => format!("{points} points"),
        _ => format!("{finished} of {points} points"),
    }
}

/// Deletes a study at once; the message offers to bring it back.
#[component]
fn Delete(id: Uuid, name: String, state: StudyState, studies: Studies) -> impl IntoView {
    let toasts = toasts();
    let label = format!("Delete {name}");
    // A running study is stopped first, on its own page, where its cost is seen.
    let busy = matches!(
        state,
        StudyState::Running | StudyState::Queued | StudyState::Waiting
    );
    let delete = move |_| {
        let name = name.clone();
        leptos::task::spawn_local(async move {
            match api::delete_study(id).await {
                Ok(()) => toasts.say_with_undo(format!("Deleted “{name}”"), move || {
                    bring_back(id, studies)
                }),
                Err(error) => toasts.say(format!("Could not delete “{name}”: {error}")),
            }
            studies.refetch();
        });
    };
    view! {
        <button type="button" class="button compact quiet" aria-label=label disabled=busy title=busy.then_some("Stop it first") on:click=delete>
            "Delete"
        </button>
    }
    .erased()
}

fn bring_back(id: Uuid, studies: Studies) {
    leptos::task::spawn_local(async move {
        if let Err(error) = api::undelete_study(id).await {
            leptos::logging::warn!("could not bring the study back: {error}");
        }
        studies.refetch();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_counted_in_words() {
        for (finished, points, expected) in [
            (0, 16, "0 of 16 points"),
            (16, 16, "16 points"),
            (1, 1, "1 point"),
            (0, 1, "0 of 1 points"),
        ] {
            assert_eq!(points_words(finished, points), expected);
        }
    }
}
