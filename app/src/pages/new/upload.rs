//! Uploads a ShareGPT file into the studio's data set folder.

use crate::browser::read_json;
use crate::ui::erased::{Erase, shared};
use leptos::html;
use leptos::prelude::*;

use serde::Deserialize;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

/// Why an upload failed, as the server tells it.
#[derive(Deserialize)]
struct Problem {
    message: String,
}

/// A button that takes a file, sends it, and tells its name.
#[component]
pub fn Upload(
    /// Called with the file's name once it is on the server.
    uploaded: Callback<String>,
) -> impl IntoView {
    let (busy, problem) = (RwSignal::new(false), RwSignal::new(None::<String>));
    let input = NodeRef::<html::Input>::new();
    let chosen = move |_| {
        let Some(file) = input.get().and_then(|input| first_file(&input)) else {
            return;
        };
        busy.set(true);
        problem.set(None);
        leptos::task::spawn_local(async move {
            match send(&file).await {
                Ok(name) => uploaded.run(name),
                Err(why) => problem.set(Some(why)),
            }
            busy.set(false);
            if let Some(input) = input.get() {
                input.set_value("");
            }
        });
    };
    view! {
        <div class="field">
            <label class="button" aria-busy=move || busy.get().to_string()>
                <input node_ref=input class="sr-only" type="file" accept=".json,application/json" on:change=chosen />
                "Upload a file…"
            </label>
            <p class="error" role="alert" hidden=move || problem.get().is_none()>
                {shared(move || problem.get())}
            </p>
        </div>
    }
    .erased()
}

/// The file that was chosen. Read by name, since the typed bindings for file lists are not compiled in.
fn first_file(input: &web_sys::HtmlInputElement) -> Option<JsValue> {
    let files = js_sys::Reflect::get(input, &"files".into()).ok()?;
    js_sys::Reflect::get_u32(&files, 0)
        .ok()
        .filter(JsValue::is_object)
}

/// Sends a file and returns the name under which it is known.
async fn send(file: &JsValue) -> Result<String, String> {
    let name = js_sys::Reflect::get(file, &"name".into())
        .ok()
        .and_then(|name| name.as_string())
        .unwrap_or_default();
    let address = format!("/api/v1/datasets/{}", js_sys::encode_uri_component(&name));
    let response = put(&address, file)
        .await
        .map_err(|_| "the studio did not answer: is it still running?".to_owned())?;
    if response.ok() {
        return Ok(name);
    }
    Err(why_not(&response).await.unwrap_or_else(|| {
        format!(
            "the studio refused the file with status {}",
            response.status()
        )
    }))
}

async fn put(address: &str, body: &JsValue) -> Result<web_sys::Response, JsValue> {
    let options = web_sys::RequestInit::new();
    options.set_method("PUT");
    options.set_body(body);
    let request = web_sys::Request::new_with_str_and_init(address, &options)?;
    request.headers().set("content-type", "application/json")?;
    JsFuture::from(window().fetch_with_request(&request))
        .await?
        .dyn_into()
}

async fn why_not(response: &web_sys::Response) -> Option<String> {
    let text = JsFuture::from(response.text().ok()?)
        .await
        .ok()?
        .as_string()?;
    read_json::<Problem>(&text)
        .ok()
        .map(|problem| problem.message)
}
