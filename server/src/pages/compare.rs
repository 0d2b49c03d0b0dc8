//! Configurations side by side: the page, and what it shows as files.

use app::drawn::document::{self, Drawn};
use app::pages::compare::{self, ComparePage, CompareState};
use app::studio::{Actor, CompareView, Studio, StudioError, StudyFilter};
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};

use super::{curve, drawn, missing, sorry, sorry_guest};
use crate::api::body::Path;
use crate::api::plotted::{Shown, Side};
use crate::auth::Who;
use crate::error::{ApiResult, Problem};
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
        Ok(page) => drawn(|nonce| document::document(&of(&page, nonce), edge.site.assets(), nonce)),
        Err(error) => sorry(&edge, &error),
    }
}

/// `GET /s/{token}/compare`: the same of a link's study, as far as the link shows it.
pub async fn shared(
    State(edge): State<Edge>,
    Path(token): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    match look_by_link(&edge, &token, &query.unwrap_or_default()).await {
        Ok(page) => {
            drawn(|nonce| document::for_guest(&of(&page, nonce), edge.site.assets(), nonce))
        }
        Err(error) => sorry_guest(&edge, &error),
    }
}

fn of(page: &ComparePage, nonce: &str) -> Drawn {
    Drawn {
        title: compare::title(page),
        is_engines: false,
        body: compare::page(page, nonce),
    }
}

/// What an address shows whoever has a link. Configurations that the address does not name are all of the study's.
async fn look_by_link(edge: &Edge, token: &str, query: &str) -> Result<ComparePage, StudioError> {
    let (mut state, mut told) = CompareState::read(&pairs(query))?;
    let study = edge.studio.shared(token).await?;
    if state.ids.is_empty() {
        let all = study.configurations.iter().map(|it| it.id);
        state.ids = all.take(compare::MOST).collect();
    }
    if study.aggregates_only && state.chart.slo.take().is_some() {
        told.push("Another SLO cannot be tried here: this is the study's own.".into());
    }
    state.link = Some(token.to_owned());
    state.find = None;
    let found = edge
        .studio
        .shared_compare(token, state.order(), state.slo());
    Ok(ComparePage {
        compared: Some(found.await?),
        state,
        told,
        found: None,
        figures_only: study.aggregates_only,
    })
}

/// What an address shows.
async fn look(edge: &Edge, actor: &Actor, query: &str) -> Result<ComparePage, StudioError> {
    let (mut state, mut told) = CompareState::read(&pairs(query))?;
    leave_out_gone(edge, &mut state, &mut told).await?;
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
        figures_only: false,
    })
}

/// Configurations that are gone, with their studies, are told and left out: the others can be compared all the same.
async fn leave_out_gone(
    edge: &Edge,
    state: &mut CompareState,
    told: &mut Vec<String>,
) -> Result<(), StudioError> {
    let mut gone = Vec::new();
    for id in &state.ids {
        if !edge.studio.has_configuration(*id).await? {
            gone.push(*id);
        }
    }
    if gone.len() == state.ids.len() {
        // Of nothing that is there, nothing can be shown; of nothing asked, nothing is gone.
        return match gone.len() {
            0 => Ok(()),
            _ => Err(missing("configuration")),
        };
    }
    state.leave_out(&gone);
    told.extend(gone.iter().map(|id| {
        format!(
            "c={id} is no configuration here, or its study was deleted: the others are compared."
        )
    }));
    Ok(())
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
    both(look(edge, actor, &query.unwrap_or_default()).await?)
}

/// The comparison behind a file that whoever has a link takes away.
async fn exported_by_link(
    edge: &Edge,
    token: &str,
    query: Option<String>,
) -> Result<(ComparePage, CompareView), StudioError> {
    both(look_by_link(edge, token, &query.unwrap_or_default()).await?)
}

fn both(mut page: ComparePage) -> Result<(ComparePage, CompareView), StudioError> {
    let compared = page.compared.take().ok_or_else(|| {
        crate::studio::invalid(
            "c",
            "choose two configurations or more; the first is the baseline",
        )
    })?;
    page.compared = Some(compared.clone());
    Ok((page, compared))
}

/// A comparison as a picture in vectors.
#[utoipa::path(get, path = "/compare/export.svg", operation_id = "comparison_svg", tag = "plotted", params(Side, Shown),
    responses((status = 200, content_type = "image/svg+xml", body = String), (status = 404, body = Problem)))]
pub async fn svg(
    State(edge): State<Edge>,
    Who(actor): Who,
    RawQuery(query): RawQuery,
) -> ApiResult<Response> {
    let (page, compared) = exported(&edge, &actor, query).await?;
    Ok(curve::svg_of(&compare::sheet_of(&page, &compared)).into_response())
}

/// A comparison as a picture in pixels.
#[utoipa::path(get, path = "/compare/export.png", operation_id = "comparison_png", tag = "plotted", params(Side, Shown),
    responses((status = 200, content_type = "image/png", body = Vec<u8>), (status = 404, body = Problem)))]
pub async fn png(
    State(edge): State<Edge>,
    Who(actor): Who,
    RawQuery(query): RawQuery,
) -> ApiResult<Response> {
    let (page, compared) = exported(&edge, &actor, query).await?;
    Ok(curve::png_of(compare::sheet_of(&page, &compared)).await?)
}

/// A comparison as rows.
#[utoipa::path(get, path = "/compare/export.csv", operation_id = "comparison_csv", tag = "plotted", params(Side, Shown),
    responses((status = 200, content_type = "text/csv", body = String), (status = 404, body = Problem)))]
pub async fn csv(
    State(edge): State<Edge>,
    Who(actor): Who,
    RawQuery(query): RawQuery,
) -> ApiResult<Response> {
    let (page, compared) = exported(&edge, &actor, query).await?;
    let text = compare::csv(&page.state, &compared);
    Ok(curve::csv_of(text).into_response())
}

/// The comparison of configurations behind a link as a picture in vectors.
#[utoipa::path(get, path = "/s/{token}/compare/export.svg", operation_id = "shared_comparison_svg", tag = "plotted", params(("token" = String, Path), Side, Shown),
    responses((status = 200, content_type = "image/svg+xml", body = String), (status = 404, body = Problem)))]
pub async fn shared_svg(
    State(edge): State<Edge>,
    Path(token): Path<String>,
    RawQuery(query): RawQuery,
) -> ApiResult<Response> {
    let (page, compared) = exported_by_link(&edge, &token, query).await?;
    Ok(curve::svg_of(&compare::sheet_of(&page, &compared)).into_response())
}

/// The comparison of configurations behind a link as a picture in pixels.
#[utoipa::path(get, path = "/s/{token}/compare/export.png", operation_id = "shared_comparison_png", tag = "plotted", params(("token" = String, Path), Side, Shown),
    responses((status = 200, content_type = "image/png", body = Vec<u8>), (status = 404, body = Problem)))]
pub async fn shared_png(
    State(edge): State<Edge>,
    Path(token): Path<String>,
    RawQuery(query): RawQuery,
) -> ApiResult<Response> {
    let (page, compared) = exported_by_link(&edge, &token, query).await?;
    Ok(curve::png_of(compare::sheet_of(&page, &compared)).await?)
}

/// The comparison of configurations behind a link as rows.
#[utoipa::path(get, path = "/s/{token}/compare/export.csv", operation_id = "shared_comparison_csv", tag = "plotted", params(("token" = String, Path), Side, Shown),
    responses((status = 200, content_type = "text/csv", body = String), (status = 404, body = Problem)))]
pub async fn shared_csv(
    State(edge): State<Edge>,
    Path(token): Path<String>,
    RawQuery(query): RawQuery,
) -> ApiResult<Response> {
    let (page, compared) = exported_by_link(&edge, &token, query).await?;
    let text = compare::csv(&page.state, &compared);
    Ok(curve::csv_of(text).into_response())
}
