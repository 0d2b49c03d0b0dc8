//! Raw data behind a shared link: latencies without text, for the chart that people can drag.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use uuid::Uuid;

use crate::api::body::{Path, Query};
use crate::api::points::After;
use crate::error::ApiResult;
use crate::routes::Edge;

/// `GET /s/{token}/scores`
pub async fn study_scores(
    State(edge): State<Edge>,
    Path(token): Path<String>,
    Query(After { after }): Query<After>,
) -> ApiResult<Response> {
    let scores = edge.studio.shared_study_scores(&token, after).await?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], scores).into_response())
}

/// `GET /s/{token}/points/{point}/scores`
pub async fn scores(
    State(edge): State<Edge>,
    Path((token, point)): Path<(String, Uuid)>,
) -> ApiResult<Response> {
    let scores = edge.studio.shared_scores(&token, point).await?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], scores).into_response())
}
