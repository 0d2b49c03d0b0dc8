//! The page `start`.

use leptos::prelude::*;

/// The page.
#[component]
pub fn StartPage() -> impl IntoView {
    view! { <h1>"start"</h1> }
}
