//! One study: the answer in words, the curve, the promise, the points, what was recorded.
//!
//! The owner's page and a shared page show the same body; what a person may do differs ([`Rights`]).

mod answer; // the first line
mod controls; // stop, resume, continue, edit, delete, share
mod declare; // what the engine did not tell
mod facts; // what was recorded, and what speaks against the numbers
mod figure; // the curve with its menus, and the two small charts
mod map; // the iso-goodput map's place
mod points; // the table
mod promise; // the SLO, to be tried out
mod starts; // each start of its engines
mod underway; // a study that runs or waits

use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::{derived, effect, memo, rested};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::{use_params_map, use_query_map};
use measure::slo::Slo;
use std::time::Duration;
use uuid::Uuid;

use crate::api::{get_beside, get_study};
use crate::live::{self, Underway};
use crate::reading::Reading;
use crate::scores::{Scores, rejudge};
use crate::studio::{Beside, StudioError, StudyView};
use crate::ui::badge::{Badge, marks_of, study_word};
use crate::url_state::ViewState;

#[cfg(feature = "ssr")]
pub use facts::{cache_word, fact_words};
pub use figure::main_chart;
pub use promise::{ScoreSource, Tried};

/// Marks one point in every chart, steps from one to the next, and keeps the map up to date. It stands in the page and not in
/// the browser's module.
#[cfg(feature = "ssr")]
pub const SCRIPT: &str = concat!(
    include_str!("study/step.js"),
    include_str!("study/iso.js"),
    include_str!("study/engine.js")
);

/// What a person may do with the study in front of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Everything.
    Owner,
    /// Look, through a link with this token.
    Guest(String),
}

/// What the parts of the page share.
#[derive(Clone, Copy)]
pub struct Page {
    /// The study as the server knows it, live.
    pub known: RwSignal<StudyView>,
    /// The same under the SLO in force: what the page shows.
    pub shown: Memo<StudyView>,
    /// The same once it has stood still for a moment: for what is too much to draw while the SLO's line is dragged.
    pub rested: RwSignal<StudyView>,
    /// The point under load.
    pub underway: RwSignal<Underway>,
    /// What the chart shows; kept in the URL.
    pub state: RwSignal<ViewState>,
    /// The SLO in force.
    pub slo: Memo<Slo>,
    /// What may be done.
    pub rights: StoredValue<Rights>,
    /// Another SLO, tried in the browser.
    pub tried: Tried,
}

impl Page {
    /// Whether the person may change the study.
    pub fn is_owner(&self) -> bool {
        self.rights.with_value(|rights| *rights == Rights::Owner)
    }
}

/// A study by the id in its URL.
#[component]
pub fn StudyPage() -> impl IntoView {
    let id = uuid_param("id");
    let asked: Vec<String> = use_query_map()
        .get_untracked()
        .into_iter()
        .flat_map(|(name, value)| [name.into_owned(), value])
        .collect();
    let study = Reading::new(
        move || id.get(),
        move |id: Option<Uuid>| {
            let asked = asked.clone();
            async move {
                let id = id.ok_or_else(|| StudioError::NotFound {
                    what: "study".into(),
                })?;
                let study = get_study(id).await?;
                // The page stands without it.
                let beside = get_beside(id, asked).await.unwrap_or_default();
                Ok((study, id, beside))
            }
        },
    );
    study.page("Reading the study…", |(study, _, beside)| {
        view! { <StudyBody study rights=Rights::Owner beside /> }.erased()
    })
}

/// An id from the path; `None` where it is no id.
pub fn uuid_param(name: &'static str) -> Memo<Option<Uuid>> {
    let params = use_params_map();
    memo(move || {
        params
            .with(|params| params.get(name))
            .and_then(|id| id.parse().ok())
    })
}

/// The body of the page.
#[component]
pub fn StudyBody(
    /// The study as it was when the page was made.
    study: StudyView,
    /// What may be done with it.
    rights: Rights,
    /// What stands beside its curves and below its points, drawn by the server.
    #[prop(optional)]
    beside: Beside,
) -> impl IntoView {
    let page = page(study, rights);
    let Beside {
        plan,
        told_why,
        why,
        map,
        engine,
    } = beside;
    let owner = page.is_owner();
    keep_in_url(page.state);
    let broken = if owner {
        live::follow(page.known, page.underway)
    } else {
        signal(false).0
    };
    let name = memo(move || page.known.with(|study| study.spec.name.clone()));
    let compared = page.known.with_untracked(|study| study.compared.clone());
    let title = memo(move || page.known.with(underway::title));
    view! {
        <Title text=move || title.get() />
        <article class="page study">
            <Head page name />
            <div class="told" inner_html=told()></div>
            <answer::Answer page />
            <underway::Underway page broken />
            <div class="split">
                <figure::Charts page map engine />
                <aside class="stack">
                    <promise::Promise page />
                    <facts::Doubts page />
                    {owner.then(|| diagnosis(told_why, why))}
                </aside>
            </div>
            <section class="stack" hidden=compared.is_empty() inner_html=compared></section>
            <points::Points page />
            <section inner_html=plan></section>
            <starts::Starts page />
            <facts::Recorded page />
            <declare::Declare page />
            <controls::Note page />
        </article>
    }
    .erased()
}

/// Why its configurations are slow: in the page that the server sent, else behind a line that opens it, so that what is worked out
/// later moves nothing.
fn diagnosis(is_told: bool, why: String) -> AnyView {
    if is_told {
        return view! { <section inner_html=why></section> }.erased();
    }
    view! {
        <details class="card later-why">
            <summary>"Why: what limits each configuration"</summary>
            <section data-later="why">
                <p class="small muted">"Worked out once nothing is measured any more."</p>
            </section>
        </details>
    }
    .erased()
}

/// What stands in the address in vain, as the server tells it.
#[cfg(feature = "ssr")]
fn told() -> String {
    use crate::ui::html::{Html, html};
    let query = use_query_map().get_untracked();
    let told = crate::url_state::told(|key| query.get(key)).into_iter();
    let told = told.map(|it| html!(r#"<p class="notice" data-tone="warn">{}</p>"#, it));
    told.collect::<Html>().into_string()
}

/// In the browser it stands in the page that the server sent.
#[cfg(not(feature = "ssr"))]
fn told() -> String {
    String::new()
}

/// How long nothing must change before curves, small charts and rows are drawn anew.
const MOMENT: Duration = Duration::from_millis(120);

/// The signals of the page and what follows from them.
fn page(study: StudyView, rights: Rights) -> Page {
    let query = use_query_map();
    let state = RwSignal::new(query.with_untracked(|query| ViewState::read(|key| query.get(key))));
    let underway = RwSignal::new(study.underway.clone());
    let known = RwSignal::new(study);
    let slo = memo(move || {
        state
            .with(|state| state.slo.clone())
            .unwrap_or_else(|| known.with(|study| study.spec.slo.clone()))
    });
    let source = match &rights {
        Rights::Owner => ScoreSource::Points,
        Rights::Guest(token) => ScoreSource::Share(token.clone()),
    };
    let tried = Tried::new(known, source);
    let shown = memo(move || {
        let slo = slo.get();
        known.with(|study| {
            if study.spec.slo == slo {
                study.clone()
            } else {
                tried
                    .scores
                    .with(|scores: &Scores| rejudge(study, scores, &slo))
            }
        })
    });
    effect(move || {
        if state.with(|state| state.slo.is_some()) {
            known.track();
            tried.fetch();
        }
    });
    Page {
        known,
        shown,
        rested: rested(shown, MOMENT),
        underway,
        state,
        slo,
        rights: StoredValue::new(rights),
        tried,
    }
}

/// Writes the state into the URL, in place: a view is a link, and a dragged line does not fill the history. Browsers allow a
/// few changes a second, so it is written once the state stands still.
fn keep_in_url(state: RwSignal<ViewState>) {
    let query = rested(memo(move || state.with(ViewState::query)), MOMENT);
    Effect::new(move |before: Option<String>| {
        let query = query.get();
        if before.is_some_and(|before| before != query) {
            let address = window().location().pathname().unwrap_or_default() + &query;
            if let Ok(history) = window().history() {
                // A browser that refuses (too many in a row) still shows the view.
                let _ = history
                    .state()
                    .and_then(|entry| history.replace_state_with_url(&entry, "", Some(&address)));
            }
        }
        query
    });
}

/// Where one is, what state it is in, what can be done.
#[component]
fn Head(page: Page, name: Memo<String>) -> impl IntoView {
    let owner = page.is_owner();
    let marks = page.known.with_untracked(marks_of).into_iter();
    let imported = page.known.with_untracked(|study| study.imported.clone());
    let tags = memo(move || page.known.with(|study| study.tags.clone()));
    let word = derived(move || page.known.with(|study| study_word(study.state)));
    view! {
        <header class="page-head">
            <div class="stack tight">
                {owner
                    .then(|| {
                        view! {
                            <nav class="crumbs" aria-label="Breadcrumb">
                                <a href="/" rel="external">"Studies"</a>
                                <span aria-current="page">{shared(move || name.get())}</span>
                            </nav>
                        }
                    })}
                <h1>{shared(move || name.get())}</h1>
                <div class="row">
                    <Badge word />
                    {marks.map(|word| view! { <Badge word /> }).collect_view()}
                    <span class="row">
                        {shared(move || tags.get().into_iter().map(|tag| view! { <span class="tag">{tag}</span> }).collect_view().erased())}
                    </span>
                </div>
                <p class="small muted" hidden=imported.is_empty()>{imported.clone()}</p>
            </div>
            {owner.then(|| view! { <controls::Actions page /> })}
        </header>
    }
    .erased()
}
