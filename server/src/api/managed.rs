//! Engines that the studio starts itself: their knobs, each start, and what they said.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use load::catalogue::{Catalogue, catalogue, catalogues};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::body::Path;
use super::schema;
use crate::auth::Who;
use crate::error::{ApiError, ApiResult, Problem};
use crate::routes::Edge;
use crate::store::StoredStart;

/// A list of knobs, without them.
#[derive(Debug, Serialize, ToSchema)]
pub struct CatalogueRow {
    /// By which it is named: `vllm`.
    engine: &'static str,
    /// As people write it.
    title: &'static str,
    /// Of the list; it rises with every change.
    version: u32,
    /// The engine's version that it was checked against; `null` where it never was.
    checked: Option<&'static str>,
    /// How many knobs it has.
    knobs: usize,
}

/// An engine that was started for a study.
#[derive(Debug, Serialize, ToSchema)]
pub struct EngineStart {
    /// For its log.
    id: Uuid,
    /// Index of the configuration.
    configuration: i64,
    /// What was run, argument by argument; keys are left out.
    command: Vec<String>,
    started_ms: i64,
    /// From the start to the first token; `null` where none came.
    startup_ms: Option<i64>,
    /// `null` as long as it runs.
    ended_ms: Option<i64>,
    /// How it ended.
    ending: Option<String>,
}

impl From<StoredStart> for EngineStart {
    fn from(start: StoredStart) -> Self {
        let StoredStart {
            id,
            configuration,
            command,
            started_ms,
            startup_ms,
            ended_ms,
            ending,
        } = start;
        Self {
            id,
            configuration,
            command: command.split('\n').map(str::to_owned).collect(),
            started_ms,
            startup_ms,
            ended_ms,
            ending,
        }
    }
}

/// Engines whose knobs are known.
#[utoipa::path(get, path = "/api/v1/catalogue", operation_id = "list_catalogues", tag = "engines", responses((status = 200, body = Vec<CatalogueRow>)))]
pub async fn list(Who(_): Who) -> Json<Vec<CatalogueRow>> {
    let row = |it: &'static Catalogue| CatalogueRow {
        engine: &it.engine,
        title: &it.title,
        version: it.version,
        checked: it.checked.as_deref(),
        knobs: it.knobs.len(),
    };
    Json(catalogues().iter().map(row).collect())
}

/// The knobs of an engine: flag, type, range, default, what each does to the curve.
#[utoipa::path(get, path = "/api/v1/catalogue/{engine}", operation_id = "get_catalogue", tag = "engines", params(("engine" = String, Path)),
    responses((status = 200, body = schema::Catalogue), (status = 404, body = Problem)))]
pub async fn show(Who(_): Who, Path(engine): Path<String>) -> ApiResult<Json<&'static Catalogue>> {
    catalogue(&engine)
        .map(Json)
        .ok_or_else(|| ApiError::NotFound("no such catalogue".into()))
}

/// Every engine that the studio started for a study, oldest first.
#[utoipa::path(get, path = "/api/v1/studies/{id}/starts", operation_id = "list_starts", tag = "studies", params(("id" = Uuid, Path)),
    responses((status = 200, body = Vec<EngineStart>), (status = 404, body = Problem)))]
pub async fn starts(
    State(edge): State<Edge>,
    Who(_): Who,
    Path(id): Path<Uuid>,
) -> ApiResult<Json<Vec<EngineStart>>> {
    let starts = edge.studio.stored_starts(id).await?;
    Ok(Json(starts.into_iter().map(EngineStart::from).collect()))
}

/// The last of what an engine said that the studio started.
#[utoipa::path(get, path = "/api/v1/starts/{id}/log", operation_id = "get_start_log", tag = "studies", params(("id" = Uuid, Path)),
    responses((status = 200, content_type = "text/plain", body = String), (status = 404, body = Problem)))]
pub async fn log(
    State(edge): State<Edge>,
    Who(_): Who,
    Path(id): Path<Uuid>,
) -> ApiResult<Response> {
    let log = edge.studio.start_log(id).await?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], log).into_response())
}
