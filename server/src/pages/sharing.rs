//! Links to a study or to a comparison, on a page of their own.

use app::drawn::document::{self, Drawn};
use app::pages::compare::{CompareState, Query};
use app::pages::sharing::{self, SharingPage, Subject};
use app::studio::{Actor, ShareRow, Studio, StudioError};
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use uuid::Uuid;

use super::compare::{both, look, pairs};
use super::curve::view_of;
use super::{drawn, sorry};
use crate::api::body::Path;
use crate::auth::Who;
use crate::routes::Edge;
use crate::store::now_ms;
use crate::studio::missing;

/// `GET /studies/{id}/share`
pub async fn of_study(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(study): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let text = query.clone().unwrap_or_default();
    match comparison(&pairs(&text)) {
        // Comparisons were once shared with their study.
        Ok(Some(state)) => {
            let there = format!("/compare/share?{}", state.query());
            Redirect::permanent(&there).into_response()
        }
        Ok(None) => shown(&edge, look_at_study(&edge, &actor, &study, query).await),
        Err(error) => sorry(&edge, &error),
    }
}

/// `GET /compare/share`
pub async fn of_comparison(
    State(edge): State<Edge>,
    Who(actor): Who,
    RawQuery(query): RawQuery,
) -> Response {
    let query = query.unwrap_or_default();
    shown(&edge, look_at_comparison(&edge, &actor, &query).await)
}

fn shown(edge: &Edge, page: Result<SharingPage, StudioError>) -> Response {
    match page {
        Ok(page) => drawn(|nonce| {
            let page = Drawn {
                title: format!("Share {}", page.subject.name()),
                is_engines: false,
                body: sharing::page(&page, nonce),
            };
            document::document(&page, edge.site.assets(), nonce)
        }),
        Err(error) => sorry(edge, &error),
    }
}

async fn look_at_study(
    edge: &Edge,
    actor: &Actor,
    study: &str,
    query: Option<String>,
) -> Result<SharingPage, StudioError> {
    let id = study.parse().map_err(|_| missing("study"))?;
    let study = edge.studio.study(actor, id).await?;
    let (view, told) = view_of(query);
    Ok(SharingPage {
        links: edge.studio.shares(actor, id).await?,
        subject: Subject::Study(Box::new((study, view))),
        told,
        now_ms: now_ms(),
    })
}

async fn look_at_comparison(
    edge: &Edge,
    actor: &Actor,
    query: &str,
) -> Result<SharingPage, StudioError> {
    let (mut page, compared) = both(look(edge, actor, query).await?)?;
    let studies = compared.configurations.iter().map(|it| it.study);
    Ok(SharingPage {
        links: links(edge, actor, studies.collect(), &page.state.ids).await?,
        told: std::mem::take(&mut page.told),
        subject: Subject::Comparison(Box::new((page, compared))),
        now_ms: now_ms(),
    })
}

/// Links to comparisons with one of these configurations, newest first.
async fn links(
    edge: &Edge,
    actor: &Actor,
    mut studies: Vec<Uuid>,
    ids: &[Uuid],
) -> Result<Vec<ShareRow>, StudioError> {
    studies.sort_unstable();
    studies.dedup();
    let mut links: Vec<ShareRow> = Vec::new();
    for study in studies {
        links.extend(edge.studio.shares(actor, study).await?);
    }
    links.retain(|link| link.configurations.iter().any(|id| ids.contains(id)));
    links.sort_by_key(|link| std::cmp::Reverse((link.created_ms, link.id)));
    links.dedup_by_key(|link| link.id);
    Ok(links)
}

/// The comparison that an address of before speaks of (`of=comparison`).
fn comparison(query: &Query) -> Result<Option<CompareState>, StudioError> {
    let asked = |(key, value): &(String, String)| key == "of" && value == "comparison";
    if !query.iter().any(asked) {
        return Ok(None);
    }
    Ok(Some(CompareState::read(query)?.0))
}
