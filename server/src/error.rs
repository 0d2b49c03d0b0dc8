//! What an API caller is told. The only place where errors become statuses.

use app::pages::{explained, heading, sentence};
use app::studio::StudioError;
use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use measure::study::FieldError;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::bundle::{BundleError, ExportError};
use crate::studio::{conflict, internal, missing, unreadable};

/// Every handler's result.
pub type ApiResult<T> = Result<T, ApiError>;

/// The body of every error: a word for programs, a sentence for people, and errors at fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// One word for programs: `not_found`, `invalid`, `conflict`, `forbidden`, `engine`, `internal`, ...
    pub error: String,
    /// One sentence for people.
    pub message: String,
    /// Errors at fields of what was sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<ProblemField>,
}

/// An error at a field: `levels[2]`, `configurations[1].knobs`, `slo`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProblemField {
    /// The field.
    pub field: String,
    /// What is wrong, and the mend.
    pub message: String,
}

/// Why a request was not served.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The studio says no.
    #[error(transparent)]
    Studio(StudioError),
    /// No such address, or a file that is not there.
    #[error("{0}")]
    NotFound(String),
    /// What was sent cannot be read.
    #[error("{0}")]
    BadRequest(String),
    /// No access token, or a wrong one.
    #[error(
        "an access token is needed: send it as `Authorization: Bearer TOKEN`, or sign in at /login"
    )]
    Unauthorized,
    /// A guard refuses.
    #[error("{0}")]
    Forbidden(String),
    /// Not a host name of ours.
    #[error("{0}")]
    WrongHost(String),
    /// Unsafe methods take JSON only.
    #[error("{0}")]
    WrongType(String),
    /// A body beyond its limit.
    #[error("{0}")]
    TooLarge(String),
    /// Too many tries.
    #[error("too many requests; try again in {0} seconds")]
    TooMany(u64),
}

impl From<StudioError> for ApiError {
    fn from(error: StudioError) -> Self {
        Self::Studio(error)
    }
}

impl From<BundleError> for ApiError {
    fn from(error: BundleError) -> Self {
        match error {
            BundleError::TooLarge(_) => Self::TooLarge(error.to_string()),
            BundleError::Taken => conflict(error.to_string()).into(),
            BundleError::Disk(cause) => unwritten(cause),
            BundleError::Store(cause) => internal(cause).into(),
            other => Self::BadRequest(other.to_string()),
        }
    }
}

impl From<ExportError> for ApiError {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Missing => missing("study").into(),
            ExportError::Unfinished | ExportError::Large { .. } => {
                conflict(error.to_string()).into()
            }
            ExportError::Disk(cause) => unwritten(cause),
            ExportError::Unreadable(_) => unreadable(&error).into(),
            ExportError::Store(cause) => internal(cause).into(),
        }
    }
}

impl ApiError {
    /// The limit of every body but a data set.
    pub fn too_large() -> Self {
        Self::TooLarge("the body is larger than 1 MiB; send less at once".into())
    }

    /// Its status and its word.
    pub fn status(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Studio(error) => studio_status(error),
            Self::NotFound(_) => (StatusCode::NOT_FOUND, "not_found"),
            Self::BadRequest(_) => (StatusCode::BAD_REQUEST, "bad_request"),
            Self::Unauthorized => (StatusCode::UNAUTHORIZED, "unauthorized"),
            Self::Forbidden(_) => (StatusCode::FORBIDDEN, "forbidden"),
            Self::WrongHost(_) => (StatusCode::MISDIRECTED_REQUEST, "wrong_host"),
            Self::WrongType(_) => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "wrong_type"),
            Self::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
            Self::TooMany(_) => (StatusCode::TOO_MANY_REQUESTS, "too_many"),
        }
    }

    fn fields(&self) -> Vec<ProblemField> {
        let Self::Studio(StudioError::Invalid { fields }) = self else {
            return Vec::new();
        };
        fields
            .iter()
            .cloned()
            .map(|FieldError { field, message }| ProblemField { field, message })
            .collect()
    }
}

/// Whether the disk has no room.
pub(crate) fn is_full(cause: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(
        cause.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
    )
}

/// What was to be kept on disk was not.
pub(crate) fn unwritten(cause: std::io::Error) -> ApiError {
    if is_full(&cause) {
        return StudioError::Full.into();
    }
    internal(cause).into()
}

fn studio_status(error: &StudioError) -> (StatusCode, &'static str) {
    match error {
        StudioError::NotFound { .. } => (StatusCode::NOT_FOUND, "not_found"),
        StudioError::Invalid { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
        StudioError::Conflict { .. } => (StatusCode::CONFLICT, "conflict"),
        StudioError::Forbidden { .. } => (StatusCode::FORBIDDEN, "forbidden"),
        StudioError::Engine { .. } => (StatusCode::BAD_GATEWAY, "engine"),
        StudioError::Full => (StatusCode::INSUFFICIENT_STORAGE, "full"),
        StudioError::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
    }
}

/// What a refusal says, for whoever asked for a page: lies beside the answer.
#[derive(Clone, Debug)]
pub struct Told {
    /// A few words.
    pub heading: &'static str,
    /// One sentence.
    pub sentence: String,
}

impl Told {
    fn of(error: &ApiError) -> Self {
        match error {
            ApiError::Studio(error) => Self {
                heading: heading(error),
                sentence: explained(error),
            },
            other => Self {
                heading: match other {
                    ApiError::NotFound(_) => "Not found",
                    ApiError::TooMany(_) => "Too many at once",
                    ApiError::Unauthorized | ApiError::Forbidden(_) => "Not allowed",
                    _ => "That does not work",
                },
                sentence: sentence(&other.to_string()),
            },
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, error) = self.status();
        let problem = Problem {
            error: error.to_owned(),
            message: self.to_string(),
            fields: self.fields(),
        };
        let mut response = (status, Json(problem)).into_response();
        response.extensions_mut().insert(Told::of(&self));
        match self {
            Self::TooMany(seconds) => {
                response
                    .headers_mut()
                    .insert(header::RETRY_AFTER, seconds.into());
            }
            Self::Unauthorized => {
                let scheme = header::HeaderValue::from_static("Bearer");
                response
                    .headers_mut()
                    .insert(header::WWW_AUTHENTICATE, scheme);
            }
            _ => {}
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(error: ApiError, status: u16, word: &str) {
        let (got, name) = error.status();
        assert_eq!((got.as_u16(), name), (status, word));
    }

    #[test]
    fn each_error_has_its_status() {
        let text = || "x".to_owned();
        check(
            StudioError::NotFound { what: text() }.into(),
            404,
            "not_found",
        );
        check(
            StudioError::Invalid { fields: vec![] }.into(),
            422,
            "invalid",
        );
        check(
            StudioError::Conflict { message: text() }.into(),
            409,
            "conflict",
        );
        check(
            StudioError::Forbidden { message: text() }.into(),
            403,
            "forbidden",
        );
        check(
            StudioError::Engine { message: text() }.into(),
            502,
            "engine",
        );
        check(StudioError::Full.into(), 507, "full");
        check(StudioError::Internal.into(), 500, "internal");
        check(ApiError::Unauthorized, 401, "unauthorized");
        check(ApiError::WrongHost(text()), 421, "wrong_host");
        check(ApiError::WrongType(text()), 415, "wrong_type");
        check(ApiError::TooLarge(text()), 413, "too_large");
        check(ApiError::TooMany(3), 429, "too_many");
    }

    #[test]
    fn errors_at_fields_reach_the_caller() {
        let fields = vec![FieldError {
            field: "levels[2]".into(),
            message: "must be above 0".into(),
        }];
        let problem = ApiError::from(StudioError::Invalid { fields });
        assert_eq!(problem.fields()[0].field, "levels[2]");
        assert_eq!(problem.to_string(), "levels[2]: must be above 0");
    }
}
