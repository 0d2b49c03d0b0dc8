//! Raw data of one measured point. A finished point never changes, so browsers may keep it.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use uuid::Uuid;

use super::body::Path;
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
