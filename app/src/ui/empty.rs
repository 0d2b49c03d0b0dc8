//! What stands where there is nothing yet: what it is for, and the first step.

use crate::ui::erased::Erase;
use leptos::prelude::*;

/// An empty state.
#[component]
pub fn Empty(
    /// Its heading.
    #[prop(into)]
    title: String,
    /// A picture beside the words.
    #[prop(optional, into)]
    picture: ViewFn,
    /// What it is for, and the first step.
    children: Children,
) -> impl IntoView {
    view! {
        <section class="empty">
            <div class="words">
                <h2>{title}</h2>
                {children()}
            </div>
            {picture.run()}
        </section>
    }
    .erased()
}

/// A sentence that deserves to be read.
#[component]
pub fn Notice(
    /// How much it matters.
    #[prop(optional)]
    tone: super::badge::Tone,
    /// The sentence.
    children: Children,
) -> impl IntoView {
    view! {
        <p class="notice" data-tone=tone.name()>
            {children()}
        </p>
    }
    .erased()
}
