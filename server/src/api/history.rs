//! A study against earlier runs of the same.

use app::history::HistoryView;
use app::studio::Studio;
use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use super::body::{Path, Query};
use super::schema;
use crate::auth::Who;
use crate::error::{ApiResult, Problem};
use crate::routes::Edge;
use crate::studio::history::read_bar;

/// How much worse is allowed.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct Allow {
    /// Percent by which the study may be worse than its baseline, as `5`; without it, by no more than runs of the same differ.
    allow: String,
    /// Without `allow`: percent by which the study may be worse unseen and still pass; 30 where left out.
    blind: String,
}

/// A study against earlier runs of the same: for each figure at each operating point the series, its baseline, and the verdict.
#[utoipa::path(get, path = "/api/v1/studies/{id}/history", operation_id = "get_history", tag = "studies", params(("id" = Uuid, Path), Allow),
    responses((status = 200, body = schema::HistoryView), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub async fn history(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
    Query(asked): Query<Allow>,
) -> ApiResult<Json<HistoryView>> {
    let bar = read_bar(&asked.allow, &asked.blind)?;
    Ok(Json(edge.studio.history(&actor, id, bar).await?))
}
