//! Engines: probe, add, forget.

use app::studio::{EngineRow, ProbeReport, ProbeRequest, Studio};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use measure::study::Endpoint;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::body::{self, Path};
use super::schema;
use crate::auth::Who;
use crate::error::{ApiResult, Problem};
use crate::routes::Edge;

/// An engine to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewEngine {
    /// A name of your own; an engine of the same name is replaced.
    name: String,
    /// How it is reached.
    #[schema(value_type = schema::Endpoint)]
    endpoint: Endpoint,
}

/// Say what is behind a URL: engine, version, models.
#[utoipa::path(post, path = "/api/v1/probe", operation_id = "probe_engine", tag = "engines", request_body = schema::ProbeRequest,
    responses((status = 200, body = schema::ProbeReport), (status = 422, body = Problem),
        (status = 502, body = Problem, description = "The engine did not answer, or not as an engine does.")))]
pub async fn probe(
    State(edge): State<Edge>,
    Who(actor): Who,
    body::Json(request): body::Json<ProbeRequest>,
) -> ApiResult<Json<ProbeReport>> {
    Ok(Json(edge.studio.probe(&actor, request).await?))
}

/// Names of the secrets that the studio keeps. Their values are never told.
#[utoipa::path(get, path = "/api/v1/secrets", operation_id = "list_secrets", tag = "engines", responses((status = 200, body = Vec<String>)))]
pub async fn secrets(State(edge): State<Edge>, Who(actor): Who) -> ApiResult<Json<Vec<String>>> {
    Ok(Json(edge.studio.secrets(&actor).await?))
}

/// Engines that were added, by name.
#[utoipa::path(get, path = "/api/v1/engines", operation_id = "list_engines", tag = "engines", responses((status = 200, body = Vec<schema::EngineRow>)))]
pub async fn list(State(edge): State<Edge>, Who(actor): Who) -> ApiResult<Json<Vec<EngineRow>>> {
    Ok(Json(edge.studio.engines(&actor).await?))
}

/// Add an engine, or replace the one of that name.
#[utoipa::path(post, path = "/api/v1/engines", operation_id = "save_engine", tag = "engines", request_body = NewEngine,
    responses((status = 201, body = schema::EngineRow), (status = 422, body = Problem)))]
pub async fn save(
    State(edge): State<Edge>,
    Who(actor): Who,
    body::Json(NewEngine { name, endpoint }): body::Json<NewEngine>,
) -> ApiResult<(StatusCode, Json<EngineRow>)> {
    Ok((
        StatusCode::CREATED,
        Json(edge.studio.save_engine(&actor, name, endpoint).await?),
    ))
}

/// Forget an engine. Studies keep what they recorded.
#[utoipa::path(delete, path = "/api/v1/engines/{id}", operation_id = "delete_engine", tag = "engines", params(("id" = Uuid, Path)),
    responses((status = 204), (status = 404, body = Problem)))]
pub async fn delete(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
) -> ApiResult<StatusCode> {
    edge.studio.delete_engine(&actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
