//! The page `new`.

use leptos::prelude::*;

/// The page.
#[component]
pub fn NewStudyPage() -> impl IntoView {
    view! { <h1>"new"</h1> }
}
