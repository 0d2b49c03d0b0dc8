//! Files that a workload can name (conversations, prompts, traces, tokenizers): listed, uploaded into the one folder.

use std::path::{Path as FilePath, PathBuf};

use app::studio::{DatasetRow, Studio, StudioError};
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use futures_util::StreamExt;
use load::Inspected;
use measure::study::FieldError;
use tokio::io::AsyncWriteExt;
use uuid::Uuid;

use super::body::Path;
use super::schema;
use crate::auth::Who;
use crate::error::{ApiError, ApiResult, Problem, unwritten};
use crate::routes::Edge;
use crate::studio::dataset;
use crate::studio::engines::sentence;
use crate::studio::folder::remember;
use crate::studio::internal;

/// The largest file: ShareGPT itself has 650 MB.
const MAX_BYTES: u64 = 1024 * 1024 * 1024;

/// Files that a workload can name.
#[utoipa::path(get, path = "/api/v1/datasets", operation_id = "list_datasets", tag = "datasets", responses((status = 200, body = Vec<schema::DatasetRow>)))]
pub async fn list(State(edge): State<Edge>, Who(actor): Who) -> ApiResult<Json<Vec<DatasetRow>>> {
    Ok(Json(edge.studio.datasets(&actor).await?))
}

/// Upload a file: ShareGPT conversations, prompts, a trace, or a `tokenizer.json`, at most 1 GiB. A file of the same name is replaced.
///
/// What it is, is seen by its content. It is read to its end first; one that cannot be read is refused with the line and the mend,
/// and the earlier one stays. The content type is `application/json` whatever the file is.
#[utoipa::path(put, path = "/api/v1/datasets/{file}", operation_id = "upload_dataset", tag = "datasets", params(("file" = String, Path)),
    request_body(content = Object, content_type = "application/json"),
    responses((status = 200, body = schema::DatasetRow), (status = 413, body = Problem), (status = 422, body = Problem), (status = 507, body = Problem)))]
pub async fn upload(
    State(edge): State<Edge>,
    Who(_): Who,
    Path(file): Path<String>,
    body: Body,
) -> ApiResult<(StatusCode, Json<DatasetRow>)> {
    if !is_file_name(&file) {
        let message = "a file name has letters, digits, dots, dashes and underscores only, does not begin with a dot, and has at most 120 signs";
        return Err(invalid("file", message).into());
    }
    let folder = edge.studio.datasets_dir();
    // Not seen by anyone until it is whole; gone when anything fails.
    let part = Part(folder.join(format!(".upload-{}", Uuid::now_v7())));
    let bytes = receive(&part.0, body).await?;
    let found = check_form(&part.0, &file).await?;
    let kept = folder.join(&file);
    tokio::fs::rename(&part.0, &kept).await.map_err(unwritten)?;
    let remembered = tokio::task::spawn_blocking(move || remember(&kept, found));
    remembered.await.map_err(internal)?;
    let Inspected { kind, rows } = found;
    let (kind, rows) = (Some(kind), Some(rows));
    Ok((
        StatusCode::OK,
        Json(DatasetRow {
            file,
            bytes,
            kind,
            rows,
        }),
    ))
}

struct Part(PathBuf);

impl Drop for Part {
    fn drop(&mut self) {
        // Renamed when all went well: then there is nothing to remove.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Streams a body into a file and counts its bytes.
async fn receive(path: &FilePath, body: Body) -> Result<u64, ApiError> {
    let mut file = tokio::fs::File::create(path).await.map_err(unwritten)?;
    let mut stream = body.into_data_stream();
    let mut bytes = 0;
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_| ApiError::BadRequest("the upload broke off".into()))?;
        bytes += chunk.len() as u64;
        if MAX_BYTES < bytes {
            return Err(ApiError::TooLarge(
                "a data set has at most 1 GiB; cut it".into(),
            ));
        }
        // No text has it: nobody waits for a gigabyte of an archive.
        if chunk.contains(&0) {
            return Err(invalid("file", "the file is no text; unpack or convert it first").into());
        }
        file.write_all(&chunk).await.map_err(unwritten)?;
    }
    file.sync_all().await.map_err(unwritten)?;
    Ok(bytes)
}

/// Reads the new file whole before it takes the place of an old one.
async fn check_form(path: &FilePath, file: &str) -> Result<Inspected, ApiError> {
    let (path, named) = (path.to_owned(), file.to_owned());
    let turn = dataset::turn().await;
    let checked = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        load::inspect(&path, &named)
    });
    match checked.await {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(wrong)) => Err(invalid("file", &sentence(&wrong)).into()),
        Err(cause) => Err(internal(cause).into()),
    }
}

fn invalid(field: &str, message: &str) -> StudioError {
    StudioError::Invalid {
        fields: vec![FieldError {
            field: field.into(),
            message: message.into(),
        }],
    }
}

/// A name within the folder: never a path, never hidden.
fn is_file_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    !name.is_empty() && !name.starts_with('.') && name.len() <= 120 && name.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;

    #[test]
    fn a_full_disk_is_said_in_a_sentence() {
        let error = unwritten(ErrorKind::StorageFull.into());
        assert_eq!(error.status().0, StatusCode::INSUFFICIENT_STORAGE);
        assert!(error.to_string().contains("free space"), "{error}");
    }

    #[test]
    fn a_name_never_leaves_the_folder() {
        for good in ["ShareGPT_V3-unfiltered.json", "trace.csv", "prompts"] {
            assert!(is_file_name(good), "{good}");
        }
        for bad in [
            "../x.json",
            "/etc/x.json",
            "a/b.json",
            ".hidden.json",
            "..",
            "",
            "a\\b.json",
            "ä.json",
        ] {
            assert!(!is_file_name(bad), "{bad}");
        }
    }
}
