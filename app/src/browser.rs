//! What the browser lends: its reader of JSON and its letters. The module carries neither a second time.
//!
//! The server, and tests, do the same with Rust's own.

use serde::de::DeserializeOwned;

/// JSON that is not what it should be, in the reader's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unread(String);

/// Reads a value from JSON.
#[cfg(not(target_arch = "wasm32"))]
pub fn read_json<T: DeserializeOwned>(text: &str) -> Result<T, Unread> {
    serde_json::from_str(text).map_err(|error| Unread(error.to_string()))
}

/// Reads a value from JSON. Numbers are JavaScript's: what may exceed 2^53 is sent as text.
#[cfg(target_arch = "wasm32")]
pub fn read_json<T: DeserializeOwned>(text: &str) -> Result<T, Unread> {
    let value = js_sys::JSON::parse(text).map_err(|_| Unread("not JSON".into()))?;
    serde_wasm_bindgen::from_value(value).map_err(|error| Unread(error.to_string()))
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
