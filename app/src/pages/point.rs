//! The page `point`.

use leptos::prelude::*;

/// The page.
#[component]
pub fn PointPage() -> impl IntoView {
    view! { <h1>"point"</h1> }
}
