//! Links to a study: mint, list, revoke.

use app::studio::{ShareRow, ShareScope, Studio};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
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

/// A study's links. Their paths are not among what is kept.
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
