//! Refusals in vLLM's words and shape: `{"error":{"message","type","param","code"}}`.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// Why a request is not served.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Refusal {
    /// The body is not JSON.
    NotJson { cause: String },
    /// A field has the wrong type.
    WrongType {
        field: String,
        allowed: &'static str,
    },
    /// A field's value is out of range.
    BadValue {
        field: &'static str,
        message: String,
        value: i64,
    },
    /// Another model's name.
    UnknownModel { asked: String, served: String },
    /// Prompt, or prompt and answer, exceed the context.
    TooLong {
        context: u32,
        input: usize,
        output: Option<u32>,
    },
    /// The queue is full, or the engine is stopping.
    Busy,
}

impl Refusal {
    fn status(&self) -> StatusCode {
        match self {
            Self::UnknownModel { .. } => StatusCode::NOT_FOUND,
            Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::BAD_REQUEST,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::NotJson { .. } | Self::WrongType { .. } => "Bad Request",
            Self::BadValue { .. } | Self::TooLong { .. } => "BadRequestError",
            Self::UnknownModel { .. } => "NotFoundError",
            Self::Busy => "Service Unavailable",
        }
    }

    fn param(&self) -> Option<String> {
        match self {
            Self::WrongType { field, .. } => Some(format!("body.{field}")),
            Self::BadValue { field, .. } => Some((*field).to_owned()),
            Self::UnknownModel { .. } => Some("model".to_owned()),
            Self::TooLong { .. } => Some("input_tokens".to_owned()),
            Self::NotJson { .. } | Self::Busy => None,
        }
    }

    fn message(&self) -> String {
        match self {
            Self::NotJson { cause } => {
                format!("1 validation error:\n  {{'type': 'json_invalid', 'loc': 'body', 'msg': 'JSON decode error: {cause}'}}")
            }
            Self::WrongType { field, allowed } => {
                format!("1 validation error:\n  {{'type': 'wrong_type', 'loc': 'body.{field}', 'msg': 'Input should be {allowed}'}}")
            }
            Self::BadValue { field, message, value } => {
                format!("{message} (parameter={field}, value={value})")
            }
            Self::UnknownModel { asked, served } => {
                format!("The model `{asked}` does not exist. Valid aliases: {served}.")
            }
            Self::TooLong { context, input, output } => too_long(*context, *input, *output),
            Self::Busy => "The engine is currently busy and cannot accept new requests. Please try again later or on a \
                           different instance."
                .to_owned(),
        }
    }
}

fn too_long(context: u32, input: usize, output: Option<u32>) -> String {
    let limit = format!("This model's maximum context length is {context} tokens. However, ");
    match output {
        None => format!(
            "{limit}your prompt contains at least {input} input tokens, which exceeds this limit even without any output \
             tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value={input})"
        ),
        Some(output) => format!(
            "{limit}you requested {output} output tokens and your prompt contains at least {input} input tokens, for a \
             total of at least {} tokens. Please reduce the length of the input prompt or the number of requested output \
             tokens. (parameter=input_tokens, value={input})",
            input as u64 + u64::from(output)
        ),
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = self.status();
        let error = json!({
            "message": self.message(), "type": self.kind(), "param": self.param(), "code": status.as_u16(),
        });
        (status, Json(json!({ "error": error }))).into_response()
    }
}
