//! The first line, in words.

use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::memo;
use leptos::prelude::*;

use super::Page;
use crate::words;

/// The answer.
#[component]
pub fn Answer(page: Page) -> impl IntoView {
    let sentences = memo(move || page.shown.with(words::answer));
    let second = memo(move || page.shown.with(words::by_percentile));
    let tried = move || page.state.with(|state| state.slo.is_some());
    view! {
        <div class="answer" role="status">
            <p hidden=move || !tried()>
                <strong>"Tried, not the study's own SLO: "</strong>
                {shared(move || page.slo.get().to_string())}
            </p>
            {shared(move || sentences.get().into_iter().map(|sentence| view! { <p>{sentence}</p> }).collect_view().erased())}
            <p class="muted second" hidden=move || second.with(Option::is_none)>{shared(move || second.get())}</p>
        </div>
    }
    .erased()
}
