//! What the words mean, and how things are done: the documents as pages, and the glossary's terms for pages that explain them in place.

use app::drawn::docs::{self, Entry, Page};
use app::drawn::document::{self, Drawn};
use app::ui::html::Html;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::{drawn, sorry};
use crate::docs::{all, find, terms};
use crate::routes::Edge;
use crate::studio::missing;

/// All documents, in reading order.
pub async fn index(State(edge): State<Edge>) -> Response {
    let entry = |it: &'static crate::docs::Document| Entry {
        path: it.path,
        title: &it.title,
        about: &it.about,
    };
    let entries: Vec<Entry<'_>> = all().iter().map(entry).collect();
    answer(&edge, "Documents", docs::index(&entries))
}

/// One document.
pub async fn document(State(edge): State<Edge>, Path(path): Path<String>) -> Response {
    let Some(found) = find(&path) else {
        return sorry(&edge, &missing("document"));
    };
    let page = Page {
        title: &found.title,
        parts: &found.parts,
        body: Html::rendered(found.html.clone()),
    };
    answer(&edge, &found.title, docs::page(&page))
}

fn answer(edge: &Edge, title: &str, body: Html) -> Response {
    let page = Drawn {
        title: title.to_owned(),
        is_engines: false,
        body,
    };
    drawn(|nonce| document::document(&page, edge.site.assets(), nonce))
}

/// The glossary's terms by their anchors: word and meaning. Asked for once by pages that explain them where they stand.
pub async fn words() -> Response {
    let kept = [(header::CACHE_CONTROL, "public, max-age=300")];
    (kept, Json(terms())).into_response()
}
