//! The page `study`.

use leptos::prelude::*;

/// The page.
#[component]
pub fn StudyPage() -> impl IntoView {
    view! { <h1>"study"</h1> }
}
