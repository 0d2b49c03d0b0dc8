//! Links to a study, on a page of their own.

use app::drawn::document::{self, Drawn};
use app::pages::sharing::{self, SharingPage};
use app::studio::{Actor, Studio, StudioError};
use axum::extract::{RawQuery, State};
use axum::response::Response;

use super::curve::view_of;
use super::{drawn, sorry};
use crate::api::body::Path;
use crate::auth::Who;
use crate::routes::Edge;
use crate::store::now_ms;
use crate::studio::missing;

/// `GET /studies/{id}/share`
pub async fn sharing(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(study): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    match look(&edge, &actor, &study, query).await {
        Ok(page) => drawn(|nonce| {
            let page = Drawn {
                title: format!("Share {}", page.study.spec.name),
                is_engines: false,
                body: sharing::page(&page, nonce),
            };
            document::document(&page, edge.site.assets(), nonce)
        }),
        Err(error) => sorry(&edge, &error),
    }
}

async fn look(
    edge: &Edge,
    actor: &Actor,
    study: &str,
    query: Option<String>,
) -> Result<SharingPage, StudioError> {
    let id = study.parse().map_err(|_| missing("study"))?;
    let (view, told) = view_of(query);
    Ok(SharingPage {
        study: edge.studio.study(actor, id).await?,
        links: edge.studio.shares(actor, id).await?,
        view,
        told,
        now_ms: now_ms(),
    })
}
