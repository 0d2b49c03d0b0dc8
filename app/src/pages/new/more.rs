//! What rarely needs a thought: warm-up, seed, repeats, limits.

use crate::ui::erased::Erase;
use crate::ui::reactive::derived;
use leptos::prelude::*;

use super::drawn::Drawn;
use super::form::Form;
use super::section::Section;

/// The section.
#[component]
pub fn MoreSection(
    /// The form.
    form: Form,
) -> impl IntoView {
    let draft = form.draft;
    let value = move || {
        draft.with(|it| {
            format!(
                "{} warm-up requests, seed {}, each rate measured {}",
                it.warmup.trim(),
                it.seed.trim(),
                times(&it.repeats)
            )
        })
    };
    view! {
        <Section form id="more" title="Details" value=derived(value)>
            <Drawn form html=form.drawn("more", "") />
        </Section>
    }
    .erased()
}

fn times(repeats: &str) -> String {
    match repeats.trim() {
        "1" => "once".into(),
        "2" => "twice".into(),
        other => format!("{other} times"),
    }
}
