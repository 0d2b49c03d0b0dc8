//! What is sent, read with errors at fields.

use app::api::objects::Objects;
use app::studio::StudioError;
use axum::extract::path::ErrorKind;
use axum::extract::rejection::{BytesRejection, FailedToBufferBody, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use bytes::Bytes;
use measure::study::FieldError;
use serde::de::DeserializeOwned;

use crate::error::ApiError;

/// A JSON body. What does not fit is a 422 that names the field.
pub struct Json<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = ApiError;
    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let bytes = Bytes::from_request(request, state).await.map_err(unread)?;
        read(&bytes).map(Self)
    }
}

/// Why a body did not come whole.
fn unread(why: BytesRejection) -> ApiError {
    match why {
        BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)) => {
            ApiError::too_large()
        }
        _ => ApiError::BadRequest("the body broke off; send it again".into()),
    }
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(Objects(&mut json)).map_err(|error| {
        let field = error.path().to_string();
        let inner = error.into_inner();
        match inner.classify() {
            serde_json::error::Category::Data => at_field(field, &inner),
            _ => ApiError::BadRequest(format!("the body is not JSON: {inner}")),
        }
    })?;
    json.end()
        .map_err(|error| ApiError::BadRequest(format!("the body is not JSON: {error}")))?;
    Ok(value)
}

fn at_field(field: String, error: &serde_json::Error) -> ApiError {
    // The place in the text means nothing once the field is named.
    let place = format!(" at line {} column {}", error.line(), error.column());
    let message = error.to_string().replace(&place, "");
    // serde_path_to_error writes "." for the body itself.
    let field = if field == "." { "body".into() } else { field };
    StudioError::Invalid {
        fields: vec![FieldError { field, message }],
    }
    .into()
}

/// Parts of the address. What does not fit is a 404.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(ApiError))]
pub struct Path<T>(pub T);

/// The query. What does not fit is a 400.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(ApiError))]
pub struct Query<T>(pub T);

impl From<PathRejection> for ApiError {
    fn from(rejection: PathRejection) -> Self {
        let PathRejection::FailedToDeserializePathParams(failed) = rejection else {
            return Self::NotFound("no such address".into());
        };
        Self::NotFound(match failed.kind() {
            ErrorKind::ParseError { value, .. }
            | ErrorKind::ParseErrorAtIndex { value, .. }
            | ErrorKind::ParseErrorAtKey { value, .. }
            | ErrorKind::DeserializeError { value, .. } => format!(
                "no such address: {value:?} is no id; ids look like 018f3c1e-7a2b-7c3d-8e4f-5a6b7c8d9e0f"
            ),
            _ => "no such address".into(),
        })
    }
}

impl From<QueryRejection> for ApiError {
    fn from(rejection: QueryRejection) -> Self {
        Self::BadRequest(rejection.body_text().to_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use measure::study::PointLength;

    use super::*;

    #[track_caller]
    fn refused(body: &str, status: u16, expected: &str) {
        let error = read::<Vec<PointLength>>(body.as_bytes()).expect_err("refused");
        assert_eq!(
            (error.status().0.as_u16(), error.to_string().as_str()),
            (status, expected)
        );
    }

    #[test]
    fn an_error_names_its_field() {
        refused(
            r#"[{"min_requests": 1, "max_requests": -1, "seconds": 3}]"#,
            422,
            "[0].max_requests: invalid value: integer `-1`, expected u32",
        );
        refused("{}", 422, "body: invalid type: map, expected a sequence");
    }

    #[test]
    fn what_nobody_asks_for_is_refused_by_its_name() {
        refused(
            r#"[{"min_requests": 1, "max_requests": 1, "seconds": 3, "minutes": 1}]"#,
            422,
            "[0].minutes: unknown field `minutes`, expected one of `min_requests`, `max_requests`, `seconds`",
        );
    }

    #[test]
    fn an_array_is_no_object_with_its_fields_in_order() {
        refused(
            "[[1, 2, 3]]",
            422,
            "[0]: invalid type: array, expected an object",
        );
    }

    #[test]
    fn what_is_no_json_is_said_to_be_none() {
        refused(
            "",
            400,
            "the body is not JSON: EOF while parsing a value at line 1 column 0",
        );
        refused(
            "[] []",
            400,
            "the body is not JSON: trailing characters at line 1 column 4",
        );
    }
}
