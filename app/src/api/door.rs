//! How the server answers: with the studio that it provides, in JSON.

use std::sync::Arc;

use leptos::prelude::use_context;
use leptos::server_fn::codec::{JsonEncoding, Post};
use leptos::server_fn::error::{FromServerFnError, ServerFnErrorErr};
use leptos::server_fn::{Bytes, ContentType, Decodes, Encodes, Format, FormatType};
use measure::study::FieldError;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Answer;
use super::objects::Objects;
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
        let mut json = serde_json::Deserializer::from_slice(&bytes);
        let value = T::deserialize(Objects(&mut json))?;
        json.end().map(|()| value)
    }
}

impl FromServerFnError for StudioError {
    type Encoder = Json;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        let error = match error {
            ServerFnErrorErr::Request(_) => Self::silent(),
            ServerFnErrorErr::Args(why)
            | ServerFnErrorErr::MissingArg(why)
            | ServerFnErrorErr::Deserialization(why) => unreadable(&why),
            _ => Self::Internal,
        };
        // Left alone, each would be a 500.
        set_status(status_of(&error));
        error
    }
}

/// What a page sent that is no longer, or not yet, what this server asks for.
fn unreadable(why: &str) -> StudioError {
    let message = format!("they cannot be read ({why}); reload the page");
    StudioError::Invalid {
        fields: vec![FieldError {
            field: "arguments".into(),
            message,
        }],
    }
}
