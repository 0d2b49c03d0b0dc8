//! A shared curve in a frame of any page: it needs no script, sets no cookie, and a link that is revoked is gone at once.

use app::pages::embed;
use app::studio::Studio;
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};

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
    let (state, mut told) = view_of(query);
    let study = match edge.studio.shared(&token).await {
        Ok(study) => judged(&edge, study, &state).await,
        Err(error) => Err(error),
    };
    match study {
        Ok(study) => {
            if study.aggregates_only && state.slo.is_some() {
                told.push("Another SLO cannot be tried here: this is the study's own.".into());
            }
            let page = embed::embed(&study, &state, &told, &token);
            (policy, Html(page)).into_response()
        }
        Err(_) => (StatusCode::NOT_FOUND, policy, Html(embed::embed_gone())).into_response(),
    }
}
