//! Each start of the study's engines, drawn by the server; read again while the study goes on.

use crate::ui::erased::Erase;
use crate::ui::reactive::memo;
use leptos::prelude::*;

use super::Page;
use crate::api::draw_starts;
use crate::reading::Reading;
use crate::studio::{PointState, StudyView};

/// The panel, where the studio started an engine and its owner looks.
#[component]
pub fn Starts(page: Page) -> impl IntoView {
    let managed = page.known.with_untracked(StudyView::is_managed);
    if !managed || !page.is_owner() {
        return ().erased();
    }
    let id = super::controls::id(page);
    // A start is known at the latest when a point has begun, has ended or has failed.
    let moved = memo(move || {
        page.known.with(|study| {
            let begun = |state: PointState| {
                study
                    .points
                    .iter()
                    .filter(move |it| it.state == state)
                    .count()
            };
            let told = study
                .configurations
                .iter()
                .filter(|it| !it.facts.is_empty());
            (
                study.state,
                begun(PointState::Planned),
                begun(PointState::Failed),
                told.count(),
            )
        })
    });
    Reading::new(move || (id, moved.get()), |(id, _)| draw_starts(id)).part(|drawn: String| {
        view! { <section class="stack tight" aria-labelledby="starts-heading" hidden=drawn.is_empty() inner_html=drawn></section> }
            .erased()
    })
}
