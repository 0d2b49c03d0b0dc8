//! The place of the iso-goodput map. The server draws the map into the page; the page's script asks for another, and marks the SLO that is tried.

use crate::ui::erased::Erase;
use leptos::prelude::*;

use super::Page;
use crate::studio::StudyView;
use crate::ui::reactive::memo;

/// Points that a map could be of.
fn count(study: &StudyView) -> usize {
    study
        .points
        .iter()
        .filter(|it| it.summary.is_some())
        .count()
}

/// The section. What is chosen in it goes into the address.
#[component]
pub fn IsoMap(
    /// The page.
    page: Page,
    /// The map as it is when the page is made; empty where it is asked for later.
    map: String,
) -> impl IntoView {
    let choose = move |event| {
        let place = event_target_value(&event).parse().ok();
        page.state.update(|state| state.map = place);
    };
    // The script asks again when there is one more.
    let measured = memo(move || page.known.with(count));
    let fixed = page.known.with_untracked(|study| study.aggregates_only);
    view! {
        <section class="card chart iso" aria-labelledby="iso-heading" hidden=fixed data-slo=move || page.slo.get().to_string() data-points=move || measured.get().to_string() on:change=choose>
            <h2 id="iso-heading">"Iso-goodput map"</h2>
            <div class="iso-body" inner_html=map></div>
        </section>
    }
    .erased()
}
