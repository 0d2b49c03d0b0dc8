//! Named SLOs.

use app::studio::{NamedSlo, Studio};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use measure::slo::Slo;
use serde::Deserialize;
use utoipa::ToSchema;

use super::body::{self, Path};
use super::schema;
use crate::auth::Who;
use crate::error::{ApiResult, Problem};
use crate::routes::Edge;

/// An SLO, without its name.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SloText {
    /// As text: `ttft:p95<500ms tpot:p95<50ms attain>=95%`.
    #[schema(value_type = String)]
    slo: Slo,
}

/// Named SLOs, by name.
#[utoipa::path(get, path = "/api/v1/slos", operation_id = "list_slos", tag = "slos", responses((status = 200, body = Vec<schema::NamedSlo>)))]
pub async fn list(State(edge): State<Edge>, Who(actor): Who) -> ApiResult<Json<Vec<NamedSlo>>> {
    Ok(Json(edge.studio.slos(&actor).await?))
}

/// Add or replace a named SLO.
#[utoipa::path(put, path = "/api/v1/slos/{name}", operation_id = "save_slo", tag = "slos", params(("name" = String, Path)),
    request_body = SloText, responses((status = 204), (status = 422, body = Problem)))]
pub async fn save(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(name): Path<String>,
    body::Json(SloText { slo }): body::Json<SloText>,
) -> ApiResult<StatusCode> {
    edge.studio.save_slo(&actor, NamedSlo { name, slo }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Forget a named SLO.
#[utoipa::path(delete, path = "/api/v1/slos/{name}", operation_id = "delete_slo", tag = "slos", params(("name" = String, Path)),
    responses((status = 204), (status = 404, body = Problem)))]
pub async fn delete(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(name): Path<String>,
) -> ApiResult<StatusCode> {
    edge.studio.delete_slo(&actor, name).await?;
    Ok(StatusCode::NO_CONTENT)
}
