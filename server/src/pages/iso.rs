//! What stands beside a study's curves for one of its points: what the engine showed, and the iso-goodput map, for its owner, and for whoever has a link that shows times of requests.

use app::drawn::iso;
use app::studio::{Studio, StudyView};
use app::url_state::ViewState;
use axum::extract::{Query, RawQuery, State};
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use measure::score;
use serde::Deserialize;
use uuid::Uuid;

use super::curve::view_of;
use crate::api::body::Path;
use crate::auth::Who;
use crate::error::ApiResult;
use crate::routes::Edge;
use crate::studio::internal;

/// `GET /studies/{id}/map`
pub async fn map(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
    RawQuery(query): RawQuery,
) -> ApiResult<Response> {
    let study = edge.studio.study(&actor, id).await?;
    let state = view_of(query).0;
    let Some((place, point)) = iso::chosen(&study, state.map) else {
        return Ok(none("No point has finished yet."));
    };
    let scores = edge.studio.scores(point.id).await?;
    drawn(study, place, scores, state).await
}

/// Which point is marked.
#[derive(Debug, Deserialize)]
pub struct Marked {
    point: Uuid,
}

/// `GET /studies/{id}/engine`: what the engine showed at a point.
pub async fn engine(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
    Query(marked): Query<Marked>,
) -> ApiResult<Response> {
    let study = edge.studio.study(&actor, id).await?;
    Ok(answer(edge.studio.engine_seen(&study, marked.point).await?))
}

/// `GET /s/{token}/map`
pub async fn shared(
    State(edge): State<Edge>,
    Path(token): Path<String>,
    RawQuery(query): RawQuery,
) -> ApiResult<Response> {
    let study = edge.studio.shared(&token).await?;
    let state = view_of(query).0;
    if study.aggregates_only {
        return Ok(none(
            "This link shows the figures of points, not of each request: there is no map.",
        ));
    }
    let Some((place, point)) = iso::chosen(&study, state.map) else {
        return Ok(none("No point has finished yet."));
    };
    let scores = edge.studio.shared_scores(&token, point.id).await?;
    drawn(study, place, scores, state).await
}

fn none(why: &str) -> Response {
    answer(iso::nothing(why).into_string())
}

fn answer(html: String) -> Response {
    ([(header::CACHE_CONTROL, "no-store")], Html(html)).into_response()
}

async fn drawn(
    study: StudyView,
    place: usize,
    scores: Vec<u8>,
    state: ViewState,
) -> ApiResult<Response> {
    let scores = score::decode(&scores).map_err(internal)?;
    let html = tokio::task::spawn_blocking(move || {
        let slo = state.slo.as_ref().unwrap_or(&study.spec.slo);
        iso::map(&study, place, &scores, slo).into_string()
    });
    Ok(answer(html.await.map_err(internal)?))
}
