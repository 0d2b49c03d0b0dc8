//! Configurations side by side: the page, and what it shows as files.

use app::drawn::document::{self, Drawn};
use app::pages::compare::{self, ComparePage, CompareState};
use app::studio::{Actor, CompareView, Studio, StudioError, StudyFilter};
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};

use super::{curve, drawn, sorry};
use crate::auth::Who;
use crate::error::ApiResult;
use crate::routes::Edge;

/// Studies that a search for another configuration shows.
const FOUND: u32 = 20;

/// `GET /compare`
pub async fn page(
    State(edge): State<Edge>,
    Who(actor): Who,
    RawQuery(query): RawQuery,
) -> Response {
    match look(&edge, &actor, &query.unwrap_or_default()).await {
        Ok(page) => drawn(|nonce| {
            let page = Drawn {
                title: compare::title(&page),
                is_engines: false,
                body: compare::page(&page, nonce),
            };
            document::document(&page, edge.site.assets(), nonce)
        }),
        Err(error) => sorry(&edge, &error),
    }
}

/// What an address shows.
async fn look(edge: &Edge, actor: &Actor, query: &str) -> Result<ComparePage, StudioError> {
    let (state, told) = CompareState::read(&pairs(query))?;
    let compared = if 1 < state.ids.len() {
        let found = edge.studio.compare(actor, state.order(), state.slo()).await;
        Some(found?)
    } else {
        None
    };
    let search = match (&state.find, &compared) {
        (Some(words), _) => Some(words.clone()),
        (None, None) => Some(String::new()),
        (None, Some(_)) => None,
    };
    let found = match search {
        Some(search) => {
            let filter = StudyFilter {
                search,
                limit: FOUND,
                ..StudyFilter::default()
            };
            Some(edge.studio.studies(actor, filter).await?)
        }
        None => None,
    };
    Ok(ComparePage {
        state,
        told,
        compared,
        found,
    })
}

/// A query, decoded, in order.
pub(super) fn pairs(query: &str) -> Vec<(String, String)> {
    url::form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect()
}

/// The comparison behind a file.
async fn exported(
    edge: &Edge,
    actor: &Actor,
    query: Option<String>,
) -> Result<(ComparePage, CompareView), StudioError> {
    let mut page = look(edge, actor, &query.unwrap_or_default()).await?;
    let compared = page.compared.take().ok_or_else(|| {
        crate::studio::invalid(
            "c",
            "choose two configurations or more; the first is the baseline",
        )
    })?;
    page.compared = Some(compared.clone());
    Ok((page, compared))
}

/// `GET /compare/export.svg`
pub async fn svg(
    State(edge): State<Edge>,
    Who(actor): Who,
    RawQuery(query): RawQuery,
) -> ApiResult<Response> {
    let (page, compared) = exported(&edge, &actor, query).await?;
    Ok(curve::svg_of(&compare::sheet_of(&page, &compared)).into_response())
}

/// `GET /compare/export.png`
pub async fn png(
    State(edge): State<Edge>,
    Who(actor): Who,
    RawQuery(query): RawQuery,
) -> ApiResult<Response> {
    let (page, compared) = exported(&edge, &actor, query).await?;
    Ok(curve::png_of(compare::sheet_of(&page, &compared)).await?)
}

/// `GET /compare/export.csv`
pub async fn csv(
    State(edge): State<Edge>,
    Who(actor): Who,
    RawQuery(query): RawQuery,
) -> ApiResult<Response> {
    let (page, compared) = exported(&edge, &actor, query).await?;
    let text = compare::csv(&page.state, &compared);
    Ok(curve::csv_of(text).into_response())
}
