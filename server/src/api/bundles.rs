//! Studies as files: download one, open one, and those that come with the studio.

use std::fs::File;
use std::io::{Read, Seek, Write};

use app::studio::{Studio, StudyFilter, StudyRow};
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::body::{Path, Query};
use super::schema;
use crate::auth::Who;
use crate::bundle::{Example, MOST_PACKED, Opened, Packed, Scope};
use crate::error::{ApiError, ApiResult, Problem, unwritten};
use crate::routes::Edge;
use crate::studio::missing;

/// Sent at a time.
const BLOCK: usize = 1 << 16;

/// How much a bundle is to hold.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct Extent {
    /// Addresses, paths, logs of engines, the text of their metrics, notes and tags as well; else what a shared link shows, and
    /// every request's times.
    everything: bool,
}

/// What an upload is called.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct Named {
    /// Its file's name, which the study's page tells.
    file: String,
}

/// A study that was opened.
#[derive(Debug, Serialize, ToSchema)]
pub struct OpenedStudy {
    /// The study; its page is `/studies/{id}`.
    id: Uuid,
    name: String,
    /// It was here before, and is as it was.
    already_here: bool,
}

/// A study that has ended as one file, which another studio opens without any engine.
#[utoipa::path(get, path = "/api/v1/studies/{id}/bundle", operation_id = "export_study", tag = "bundles", params(("id" = Uuid, Path), Extent),
    responses((status = 200, content_type = "application/zstd", body = Vec<u8>), (status = 404, body = Problem),
        (status = 409, body = Problem, description = "It has not ended."), (status = 507, body = Problem)))]
pub async fn export(
    State(edge): State<Edge>,
    Who(_): Who,
    Path(id): Path<Uuid>,
    Query(Extent { everything }): Query<Extent>,
) -> ApiResult<Response> {
    let scope = if everything {
        Scope::Everything
    } else {
        Scope::Shown
    };
    let Packed {
        file, bytes, name, ..
    } = edge.studio.export_bundle(id, scope).await?;
    let head = [
        (header::CONTENT_TYPE, "application/zstd".to_owned()),
        (header::CONTENT_LENGTH, bytes.to_string()),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        ),
    ];
    Ok((head, Body::from_stream(blocks(file))).into_response())
}

/// A file's content, block by block as it is asked for.
fn blocks(file: File) -> impl stream::Stream<Item = std::io::Result<Bytes>> {
    stream::try_unfold(file, async |mut file| {
        let read = tokio::task::spawn_blocking(move || {
            let mut block = vec![0; BLOCK];
            let read = file.read(&mut block)?;
            block.truncate(read);
            std::io::Result::Ok((file, block))
        });
        let (file, block) = read.await.map_err(std::io::Error::other)??;
        let block = (!block.is_empty()).then(|| Bytes::from(block));
        std::io::Result::Ok(block.map(|block| (block, file)))
    })
}

/// Open a bundle, at most 1 GiB: its study is stored, finished, and never changes.
///
/// A study that is here already stays as it is, and is told. The content type is `application/json` whatever the file is.
#[utoipa::path(post, path = "/api/v1/bundles", operation_id = "open_bundle", tag = "bundles", params(Named),
    request_body(content = Object, content_type = "application/json"),
    responses((status = 201, body = OpenedStudy), (status = 200, body = OpenedStudy, description = "It was here already."),
        (status = 400, body = Problem, description = "No bundle, a newer one, or a damaged one."), (status = 409, body = Problem),
        (status = 413, body = Problem), (status = 507, body = Problem)))]
pub async fn open(
    State(edge): State<Edge>,
    Who(_): Who,
    Query(Named { file }): Query<Named>,
    body: Body,
) -> ApiResult<Response> {
    let name = if file.is_empty() { "an upload" } else { &file };
    let received = receive(tempfile::tempfile_in(edge.studio.scratch()), body).await?;
    Ok(opened(edge.studio.open_bundle(received, name).await?))
}

/// Studies that come with the studio, opened or not.
#[utoipa::path(get, path = "/api/v1/examples", operation_id = "list_examples", tag = "bundles", responses((status = 200, body = Vec<schema::StudyRow>)))]
pub async fn examples(State(edge): State<Edge>, Who(actor): Who) -> ApiResult<Json<Vec<StudyRow>>> {
    let filter = StudyFilter {
        examples: true,
        ..StudyFilter::default()
    };
    Ok(Json(edge.studio.studies(&actor, filter).await?))
}

/// Open a study that comes with the studio, by its id or its file's name without the ending.
#[utoipa::path(post, path = "/api/v1/examples/{name}", operation_id = "open_example", tag = "bundles", params(("name" = String, Path)),
    responses((status = 201, body = OpenedStudy), (status = 200, body = OpenedStudy, description = "It was here already."),
        (status = 404, body = Problem), (status = 507, body = Problem)))]
pub async fn open_example(
    State(edge): State<Edge>,
    Who(_): Who,
    Path(name): Path<String>,
) -> ApiResult<Response> {
    Ok(opened(opened_example(&edge, &name).await?))
}

/// `GET /examples/{name}`: its study where it was opened before, else the page with the button that opens it.
pub async fn look(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(name): Path<String>,
) -> ApiResult<Redirect> {
    let example = Example::find(&name).ok_or_else(|| missing("example"))?;
    let id = example.manifest.study.id;
    let known = edge.studio.study(&actor, id).await.is_ok();
    Ok(Redirect::to(&if known {
        format!("/studies/{id}")
    } else {
        "/#examples".to_owned()
    }))
}

/// `POST /examples/{name}`, a form of ours: opens it and goes there.
pub async fn visit(
    State(edge): State<Edge>,
    Who(_): Who,
    Path(name): Path<String>,
) -> ApiResult<Redirect> {
    let Opened { id, .. } = opened_example(&edge, &name).await?;
    Ok(Redirect::to(&format!("/studies/{id}")))
}

async fn opened_example(edge: &Edge, name: &str) -> ApiResult<Opened> {
    let example = Example::find(name).ok_or_else(|| missing("example"))?;
    Ok(edge.studio.open_example(example).await?)
}

fn opened(opened: Opened) -> Response {
    let Opened {
        id,
        name,
        already_here,
    } = opened;
    let status = if already_here {
        StatusCode::OK
    } else {
        StatusCode::CREATED
    };
    let place = [(header::LOCATION, format!("/api/v1/studies/{id}"))];
    let body = OpenedStudy {
        id,
        name,
        already_here,
    };
    (status, place, Json(body)).into_response()
}

/// Streams a body into a file without a name, and counts its bytes.
async fn receive(file: std::io::Result<File>, body: Body) -> ApiResult<File> {
    let mut file = file.map_err(unwritten)?;
    let mut stream = body.into_data_stream();
    let mut bytes = 0;
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_| ApiError::BadRequest("the upload broke off".into()))?;
        bytes += chunk.len() as u64;
        if MOST_PACKED < bytes {
            return Err(ApiError::TooLarge("a bundle has at most 1 GiB".into()));
        }
        // A chunk is what a connection had at once: small, and on its way to a cache.
        file.write_all(&chunk).map_err(unwritten)?;
    }
    file.rewind().map_err(unwritten)?;
    Ok(file)
}
