//! Which engines there are, how the studio starts them, and who may. Drawn by the server: there is nothing to press.

use crate::ui::erased::Erase;
use leptos::prelude::*;
use leptos_meta::Title;

use crate::api::draw_engines;
use crate::reading::Reading;

/// The page.
#[component]
pub fn EnginesPage() -> impl IntoView {
    Reading::new(|| (), |()| draw_engines()).page("Reading the engines…", |drawn: String| {
        view! {
            <Title text="Engines" />
            <article class="page narrow" inner_html=drawn></article>
        }
        .erased()
    })
}
