//! What is done otherwise in the browser, so that its module stays small: JSON is read and written by code of our own, and
//! letters are the browser's.
//!
//! The server does the same with what is usual.

#[cfg(any(target_arch = "wasm32", test))]
mod json; // JSON in little code
pub mod notify; // notifications

mod stopped; // a page that can do nothing more

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use stopped::say_when_stopped;

/// JSON that is not what it should be, in the reader's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unread(String);

/// Reads a value from JSON.
#[cfg(not(target_arch = "wasm32"))]
pub fn read_json<T: DeserializeOwned>(text: &str) -> Result<T, Unread> {
    serde_json::from_str(text).map_err(|error| Unread(error.to_string()))
}

/// Reads a value from JSON.
#[cfg(target_arch = "wasm32")]
pub fn read_json<T: DeserializeOwned>(text: &str) -> Result<T, Unread> {
    json::from_str(text).map_err(|error| Unread(error.to_string()))
}

/// A value as JSON. Of what cannot be written nothing is there, and none of our types is such.
#[cfg(not(target_arch = "wasm32"))]
pub fn write_json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".into())
}

/// A value as JSON.
#[cfg(target_arch = "wasm32")]
pub fn write_json<T: Serialize + ?Sized>(value: &T) -> String {
    json::to_string(value)
}

/// A letter as it stands at the beginning of a sentence.
#[cfg(not(target_arch = "wasm32"))]
pub fn large(letter: char) -> String {
    letter.to_uppercase().collect()
}

/// A letter as it stands at the beginning of a sentence.
#[cfg(target_arch = "wasm32")]
pub fn large(letter: char) -> String {
    js_sys::JsString::from(letter.to_string())
        .to_upper_case()
        .into()
}
