//! Each start of the study's engines, drawn by the server; read again as the study moves.

use crate::ui::erased::Erase;
use crate::ui::reactive::memo;
use leptos::prelude::*;

use super::Page;
use super::controls::reread;
use crate::studio::{PointState, StudyView};

/// The panel, where the studio started an engine and its owner looks.
#[component]
pub fn Starts(page: Page) -> impl IntoView {
    let drawn = memo(move || page.known.with(|study| study.starts.clone()));
    let managed = page.known.with_untracked(StudyView::is_managed) && page.is_owner();
    Effect::new(move |before: Option<(usize, bool)>| {
        let now = page.known.with(progress);
        if managed && before.is_some_and(|before| before != now) {
            leptos::task::spawn_local(reread(page));
        }
        now
    });
    view! { <section class="stack tight" hidden=move || drawn.with(String::is_empty) inner_html=move || drawn.get()></section> }
        .erased()
}

/// How far the study is: by then an engine may have been started or have ended.
fn progress(study: &StudyView) -> (usize, bool) {
    let open = [PointState::Planned, PointState::Running];
    let open = study.points.iter().filter(|it| open.contains(&it.state));
    (open.count(), crate::live::is_live(study.state))
}
