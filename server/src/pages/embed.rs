//! A shared curve, or a shared comparison, in a frame of any page: it needs no script, sets no cookie, and a link that is revoked is gone at once.

use app::pages::{compare, embed};
use app::studio::{Studio, StudioError};
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};

use super::compare::{both, look_by_link};
use super::curve::{judged, view_of};
use crate::api::body::Path;
use crate::guard::headers::FRAMED;
use crate::routes::Edge;

/// `GET /embed/{token}`
pub async fn embed(
    State(edge): State<Edge>,
    Path(token): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let policy = [(header::CONTENT_SECURITY_POLICY, FRAMED)];
    match framed(&edge, &token, query).await {
        Ok(page) => (policy, Html(page)).into_response(),
        Err(_) => (StatusCode::NOT_FOUND, policy, Html(embed::embed_gone())).into_response(),
    }
}

async fn framed(edge: &Edge, token: &str, query: Option<String>) -> Result<String, StudioError> {
    if edge.studio.shows_comparison(token).await? {
        let page = look_by_link(edge, token, &query.unwrap_or_default()).await?;
        let (page, compared) = both(page)?;
        return Ok(compare::framed(&page, &compared));
    }
    let (state, mut told) = view_of(query);
    let study = edge.studio.shared(token).await?;
    let study = judged(edge, study, &state).await?;
    if study.aggregates_only && state.slo.is_some() {
        told.push("Another SLO cannot be tried here: this is the study's own.".into());
    }
    Ok(embed::embed(&study, &state, &told, token))
}
