//! Configurations side by side: the page, and what it shows as files.

use app::drawn::document::{self, Drawn};
use app::pages::compare::{self, ComparePage, CompareState, Link};
use app::studio::{Actor, CompareView, Studio, StudioError, StudyFilter};
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use uuid::Uuid;

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

/// `GET /s/{token}/compare`: the same of a link's configurations, as far as the link shows them.
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

/// What an address shows whoever has a link. Where it names no configuration, it shows all of the link's.
pub(super) async fn look_by_link(
    edge: &Edge,
    token: &str,
    query: &str,
) -> Result<ComparePage, StudioError> {
    let link = edge.studio.comparable(token).await?;
    let mut query = pairs(query);
    if !query.iter().any(|(key, _)| key == "c") {
        query.extend(link.ids.iter().map(|id| ("c".to_owned(), id.to_string())));
    }
    let (mut state, mut told) = CompareState::read(&query)?;
    let gone = state.ids.iter().filter(|id| link.gone.contains(id));
    let gone: Vec<Uuid> = gone.copied().collect();
    state.leave_out(&gone);
    told.extend(told_gone(gone.len()));
    if link.figures_only && state.chart.slo.take().is_some() {
        let own = if link.shows_study { "study" } else { "link" };
        told.push(format!(
            "Another SLO cannot be tried here: this is the {own}'s own."
        ));
    }
    state.link = Some(Link {
        token: token.to_owned(),
        shows_study: link.shows_study,
    });
    state.find = None;
    let compared = edge.studio.compared(&link, state.order(), state.slo());
    Ok(ComparePage {
        compared: Some(compared.await?),
        state,
        told,
        found: None,
        figures_only: link.figures_only,
    })
}

fn told_gone(gone: usize) -> Option<String> {
    match gone {
        0 => None,
        1 => Some("One configuration is no longer there, since its study was deleted: the others are compared.".to_owned()),
        many => Some(format!("{many} configurations are no longer there, since their studies were deleted: the others are compared.")),
    }
}

/// What an address shows.
pub(super) async fn look(
    edge: &Edge,
    actor: &Actor,
    query: &str,
) -> Result<ComparePage, StudioError> {
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

/// A page with what it compares.
pub(super) fn both(mut page: ComparePage) -> Result<(ComparePage, CompareView), StudioError> {
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
