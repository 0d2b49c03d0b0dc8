//! How the browser asks a server function: one way for all of them, apart from reading what comes back.

use leptos::prelude::window;
use send_wrapper::SendWrapper;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, Request, RequestInit, Response};

use super::Answer;
use crate::browser::read_json;
use crate::studio::StudioError;

/// Asks the function under `/fn/{path}`, and gives the text of its answer. Whoever no longer waits for it takes the
/// question back.
pub async fn asked(path: &str, arguments: String) -> Answer<String> {
    let asking = AbortController::new().ok().map(Asking);
    // What is the browser's stays on its one thread.
    let answer = SendWrapper::new(sent(path, arguments, asking));
    match answer.await {
        Ok((true, text)) => Ok(text),
        Ok((false, text)) => Err(read_json(&text).unwrap_or_else(|_| StudioError::estranged())),
        Err(_) => Err(StudioError::silent()),
    }
}

/// A question under way, taken back when nobody waits for it any longer.
struct Asking(AbortController);

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Whether the answer is a good one, and its text.
async fn sent(
    path: &str,
    arguments: String,
    asking: Option<Asking>,
) -> Result<(bool, String), JsValue> {
    let options = RequestInit::new();
    options.set_method("POST");
    options.set_body(&arguments.into());
    if let Some(Asking(controller)) = &asking {
        options.set_signal(Some(&controller.signal()));
    }
    let request = Request::new_with_str_and_init(&format!("/fn/{path}"), &options)?;
    for header in ["content-type", "accept"] {
        request.headers().set(header, "application/json")?;
    }
    let response = JsFuture::from(window().fetch_with_request(&request)).await?;
    let response: Response = response.dyn_into()?;
    let text = JsFuture::from(response.text()?).await?;
    Ok((
        response.status() < 400,
        text.as_string().unwrap_or_default(),
    ))
}

/// Reads an answer.
pub fn answer<T: DeserializeOwned>(text: Answer<String>) -> Answer<T> {
    read_json(&text?).map_err(|_| StudioError::estranged())
}
