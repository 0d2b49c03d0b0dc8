//! A button that takes a file and sends it to the studio.

use leptos::html;
use leptos::prelude::*;
use serde::Deserialize;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use crate::browser::read_json;
use crate::ui::erased::{Erase, shared};

/// Why an upload failed, as the server tells it.
#[derive(Deserialize)]
struct Problem {
    message: String,
}

/// Where a file of some name is sent to, and by which method.
pub type Target = (&'static str, String);

/// The button.
#[component]
pub fn Upload(
    /// What it says.
    label: &'static str,
    /// Where a file of this name goes.
    target: Callback<String, Target>,
    /// What to do with the answer; an error is said.
    done: Callback<String, Result<(), String>>,
) -> impl IntoView {
    let (busy, problem) = (RwSignal::new(false), RwSignal::new(None::<String>));
    let input = NodeRef::<html::Input>::new();
    let chosen = move |_| {
        let Some(file) = input.get().and_then(|input| first_file(&input)) else {
            return;
        };
        busy.set(true);
        problem.set(None);
        let target = target.run(name_of(&file));
        leptos::task::spawn_local(async move {
            let sent = send(&file, &target).await;
            problem.set(sent.and_then(|answer| done.run(answer)).err());
            busy.set(false);
            if let Some(input) = input.get() {
                input.set_value("");
            }
        });
    };
    view! {
        <div class="field">
            <label class="button" aria-busy=move || busy.get().to_string()>
                <input node_ref=input class="sr-only" type="file" on:change=chosen />
                {label}
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

fn name_of(file: &JsValue) -> String {
    let name = js_sys::Reflect::get(file, &"name".into());
    name.ok()
        .and_then(|name| name.as_string())
        .unwrap_or_default()
}

/// Sends a file and returns what is answered.
async fn send(file: &JsValue, target: &Target) -> Result<String, String> {
    let response = sent(target, file)
        .await
        .map_err(|_| "the studio did not answer: is it still running?".to_owned())?;
    let answer = text(&response).await.unwrap_or_default();
    if response.ok() {
        return Ok(answer);
    }
    let told = read_json::<Problem>(&answer);
    told.map(|problem| problem.message)
        .map_err(|_| {
            format!(
                "the studio refused the file with status {}",
                response.status()
            )
        })
        .and_then(Err)
}

async fn sent((method, address): &Target, body: &JsValue) -> Result<web_sys::Response, JsValue> {
    let options = web_sys::RequestInit::new();
    options.set_method(method);
    options.set_body(body);
    let request = web_sys::Request::new_with_str_and_init(address, &options)?;
    request.headers().set("content-type", "application/json")?;
    JsFuture::from(window().fetch_with_request(&request))
        .await?
        .dyn_into()
}

async fn text(response: &web_sys::Response) -> Option<String> {
    let text = JsFuture::from(response.text().ok()?).await.ok()?;
    text.as_string()
}
