//! A handful of choices side by side: radio buttons that look like one control.

use crate::ui::erased::Erase;
use leptos::prelude::*;

use super::bind::Bind;

/// A segmented control.
#[component]
pub fn Segmented(
    /// The group's name; unique on the page.
    #[prop(into)]
    name: String,
    /// What the group asks; for screen readers.
    #[prop(into)]
    label: String,
    /// The chosen value.
    bind: Bind<String>,
    /// Value and text of each choice.
    options: Vec<(&'static str, &'static str)>,
) -> impl IntoView {
    let group = name.clone();
    let choice = move |(value, text): (&'static str, &'static str)| {
        view! {
            <label>
                <input
                    type="radio"
                    name=group.clone()
                    value=value
                    checked=bind.get.get_untracked() == value
                    prop:checked=move || bind.get.get() == value
                    on:change=move |_| bind.set.run(value.to_owned())
                />
                {text}
            </label>
        }
    };
    view! {
        <div class="segmented" role="radiogroup" aria-label=label>
            {options.into_iter().map(choice).collect_view()}
        </div>
    }
    .erased()
}
