//! Pictures in pixels: what chat tools show beside a shared link, and what people paste into documents.
//!
//! Drawn from the same sheet as the picture in vectors, from what the page shows and nothing else, so no engine address, prompt or answer
//! can be in it.

mod canvas;
mod plot; // one chart of a sheet

use app::sheet::{HEADING_LINE, MARGIN, Sheet, WIDTH};
use app::studio::Studio;
use app::url_state::{Across, ViewState};
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;

use crate::api::plotted::Shown;
use crate::error::{ApiResult, Problem};
use crate::pages::curve::{png_of, sheet_of, view_of};
use crate::routes::Edge;
use canvas::{Canvas, Colour, Font};

const INK: Colour = [28, 32, 38];
const FAINT: Colour = [93, 93, 105];
const GRID: Colour = [226, 229, 233];
const GREY: Colour = [133, 133, 143];
const ACCENT: Colour = [74, 63, 209];
/// In the order of every page (public/css/tokens.css).
const SERIES: [Colour; 8] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [191, 102, 151],
    [185, 127, 0],
    [46, 147, 204],
    [154, 141, 0],
    [23, 23, 28],
];

/// The curve behind a link as a picture in pixels; also at `/s/{token}/preview.png`.
#[utoipa::path(get, path = "/s/{token}/curve.png", operation_id = "shared_curve_png", tag = "plotted", params(("token" = String, Path), Shown),
    responses((status = 200, content_type = "image/png", body = Vec<u8>), (status = 404, body = Problem)))]
pub async fn png(
    State(edge): State<Edge>,
    Path(token): Path<String>,
    RawQuery(query): RawQuery,
) -> ApiResult<Response> {
    let study = edge.studio.shared(&token).await?;
    let state = query.map_or_else(at_a_glance, |query| view_of(Some(query)).0);
    Ok(png_of(sheet_of(&edge, study, &state).await?).await?)
}

/// What a link shows that says nothing of its view: rates span decades.
fn at_a_glance() -> ViewState {
    ViewState {
        across: Across::Offered,
        log: true,
        ..ViewState::default()
    }
}

/// The picture.
pub fn draw(sheet: &Sheet) -> Canvas {
    let mut canvas = Canvas::new(WIDTH as usize, sheet.height() as usize, [255; 3]);
    let left = MARGIN as usize;
    for (index, line) in sheet.heading().iter().enumerate() {
        let top = 26 + HEADING_LINE as usize * index;
        canvas.text(left, top, &ascii(line), Font::Heading, INK);
    }
    let top = 66 + sheet.pushed() as usize;
    for (index, line) in sheet.lines().iter().enumerate() {
        canvas.text(left, top + 20 * index, &ascii(line), Font::Small, FAINT);
    }
    for line in sheet.legend_lines() {
        if let Some(colour) = line.colour {
            let at = (line.left as f32 + 6.0, line.y as f32);
            canvas.dot(at, 6.0, colour_of(colour));
        }
        let at = (line.left as usize + 20, line.y as usize - 8);
        canvas.text(at.0, at.1, &ascii(&line.text), Font::Small, INK);
    }
    for (panel, place) in std::iter::zip(&sheet.panels, sheet.plots()) {
        plot::panel(&mut canvas, panel, place.map(|it| it as f32));
    }
    let bottom = sheet.height() as usize - 28;
    canvas.text(left, bottom, "Goodput Studio", Font::Small, FAINT);
    canvas
}

fn colour_of(index: usize) -> Colour {
    SERIES[index % SERIES.len()]
}

fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        text.to_owned()
    } else {
        let kept = text.chars().take(longest - 3);
        kept.chain("...".chars()).collect()
    }
}

/// The font has ASCII only.
fn ascii(text: &str) -> String {
    text.replace('≤', "<=")
        .replace('≥', ">=")
        .replace(['–', '−'], "-")
        .replace(['\u{202f}', '\u{a0}'], " ")
        .replace(['“', '”'], "\"")
        .replace('µ', "u")
}

#[cfg(test)]
mod tests;
