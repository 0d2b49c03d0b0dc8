//! The page `share`.

use leptos::prelude::*;

/// The page.
#[component]
pub fn SharePage() -> impl IntoView {
    view! { <h1>"share"</h1> }
}
