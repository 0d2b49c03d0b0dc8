//! HTML: the app's pages, rendered here first.

mod closed; // a document ends where it ends
pub mod compare; // configurations side by side, and what is shown of them as files
pub mod curve; // a study's curve as files
pub mod docs; // what the words mean, and how things are done
pub mod embed; // a shared curve in a frame
pub mod iso; // the iso-goodput map of a point
pub mod point; // one point, and its requests
pub mod readers; // refusals as pages, for whoever reads pages
pub mod sharing; // links to a study
pub mod start; // studies, newest first

use std::sync::Arc;
use std::time::Instant;

use app::drawn::document::{self, Drawn};
use app::drawn::engines;
use app::pages::error_page;
use app::status::status_of;
use app::studio::{Actor, Studio, StudioError};
use app::{App, Assets, DRAWN_WHOLE, Origin, shell};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header, request::Parts};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use axum::{Extension, Router};
use leptos::context::{provide_context, use_context};
use leptos::nonce::use_nonce;
use leptos_axum::{LeptosRoutes, ResponseOptions, generate_route_list_with_exclusions};
use serde::Deserialize;
use uuid::Uuid;

use crate::api::body::{Path, Query};
use crate::auth::Who;
use crate::error::ApiError;
use crate::guard::headers::page_policy;
use crate::guard::{Caller, refuse};
use crate::routes::Edge;
use crate::studio::history::read_bar;
use crate::studio::missing;

/// Pages and server functions; whatever is no address of ours gets the page that says so.
pub fn router(edge: &Edge) -> Router<Edge> {
    let drawn = DRAWN_WHOLE.map(str::to_owned).to_vec();
    let pages = generate_route_list_with_exclusions(App, Some(drawn));
    Router::new()
        .leptos_routes_with_context(edge, pages, context(edge), shell)
        .route_layer(axum::middleware::from_fn(closed::close))
        .route_layer(axum::middleware::from_fn_with_state(
            edge.clone(),
            limit_visits,
        ))
        .fallback(nowhere)
}

/// Which engines there are.
pub async fn engines(State(edge): State<Edge>, _: Who) -> Result<Response, ApiError> {
    let engines = edge.studio.engine_sheets(&Actor::Owner).await?;
    Ok(drawn(|nonce| {
        engines::document(&engines, edge.site.assets(), nonce)
    }))
}

/// A study against earlier runs of the same.
pub async fn history(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(study): Path<String>,
    Query(asked): Query<Allow>,
) -> Response {
    let view = async {
        let study = study.parse().map_err(|_| missing("study"))?;
        let bar = read_bar(&asked.allow, &asked.blind)?;
        edge.studio.history_so_far(&actor, study, bar).await
    };
    match view.await {
        Ok(view) => drawn(|nonce| {
            let page = Drawn {
                title: format!("History of {}", view.name),
                is_engines: false,
                body: app::history::page(&view),
            };
            document::document(&page, edge.site.assets(), nonce)
        }),
        Err(error) => sorry(&edge, &error),
    }
}

/// How much worse is allowed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Allow {
    allow: String,
    blind: String,
}

/// A page that is drawn whole, with the policy of its one script.
fn drawn(page: impl FnOnce(&str) -> String) -> Response {
    let nonce = uuid::Uuid::now_v7().simple().to_string();
    let policy = [(header::CONTENT_SECURITY_POLICY, page_policy(&nonce))];
    (policy, Html(page(&nonce))).into_response()
}

/// A page in place of one that cannot be shown, with what is wrong and its status.
fn sorry(edge: &Edge, error: &StudioError) -> Response {
    excuse(edge, error, document::document)
}

/// The same for whoever has a link.
fn sorry_guest(edge: &Edge, error: &StudioError) -> Response {
    excuse(edge, error, document::for_guest)
}

fn excuse(
    edge: &Edge,
    error: &StudioError,
    document: fn(&Drawn, &Assets, &str) -> String,
) -> Response {
    let status = StatusCode::from_u16(status_of(error)).unwrap_or(StatusCode::BAD_REQUEST);
    let page = drawn(|nonce| {
        let (title, body) = error_page(error);
        let page = Drawn {
            title: title.to_owned(),
            is_engines: false,
            body,
        };
        document(&page, edge.site.assets(), nonce)
    });
    (status, page).into_response()
}

/// Why a study's configurations are slow: the panel beside its curve. 202 while it measures.
pub async fn why(
    State(edge): State<Edge>,
    _: Who,
    Path(study): Path<Uuid>,
) -> Result<Response, ApiError> {
    let panel = edge.studio.why_panel(study).await?;
    let fresh = [(header::CACHE_CONTROL, "no-store")];
    Ok(match panel {
        Some(panel) => (fresh, Html(panel)).into_response(),
        None => (StatusCode::ACCEPTED, fresh).into_response(),
    })
}

/// What pages and server functions find in their context.
fn context(edge: &Edge) -> impl Fn() + Clone + Send + Sync + 'static + use<> {
    let studio: Arc<dyn Studio> = edge.studio.clone();
    let assets = edge.site.assets().clone();
    move || {
        provide_context(studio.clone());
        provide_context(assets.clone());
        if let Some(caller) =
            use_context::<Parts>().and_then(|parts| parts.extensions.get::<Caller>().cloned())
        {
            provide_context(Origin(caller.origin()));
        }
        // The nonce is made anew for each page; its policy must name the same one.
        let (nonce, response) = (use_nonce(), use_context::<ResponseOptions>());
        if let (Some(nonce), Some(response)) = (nonce, response)
            && let Ok(policy) = page_policy(&nonce).parse()
        {
            response.insert_header(header::CONTENT_SECURITY_POLICY, policy);
        }
    }
}

/// An address that is none: JSON for programs, a page for people.
async fn nowhere(State(edge): State<Edge>, request: Request<Body>) -> Response {
    let path = request.uri().path();
    let is_program = path.starts_with("/api/") || path.starts_with("/fn/");
    if is_program || !matches!(*request.method(), Method::GET | Method::HEAD) {
        return ApiError::NotFound(format!("no such address: {} {path}", request.method()))
            .into_response();
    }
    sorry(
        &edge,
        &StudioError::NotFound {
            what: "page".into(),
        },
    )
}

/// The middleware in front of shared links: nobody may try many.
pub async fn limit_visits(
    State(edge): State<Edge>,
    caller: Option<Extension<Caller>>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path();
    let is_shared = path.starts_with("/s/") || path.starts_with("/embed/");
    if is_shared || path == "/fn/shared" {
        let caller = caller.map(|Extension(caller)| caller.address);
        if let Some(Err(seconds)) =
            caller.map(|address| edge.share_visits.take(address, Instant::now()))
        {
            return refuse(path, ApiError::TooMany(seconds));
        }
    }
    next.run(request).await
}
