//! Which page stands at which address. The server knows them all; in the browser each part of the frontend knows its own, and
//! goes to those of the other part as to any other site: by loading them.

use leptos::prelude::*;
use leptos_router::components::{FlatRoutes, Route};
use leptos_router::{SsrMode, path};

#[cfg(all(feature = "hydrate", not(feature = "new-study")))]
use self::Elsewhere as BeginPage;
#[cfg(any(not(feature = "hydrate"), feature = "new-study"))]
use crate::pages::NewStudyPage as BeginPage;
#[cfg(not(feature = "new-study"))]
use crate::pages::{NotFoundPage, SharePage, StudyPage};
use crate::ui::erased::Erase;

/// The address of the page that begins a study.
#[cfg(feature = "ssr")]
const NEW_STUDY: &str = "/studies/new";

/// Whether the page that the server draws is that of the part that begins a study.
#[cfg(feature = "ssr")]
pub fn begins_a_study() -> bool {
    use leptos_router::location::RequestUrl;
    let asked = use_context::<RequestUrl>().and_then(|url| url.parse().ok());
    asked.is_some_and(|url| url.path() == NEW_STUDY)
}

/// The route's page.
#[component]
#[cfg(not(feature = "new-study"))]
pub fn Screens() -> impl IntoView {
    view! {
        <FlatRoutes fallback=NotFoundPage>
            <Route path=path!("/studies/new") view=BeginPage ssr=SsrMode::Async />
            <Route path=path!("/studies/:id") view=StudyPage ssr=SsrMode::Async />
            <Route path=path!("/studies/:id/points/:point") view=Elsewhere />
            <Route path=path!("/compare") view=Elsewhere />
            <Route path=path!("/s/:token") view=SharePage ssr=SsrMode::Async />
        </FlatRoutes>
    }
}

/// The page that begins a study; whatever else is asked for is loaded.
#[component]
#[cfg(feature = "new-study")]
pub fn Screens() -> impl IntoView {
    view! {
        <FlatRoutes fallback=Elsewhere>
            <Route path=path!("/studies/new") view=BeginPage ssr=SsrMode::Async />
        </FlatRoutes>
    }
}

/// A page of the other part, or one that the server draws whole: loaded.
#[component]
fn Elsewhere() -> impl IntoView {
    let url = leptos_router::hooks::use_url();
    crate::ui::reactive::effect(move || {
        let address = url.with(|url| format!("{}{}", url.path(), search(url.search())));
        // It fails only for an address that cannot be read, and this one was.
        let _ = window().location().assign(&address);
    });
    view! { <p class="page muted">"Loading…"</p> }.erased()
}

fn search(search: &str) -> String {
    match search {
        "" => String::new(),
        search => format!("?{search}"),
    }
}

/// The way home, to a page that the server draws whole.
#[component]
pub fn Brand() -> impl IntoView {
    view! { <a href="/" rel="external" class="brand">"Goodput Studio"</a> }.erased()
}

/// The ways within the studio. Whoever has a link is shown one study, so there are none.
#[component]
pub fn Nav() -> impl IntoView {
    let url = leptos_router::hooks::use_url();
    let guest = url.with_untracked(|url| url.path().starts_with("/s/"));
    view! {
        <nav aria-label="Studio" hidden=guest>
            {(!guest).then(|| view! { <a href="/engines" rel="external">"Engines"</a> <a href="/docs" rel="external">"Docs"</a> })}
        </nav>
    }
    .erased()
}
