//! Links to a study or to a comparison: mint, list, revoke.

use app::studio::{NewComparison, ShareRow, ShareScope, Studio};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use measure::slo::Slo;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::body::{self, Path};
use super::schema;
use crate::auth::Who;
use crate::error::{ApiResult, Problem};
use crate::routes::Edge;

/// What a link is to be.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewShare {
    /// Milliseconds since 1970 after which it no longer works.
    expires_ms: Option<i64>,
    /// What it shows: `aggregates` (the figures of points), `requests` (the times of each request as well; this where nothing is said), or
    /// `all` (note, tags, every setting and fact, too; addresses and keys never).
    #[schema(value_type = String)]
    scope: ShareScope,
}

/// A comparison that is to be passed on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewComparisonShare {
    /// Two to 24 configurations of any studies, once each; the first is the baseline.
    configurations: Vec<Uuid>,
    /// What judges them; the baseline study's own SLO where nothing is said.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    slo: Option<Slo>,
    /// Milliseconds since 1970 after which it no longer works.
    #[serde(default)]
    expires_ms: Option<i64>,
    /// What it shows: `aggregates` (the figures of points, under this SLO alone), `requests` (another SLO can be tried; this where nothing is
    /// said), or `all` (every setting and fact, too; addresses and keys never).
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    scope: ShareScope,
}

impl From<NewComparisonShare> for NewComparison {
    fn from(asked: NewComparisonShare) -> Self {
        let NewComparisonShare {
            configurations,
            slo,
            expires_ms,
            scope,
        } = asked;
        Self {
            configurations,
            slo,
            expires_ms,
            scope,
        }
    }
}

/// A study's links, and those to comparisons with a configuration of it. Their paths are not among what is kept.
#[utoipa::path(get, path = "/api/v1/studies/{id}/shares", operation_id = "list_shares", tag = "shares", params(("id" = Uuid, Path)),
    responses((status = 200, body = Vec<schema::ShareRow>), (status = 404, body = Problem)))]
pub async fn list(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
) -> ApiResult<Json<Vec<ShareRow>>> {
    Ok(Json(edge.studio.shares(&actor, id).await?))
}

/// Mint a link. Its path is told this once.
#[utoipa::path(post, path = "/api/v1/studies/{id}/shares", operation_id = "create_share", tag = "shares", params(("id" = Uuid, Path)),
    request_body = NewShare, responses((status = 201, body = schema::ShareRow), (status = 404, body = Problem)))]
pub async fn create(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
    body::Json(share): body::Json<NewShare>,
) -> ApiResult<(StatusCode, Json<ShareRow>)> {
    Ok((
        StatusCode::CREATED,
        Json(
            edge.studio
                .share(&actor, id, share.expires_ms, share.scope)
                .await?,
        ),
    ))
}

/// Mint a link to a comparison: it shows these configurations side by side, and nothing else of their studies. Its path is told this once.
#[utoipa::path(post, path = "/api/v1/shares", operation_id = "share_comparison", tag = "shares", request_body = NewComparisonShare,
    responses((status = 201, body = schema::ShareRow), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub async fn compare(
    State(edge): State<Edge>,
    Who(actor): Who,
    body::Json(asked): body::Json<NewComparisonShare>,
) -> ApiResult<(StatusCode, Json<ShareRow>)> {
    let share = edge.studio.share_comparison(&actor, asked.into()).await?;
    Ok((StatusCode::CREATED, Json(share)))
}

/// Revoke a link at once.
#[utoipa::path(delete, path = "/api/v1/shares/{id}", operation_id = "revoke_share", tag = "shares", params(("id" = Uuid, Path)),
    responses((status = 204), (status = 404, body = Problem)))]
pub async fn revoke(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
) -> ApiResult<StatusCode> {
    edge.studio.revoke(&actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
