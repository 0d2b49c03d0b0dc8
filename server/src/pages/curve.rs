//! A study's curve as files, as its address shows it: for its owner, and for whoever has a link.

use app::pages::main_chart;
use app::sheet::{self, Sheet, Source};
use app::studio::{Studio, StudioError, StudyView};
use app::url_state::ViewState;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};
use uuid::Uuid;

use super::compare::pairs;
use crate::api::body::Path;
use crate::api::plotted::Shown;
use crate::auth::Who;
use crate::error::{ApiResult, Problem};
use crate::preview;
use crate::routes::Edge;

/// What a query shows, and what stands in it in vain.
pub(crate) fn view_of(query: Option<String>) -> (ViewState, Vec<String>) {
    let pairs = pairs(&query.unwrap_or_default());
    let get = |key: &str| {
        let found = pairs.iter().find(|(known, _)| known == key);
        found.map(|(_, value)| value.clone())
    };
    let state = ViewState::read(get);
    let mut told = app::url_state::told(get);
    let slo = get("slo").filter(|text| state.slo.is_none() && !text.is_empty());
    told.extend(
        slo.map(|_| "The SLO in the address cannot be read: this is the study's own.".into()),
    );
    (state, told)
}

/// The study under the SLO that its address tries. Where a link shows aggregates alone, there is nothing to judge by.
pub(super) async fn judged(
    edge: &Edge,
    study: StudyView,
    state: &ViewState,
) -> Result<StudyView, StudioError> {
    match &state.slo {
        Some(slo) if *slo != study.spec.slo && !study.aggregates_only => {
            edge.studio.judged_by(study, slo).await
        }
        _ => Ok(study),
    }
}

/// A study's picture, as its address shows it.
pub(crate) async fn sheet_of(
    edge: &Edge,
    study: StudyView,
    state: &ViewState,
) -> Result<Sheet, StudioError> {
    let study = judged(edge, study, state).await?;
    Ok(sheet::of_study(&study, state))
}

/// A study's curve as a picture in vectors.
#[utoipa::path(get, path = "/studies/{id}/curve.svg", operation_id = "curve_svg", tag = "plotted", params(("id" = Uuid, Path), Shown),
    responses((status = 200, content_type = "image/svg+xml", body = String), (status = 404, body = Problem)))]
pub async fn svg(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
    RawQuery(query): RawQuery,
) -> ApiResult<Response> {
    let study = edge.studio.study(&actor, id).await?;
    Ok(svg_of(&sheet_of(&edge, study, &view_of(query).0).await?).into_response())
}

/// A study's curve as a picture in pixels.
#[utoipa::path(get, path = "/studies/{id}/curve.png", operation_id = "curve_png", tag = "plotted", params(("id" = Uuid, Path), Shown),
    responses((status = 200, content_type = "image/png", body = Vec<u8>), (status = 404, body = Problem)))]
pub async fn png(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
    RawQuery(query): RawQuery,
) -> ApiResult<Response> {
    let study = edge.studio.study(&actor, id).await?;
    Ok(png_of(sheet_of(&edge, study, &view_of(query).0).await?).await?)
}

/// A study's curve as rows.
#[utoipa::path(get, path = "/studies/{id}/curve.csv", operation_id = "curve_csv", tag = "plotted", params(("id" = Uuid, Path), Shown),
    responses((status = 200, content_type = "text/csv", body = String), (status = 404, body = Problem)))]
pub async fn csv(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
    RawQuery(query): RawQuery,
) -> ApiResult<Response> {
    let study = edge.studio.study(&actor, id).await?;
    Ok(csv_of(rows_of(&edge, study, &view_of(query).0).await?).into_response())
}

/// The curve behind a link as a picture in vectors.
#[utoipa::path(get, path = "/s/{token}/curve.svg", operation_id = "shared_curve_svg", tag = "plotted", params(("token" = String, Path), Shown),
    responses((status = 200, content_type = "image/svg+xml", body = String), (status = 404, body = Problem)))]
pub async fn shared_svg(
    State(edge): State<Edge>,
    Path(token): Path<String>,
    RawQuery(query): RawQuery,
) -> ApiResult<Response> {
    let study = edge.studio.shared(&token).await?;
    Ok(svg_of(&sheet_of(&edge, study, &view_of(query).0).await?).into_response())
}

/// The curve behind a link as rows.
#[utoipa::path(get, path = "/s/{token}/curve.csv", operation_id = "shared_curve_csv", tag = "plotted", params(("token" = String, Path), Shown),
    responses((status = 200, content_type = "text/csv", body = String), (status = 404, body = Problem)))]
pub async fn shared_csv(
    State(edge): State<Edge>,
    Path(token): Path<String>,
    RawQuery(query): RawQuery,
) -> ApiResult<Response> {
    let study = edge.studio.shared(&token).await?;
    Ok(csv_of(rows_of(&edge, study, &view_of(query).0).await?).into_response())
}

/// What a view plots, as rows.
async fn rows_of(edge: &Edge, study: StudyView, state: &ViewState) -> Result<String, StudioError> {
    let study = judged(edge, study, state).await?;
    Ok(rows(&study, state))
}

fn rows(study: &StudyView, state: &ViewState) -> String {
    let chart = main_chart(study, &study.spec.slo, state);
    let all = (0_u32..).zip(&study.configurations);
    let sources = all.map(|(index, configuration)| Source {
        colour: index as usize,
        study: &study.spec.name,
        id: study.id,
        simulated: study.is_simulated(),
        configuration,
        points: study
            .points
            .iter()
            .filter(|it| it.configuration == index)
            .collect(),
    });
    let sources: Vec<Source<'_>> = sources.collect();
    sheet::csv(&chart, &sources, &study.spec.slo.to_string())
}

type File<B> = ([(HeaderName, &'static str); 2], B);

/// A picture that other programs draw.
pub(super) fn svg_of(sheet: &Sheet) -> File<String> {
    let head = [
        (header::CONTENT_TYPE, "image/svg+xml; charset=utf-8"),
        // A picture that is opened alone runs and asks for nothing.
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
        ),
    ];
    (head, sheet::svg(sheet))
}

/// Rows.
pub(super) fn csv_of(text: String) -> File<String> {
    let head = [
        (
            header::CONTENT_TYPE,
            "text/csv; charset=utf-8; header=present",
        ),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"curve.csv\"",
        ),
    ];
    (head, text)
}

/// Pixels.
pub(crate) async fn png_of(sheet: Sheet) -> Result<Response, StudioError> {
    let picture = tokio::task::spawn_blocking(move || preview::draw(&sheet).png()).await;
    let picture = picture
        .map_err(|_| StudioError::Internal)?
        .map_err(|_| StudioError::Internal)?;
    Ok(([(header::CONTENT_TYPE, "image/png")], picture).into_response())
}
