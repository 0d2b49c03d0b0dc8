//! REST under `/api/v1`, for programs: the same calls that the pages make, with an OpenAPI document.
//!
//! A handler extracts, calls, answers. Errors become statuses in [`crate::error`].

pub mod body; // what is sent, read with errors at fields
pub mod bundles;
pub mod compare;
pub mod datasets;
pub mod engines;
pub mod events;
pub mod history;
pub mod managed;
pub mod plotted; // pictures and rows, at the addresses of pages
pub mod points;
pub mod schema; // what stands in the document
pub mod shares;
pub mod slos;
pub mod studies;

use axum::http::header;
use axum::response::IntoResponse;
use axum::{Router, routing::get};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::routes::Edge;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Goodput Studio",
        description = "Studies of LLM serving engines: launch, follow, compare, share. Every unsafe method needs the \
                       header `Content-Type: application/json`. Where the studio has an access token, send it as \
                       `Authorization: Bearer TOKEN`."
    ),
    tags(
        (name = "studies", description = "One question, one workload, one SLO; configurations swept over rates."),
        (name = "points", description = "Raw data of one measured point."),
        (name = "engines", description = "Engines that were added on purpose; load goes only to these."),
        (name = "slos", description = "Named SLOs."),
        (name = "datasets", description = "Files that a workload can name: conversations, prompts, traces, tokenizers."),
        (name = "bundles", description = "Studies as files: export, open, and those that come with the studio."),
        (name = "compare", description = "Configurations side by side."),
        (name = "shares", description = "Links that show a study, or a comparison and nothing else of its studies, to whoever has them."),
    )
)]
struct Document;

fn collected() -> OpenApiRouter<Edge> {
    let all = OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(studies::list, studies::launch))
        .routes(routes!(studies::show, studies::edit, studies::delete))
        .routes(routes!(studies::undelete))
        .routes(routes!(studies::stop))
        .routes(routes!(studies::resume))
        .routes(routes!(studies::pause))
        .routes(routes!(studies::proceed))
        .routes(routes!(studies::log))
        .routes(routes!(studies::capacity))
        .routes(routes!(history::history))
        .routes(routes!(studies::diagnosis))
        .routes(routes!(studies::diagnosis_record))
        .routes(routes!(events::events))
        .routes(routes!(points::skip))
        .routes(routes!(points::scores))
        .routes(routes!(points::study_scores))
        .routes(routes!(points::records))
        .routes(routes!(points::evidence))
        .routes(routes!(points::metrics))
        .routes(routes!(points::rules))
        .routes(routes!(points::diagnosis))
        .routes(routes!(shares::list, shares::create))
        .routes(routes!(shares::compare))
        .routes(routes!(shares::revoke));
    all.routes(routes!(engines::probe))
        .routes(routes!(engines::list, engines::save))
        .routes(routes!(engines::delete))
        .routes(routes!(engines::secrets))
        .routes(routes!(managed::list))
        .routes(routes!(managed::show))
        .routes(routes!(managed::starts))
        .routes(routes!(managed::log))
        .routes(routes!(slos::list))
        .routes(routes!(slos::save, slos::delete))
        .routes(routes!(datasets::list))
        .routes(routes!(compare::compare))
        .routes(routes!(bundles::export))
        .routes(routes!(bundles::examples))
        .routes(routes!(bundles::open_example))
}

/// Bodies of any size up to their own limit; in front of the rest stands a smaller one.
fn unbounded() -> OpenApiRouter<Edge> {
    OpenApiRouter::new()
        .routes(routes!(datasets::upload))
        .routes(routes!(bundles::open))
}

/// All routes but those of [`uploads`], and the document itself at `/api/v1/openapi.json`.
pub fn router() -> Router<Edge> {
    let json = document();
    let answer =
        move || async move { ([(header::CONTENT_TYPE, "application/json")], json).into_response() };
    collected()
        .split_for_parts()
        .0
        .route("/api/v1/openapi.json", get(answer))
}

/// Routes that take files.
pub fn uploads() -> Router<Edge> {
    unbounded().split_for_parts().0
}

/// The OpenAPI document.
pub fn document() -> String {
    let mut document = collected().split_for_parts().1;
    document.merge(unbounded().split_for_parts().1);
    document.merge(plotted::Plotted::openapi());
    document.to_pretty_json().unwrap_or_default()
}
