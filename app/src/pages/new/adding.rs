//! What becomes of an engine that the dialog added.

use leptos::prelude::*;

use super::add_engine::AddEngine;
use super::form::Form;
use super::shared::Engines;
use crate::studio::EngineRow;
use crate::ui::toast::toasts;

/// The dialog to add an engine; what is added is chosen at once.
#[component]
pub fn AddEngineFor(
    /// The form.
    form: Form,
    /// Engines that were added.
    engines: Engines,
    /// Whether the dialog is open.
    adding: RwSignal<bool>,
) -> impl IntoView {
    let added = Callback::new(move |row: EngineRow| {
        engines.refresh();
        form.draft.update(|draft| {
            // With no engine chosen the study takes the new one; else a variant that waits for one does.
            let waiting = draft
                .configurations
                .iter_mut()
                .find(|it| it.way == "other_endpoint" && it.other.url.is_empty());
            match waiting {
                Some(variant) if !draft.endpoint.url.is_empty() => {
                    variant.other = (&row.endpoint).into()
                }
                _ => draft.endpoint = (&row.endpoint).into(),
            }
        });
        toasts().say(format!("Added {}", row.name));
    });
    view! { <AddEngine open=adding added /> }
}
