//! Every address of the studio, and the layers in front of them.

use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRef, MatchedPath, Request};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::{get, post};
use leptos::config::LeptosOptions;
use tokio_util::sync::CancellationToken;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::trace::TraceLayer;

use crate::assets::{self, Site};
use crate::auth::{self, Access, login};
use crate::config::Config;
use crate::error::ApiError;
use crate::guard::limit::Limit;
use crate::guard::{self, Guard, headers};
use crate::studio::LocalStudio;
use crate::{api, pages, preview, shared};

/// Largest body but for data sets: a study of 500 points fits many times.
const MAX_BODY: usize = 1024 * 1024;

/// What handlers share. Cheap to clone.
#[derive(Clone)]
pub struct Edge {
    /// The studio behind the edge.
    pub studio: Arc<LocalStudio>,
    /// Script, style and WASM.
    pub site: Arc<Site>,
    /// Who may use it.
    pub access: Arc<Access>,
    /// Whose requests are answered at all.
    pub guard: Arc<Guard>,
    /// Tries to sign in.
    pub sign_ins: Arc<Limit>,
    /// Looks at shared links.
    pub share_visits: Arc<Limit>,
    /// Cancelled at shutdown: live streams end, so that nothing waits for them.
    pub stop: CancellationToken,
    leptos: LeptosOptions,
}

impl Edge {
    /// The edge of a studio.
    pub fn new(studio: Arc<LocalStudio>, site: Site, access: Access, config: &Config) -> Self {
        Self {
            studio,
            site: Arc::new(site),
            access: Arc::new(access),
            guard: Arc::new(Guard::new(config)),
            sign_ins: Arc::new(Limit::new(10, 0.2)),
            share_visits: Arc::new(Limit::new(200, 20.0)),
            stop: CancellationToken::new(),
            leptos: LeptosOptions::builder().output_name("frontend").build(),
        }
    }
}

impl FromRef<Edge> for LeptosOptions {
    fn from_ref(edge: &Edge) -> Self {
        edge.leptos.clone()
    }
}

/// The whole studio as one router.
pub fn router(edge: Edge) -> Router {
    let bounded = Router::new()
        .route("/login", get(login::form).post(login::sign_in))
        .route("/assets/{*file}", get(assets::asset))
        .route("/engines", get(pages::engines))
        .route("/docs", get(pages::docs::index))
        .route("/docs/terms.json", get(pages::docs::words))
        .route("/docs/{*path}", get(pages::docs::document))
        .route("/studies/{id}/history", get(pages::history))
        .route("/studies/{id}/why", get(pages::why))
        .route("/studies/{id}/map", get(pages::iso::map))
        .route("/studies/{id}/engine", get(pages::iso::engine))
        .route("/studies/{id}/share", get(pages::sharing::of_study))
        .route("/studies/{id}/curve.svg", get(pages::curve::svg))
        .route("/studies/{id}/curve.png", get(pages::curve::png))
        .route("/studies/{id}/curve.csv", get(pages::curve::csv))
        .route("/compare", get(pages::compare::page))
        .route("/compare/share", get(pages::sharing::of_comparison))
        .route("/compare/export.svg", get(pages::compare::svg))
        .route("/compare/export.png", get(pages::compare::png))
        .route("/compare/export.csv", get(pages::compare::csv))
        .merge(of_points())
        .route("/alive", get(alive))
        .route("/favicon.ico", get(assets::favicon))
        .route("/", get(pages::start::page))
        .route("/list", get(pages::start::list))
        .route("/exercise", post(pages::start::exercise))
        .route("/studies/{id}/delete", post(pages::start::delete))
        .route("/studies/{id}/undelete", post(pages::start::undelete))
        .route(
            "/examples/{name}",
            get(api::bundles::look).post(api::bundles::visit),
        )
        .merge(of_links(&edge))
        .merge(api::router())
        .merge(pages::router(&edge))
        .layer(RequestBodyLimitLayer::new(MAX_BODY))
        .layer(from_fn(refuse_large));
    bounded
        .merge(api::uploads())
        .layer(from_fn_with_state(edge.clone(), auth::require))
        .layer(from_fn_with_state(edge.clone(), pages::readers::answer))
        .layer(from_fn_with_state(edge.clone(), guard::guard))
        .layer(from_fn(headers::secure))
        .layer(TraceLayer::new_for_http().make_span_with(span))
        .with_state(edge)
}

/// What whoever has a link reaches: nobody may try many.
fn of_links(edge: &Edge) -> Router<Edge> {
    Router::new()
        .route("/s/{token}/preview.png", get(preview::png))
        .route("/s/{token}/curve.png", get(preview::png))
        .route("/s/{token}/curve.svg", get(pages::curve::shared_svg))
        .route("/s/{token}/curve.csv", get(pages::curve::shared_csv))
        .route("/s/{token}/compare", get(pages::compare::shared))
        .route(
            "/s/{token}/compare/export.svg",
            get(pages::compare::shared_svg),
        )
        .route(
            "/s/{token}/compare/export.png",
            get(pages::compare::shared_png),
        )
        .route(
            "/s/{token}/compare/export.csv",
            get(pages::compare::shared_csv),
        )
        .route("/embed/{token}", get(pages::embed::embed))
        .route("/s/{token}/scores", get(shared::study_scores))
        .route("/s/{token}/map", get(pages::iso::shared))
        .route("/s/{token}/points/{point}/scores", get(shared::scores))
        .route_layer(from_fn_with_state(edge.clone(), pages::limit_visits))
}

/// A point's page, what its script asks for, and each of its requests.
fn of_points() -> Router<Edge> {
    const POINT: &str = "/studies/{id}/points/{point}";
    let below = |path: &str| format!("{POINT}/{path}");
    Router::new()
        .route(POINT, get(pages::point::page))
        .route(&below("requests"), get(pages::point::requests))
        .route(&below("requests/rows"), get(pages::point::some_rows))
        .route(&below("requests/{number}"), get(pages::point::one))
}

/// Whether the studio is there, for pages that lost it.
async fn alive() -> StatusCode {
    StatusCode::NO_CONTENT
}

/// A body that says that it is too large is refused before it is read, in words.
async fn refuse_large(request: Request, next: Next) -> Response {
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|bytes| (MAX_BODY as u64) < bytes) {
        return guard::refuse(request.uri().path(), ApiError::too_large());
    }
    next.run(request).await
}

/// The route, never the address: tokens stand in addresses.
fn span(request: &Request) -> tracing::Span {
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or("", MatchedPath::as_str);
    tracing::debug_span!("request", method = %request.method(), route)
}
