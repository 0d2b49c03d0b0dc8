//! Why, beside the curve: drawn by the server once the page stands and the study has ended. While it measures, nothing is worked out that
//! would take the client's processor.

use crate::ui::erased::Erase;
use leptos::prelude::*;

use super::Page;
use super::starts::progress;
use crate::api::{WHY, get_part};

/// The panel, for the study's owner.
#[component]
pub fn Why(page: Page) -> impl IntoView {
    let drawn = RwSignal::new(String::new());
    let owner = page.is_owner();
    Effect::new(move |before: Option<(usize, bool)>| {
        let now = page.known.with(progress);
        if owner && !now.1 && before != Some(now) {
            let id = page.known.with_untracked(|study| study.id);
            leptos::task::spawn_local(async move {
                // The page stands without it.
                if let Ok(panel) = get_part(id, vec![WHY.into()]).await {
                    drawn.set(panel);
                }
            });
        }
        now
    });
    view! { <section aria-label="Why" hidden=move || drawn.with(String::is_empty) inner_html=move || drawn.get()></section> }
        .erased()
}
