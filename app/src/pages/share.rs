//! A study as a link shows it: read only, complete without script, with a title, a description and a picture for
//! whoever passes the link on.

use crate::ui::erased::Erase;
use crate::ui::reactive::memo;
use leptos::prelude::*;
use leptos_meta::{Meta, Title};
use leptos_router::hooks::{use_params_map, use_query_map};

use super::study::{Rights, StudyBody};
use crate::Origin;
use crate::api::get_shared;
use crate::reading::Reading;
use crate::studio::StudyView;
use crate::url_state::ViewState;
use crate::words;

/// A shared study by the token in its URL.
#[component]
pub fn SharePage() -> impl IntoView {
    let params = use_params_map();
    let token = memo(move || {
        params
            .with(|params| params.get("token"))
            .unwrap_or_default()
    });
    let slo = use_query_map().with_untracked(|query| query.get("slo"));
    let study = Reading::new(
        move || token.get(),
        move |token| get_shared(token, slo.clone()),
    );
    study.page("Reading the study…", move |study| {
        view! { <Shared study token=token.get_untracked() /> }.erased()
    })
}

#[component]
fn Shared(study: StudyView, token: String) -> impl IntoView {
    let name = study.spec.name.clone();
    let description = description(&study);
    // Whoever follows the link for a preview needs the whole address; in the browser nobody asks any more.
    let origin = use_context::<Origin>().unwrap_or_default().0;
    let view = use_query_map().with_untracked(|query| ViewState::read(|key| query.get(key)));
    let picture = format!("{origin}/s/{token}/preview.png{}", view.query());
    view! {
        <Title text=name.clone() />
        <Meta name="description" content=description.clone() />
        <Meta name="robots" content="noindex" />
        <Meta property="og:title" content=name />
        <Meta property="og:description" content=description />
        <Meta property="og:type" content="article" />
        <Meta property="og:image" content=picture />
        <Meta name="twitter:card" content="summary_large_image" />
        <StudyBody study rights=Rights::Guest(token) />
    }
    .erased()
}

/// The answer, and that it is simulated where it is.
pub fn description(study: &StudyView) -> String {
    let simulated = if study.is_simulated() {
        "Simulated, not measured on a real engine. "
    } else {
        ""
    };
    format!("{simulated}{}", words::answer(study).join(" "))
}
