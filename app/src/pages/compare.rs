//! The page `compare`.

use leptos::prelude::*;

/// The page.
#[component]
pub fn ComparePage() -> impl IntoView {
    view! { <h1>"compare"</h1> }
}
