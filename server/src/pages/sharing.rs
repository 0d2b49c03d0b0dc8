//! Links to a study, on a page of their own.

use app::drawn::document::{self, Drawn};
use app::pages::compare::{CompareState, Query};
use app::pages::sharing::{self, SharingPage};
use app::studio::{Actor, Studio, StudioError, StudyView};
use app::url_state::ViewState;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use uuid::Uuid;

use super::compare::pairs;
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
    let query = query.unwrap_or_default();
    let study = edge.studio.study(actor, id).await?;
    let comparison = comparison(&pairs(&query), &study)?;
    let (view, told) = match &comparison {
        // Which curves a comparison hides goes by its own order.
        Some((state, told)) => {
            let view = ViewState {
                hidden: Vec::new(),
                ..state.chart.clone()
            };
            (view, told.clone())
        }
        None => view_of(Some(query)),
    };
    Ok(SharingPage {
        study,
        links: edge.studio.shares(actor, id).await?,
        view,
        comparison: comparison.map(|(state, _)| state),
        told,
        now_ms: now_ms(),
    })
}

/// The comparison of a study's configurations that an address speaks of (`of=comparison`), and what stands there in vain.
fn comparison(
    query: &Query,
    study: &StudyView,
) -> Result<Option<(CompareState, Vec<String>)>, StudioError> {
    let asked = |(key, value): &(String, String)| key == "of" && value == "comparison";
    if !query.iter().any(asked) {
        return Ok(None);
    }
    let (state, told) = CompareState::read(query)?;
    let own = |id: &Uuid| study.configurations.iter().any(|it| it.id == *id);
    let all = 1 < state.ids.len() && state.ids.iter().all(own);
    all.then_some(Some((state, told)))
        .ok_or_else(|| missing("comparison within this study"))
}
