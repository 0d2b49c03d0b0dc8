//! Raw data of one measured point. A finished point never changes, so browsers may keep it.

use app::diagnosis::DiagnosisView;
use app::studio::Studio;
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use measure::evidence::Evidence;
use measure::rules::Table;
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use super::body::{Path, Query};
use super::schema;
use crate::auth::Who;
use crate::error::{ApiResult, Problem};
use crate::routes::Edge;

const KEEP: (header::HeaderName, &str) = (
    header::CACHE_CONTROL,
    "private, max-age=31536000, immutable",
);

/// Latencies of each request: a versioned block of little-endian columns.
#[utoipa::path(get, path = "/api/v1/points/{id}/scores", operation_id = "get_scores", tag = "points", params(("id" = Uuid, Path)),
    responses((status = 200, content_type = "application/octet-stream", body = Vec<u8>), (status = 404, body = Problem)))]
pub async fn scores(
    State(edge): State<Edge>,
    Who(_): Who,
    Path(id): Path<Uuid>,
) -> ApiResult<Response> {
    let scores = edge.studio.scores(id).await?;
    Ok((
        [(header::CONTENT_TYPE, "application/octet-stream"), KEEP],
        scores,
    )
        .into_response())
}

/// End a point under load now and go on with the next. What it recorded is kept, it counts in no figure, and it is never measured again; the
/// search of a sweep that finds the ceiling ends with it. Asking twice skips one point.
#[utoipa::path(post, path = "/api/v1/points/{id}/skip", operation_id = "skip_point", tag = "points", params(("id" = Uuid, Path)),
    responses((status = 202), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub async fn skip(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
) -> ApiResult<StatusCode> {
    edge.studio.skip(&actor, id).await?;
    Ok(StatusCode::ACCEPTED)
}

/// Behind which point.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct After {
    /// The last point of the answer before; from the first point where it is left out.
    pub after: Option<Uuid>,
}

/// Latencies of each request of a study's points, as many points as fit an answer: for each its id (16 bytes, big-endian), the
/// length of its block (u32, little-endian) and the block, as of one point. An empty body says that there are no more.
#[utoipa::path(get, path = "/api/v1/studies/{id}/scores", operation_id = "get_study_scores", tag = "points", params(("id" = Uuid, Path), After),
    responses((status = 200, content_type = "application/octet-stream", body = Vec<u8>)))]
pub async fn study_scores(
    State(edge): State<Edge>,
    Who(_): Who,
    Path(id): Path<Uuid>,
    Query(After { after }): Query<After>,
) -> ApiResult<Response> {
    let scores = edge.studio.study_scores(id, after).await?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], scores).into_response())
}

/// Every record of the point, one row a request.
#[utoipa::path(get, path = "/api/v1/points/{id}/records.parquet", operation_id = "get_records", tag = "points", params(("id" = Uuid, Path)),
    responses((status = 200, content_type = "application/vnd.apache.parquet", body = Vec<u8>), (status = 404, body = Problem)))]
pub async fn records(
    State(edge): State<Edge>,
    Who(_): Who,
    Path(id): Path<Uuid>,
) -> ApiResult<Response> {
    let records = edge.studio.records_parquet(id).await?;
    let name = format!("attachment; filename=\"point-{id}.parquet\"");
    let kind = (header::CONTENT_TYPE, "application/vnd.apache.parquet");
    Ok(([kind, KEEP], [(header::CONTENT_DISPOSITION, name)], records).into_response())
}

/// What was seen beside the point's requests: the engine's own metrics over time, GPUs, the host, and what follows from it.
#[utoipa::path(get, path = "/api/v1/points/{id}/evidence", operation_id = "get_evidence", tag = "points", params(("id" = Uuid, Path)),
    responses((status = 200, body = schema::Evidence), (status = 404, body = Problem)))]
pub async fn evidence(
    State(edge): State<Edge>,
    Who(_): Who,
    Path(id): Path<Uuid>,
) -> ApiResult<([(header::HeaderName, &'static str); 1], Json<Evidence>)> {
    let evidence = edge.studio.evidence_of(id).await?;
    Ok(([KEEP], Json(evidence)))
}

/// The text of the engine's metrics pages while the point ran, one after the other, compressed with Zstandard.
#[utoipa::path(get, path = "/api/v1/points/{id}/metrics", operation_id = "get_metrics", tag = "points", params(("id" = Uuid, Path)),
    responses((status = 200, content_type = "application/zstd", body = Vec<u8>), (status = 404, body = Problem)))]
pub async fn metrics(
    State(edge): State<Edge>,
    Who(_): Who,
    Path(id): Path<Uuid>,
) -> ApiResult<Response> {
    let pages = edge.studio.metrics_text(id).await?;
    let name = format!("attachment; filename=\"point-{id}.metrics.txt.zst\"");
    let kind = (header::CONTENT_TYPE, "application/zstd");
    Ok(([kind, KEEP], [(header::CONTENT_DISPOSITION, name)], pages).into_response())
}

/// The point by the rules of other tools: what each would have said of these requests, beside what the studio says, and why they differ.
#[utoipa::path(get, path = "/api/v1/points/{id}/rules", operation_id = "get_rules", tag = "points", params(("id" = Uuid, Path)),
    responses((status = 200, body = Vec<schema::RulesTable>), (status = 404, body = Problem)))]
pub async fn rules(
    State(edge): State<Edge>,
    Who(_): Who,
    Path(id): Path<Uuid>,
) -> ApiResult<Json<Vec<Table>>> {
    Ok(Json(edge.studio.rules_of(id).await?))
}

/// Why the point is slow, as far as its own figures tell: the answer, every cause with what speaks for and against it and what was not told, and the
/// first knob with this engine's flag and a prediction. Worked out when it is asked for.
#[utoipa::path(get, path = "/api/v1/points/{id}/diagnosis", operation_id = "get_diagnosis", tag = "points", params(("id" = Uuid, Path)),
    responses((status = 200, body = schema::Diagnosis), (status = 404, body = Problem)))]
pub async fn diagnosis(
    State(edge): State<Edge>,
    Who(_): Who,
    Path(id): Path<Uuid>,
) -> ApiResult<Json<DiagnosisView>> {
    Ok(Json(edge.studio.diagnosis_of(id).await?))
}
