//! How the server answers: with the studio that it provides, in JSON.

use std::sync::Arc;

use leptos::prelude::use_context;
use leptos::server_fn::codec::{JsonEncoding, Post};
use leptos::server_fn::error::{FromServerFnError, ServerFnErrorErr};
use leptos::server_fn::{Bytes, ContentType, Decodes, Encodes, Format, FormatType};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Answer;
use crate::status::{set_status, status_of};
use crate::studio::{Actor, Studio, StudioError};

/// Whoever holds the page is the owner: the edge lets nobody else through to a server function.
pub const OWNER: &Actor = &Actor::Owner;

/// The world, as the server provides it.
pub fn studio() -> Answer<Arc<dyn Studio>> {
    use_context().ok_or(StudioError::Internal)
}

/// Hands an answer on, its error with a fitting status.
pub fn told<T>(answer: Answer<T>) -> Answer<T> {
    if let Err(error) = &answer {
        set_status(status_of(error));
    }
    answer
}

/// How server functions are asked and answer.
pub type Wire = Post<Json>;

/// JSON, errors too.
pub struct Json;

impl ContentType for Json {
    const CONTENT_TYPE: &'static str = JsonEncoding::CONTENT_TYPE;
}

impl FormatType for Json {
    const FORMAT_TYPE: Format = Format::Text;
}

impl<T: Serialize> Encodes<T> for Json {
    type Error = serde_json::Error;

    fn encode(output: &T) -> Result<Bytes, serde_json::Error> {
        <JsonEncoding as Encodes<T>>::encode(output)
    }
}

impl<T: DeserializeOwned> Decodes<T> for Json {
    type Error = serde_json::Error;

    fn decode(bytes: Bytes) -> Result<T, serde_json::Error> {
        <JsonEncoding as Decodes<T>>::decode(bytes)
    }
}

impl FromServerFnError for StudioError {
    type Encoder = Json;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        match error {
            ServerFnErrorErr::Request(_) => Self::silent(),
            ServerFnErrorErr::Args(_)
            | ServerFnErrorErr::MissingArg(_)
            | ServerFnErrorErr::Deserialization(_) => Self::estranged(),
            _ => Self::Internal,
        }
    }
}
