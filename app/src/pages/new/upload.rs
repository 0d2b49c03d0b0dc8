//! Uploads a file into the studio's data set folder: conversations, prompts, a trace, a tokenizer.

use super::form::Form;
use super::shared::Datasets;
use crate::browser::read_json;
use crate::studio::DatasetRow;
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

/// A button that takes a file, sends it, and puts it where one of its kind belongs.
#[component]
pub fn Upload(
    /// The form.
    form: Form,
    /// The list that it then stands in.
    datasets: Datasets,
) -> impl IntoView {
    let (busy, problem) = (RwSignal::new(false), RwSignal::new(None::<String>));
    let input = NodeRef::<html::Input>::new();
    let chosen = move |_| {
        let Some(file) = input.get().and_then(|input| first_file(&input)) else {
            return;
        };
        busy.set(true);
        problem.set(None);
        let model = form
            .draft
            .with_untracked(|draft| draft.endpoint.model.clone());
        leptos::task::spawn_local(async move {
            match send(&file, &model).await {
                Ok(DatasetRow { file, kind, .. }) => {
                    datasets.refresh();
                    form.draft.update(|draft| draft.take_file(file, kind));
                }
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
                <input node_ref=input class="sr-only" type="file" on:change=chosen />
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

/// Every model's tokenizer is called alike: it is kept under the model's name, where that is known.
fn kept_name(name: String, model: &str) -> String {
    let model = model.rsplit('/').next().unwrap_or_default();
    if name != "tokenizer.json" || model.is_empty() {
        return name;
    }
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '.' {
            c
        } else {
            '-'
        }
    };
    format!("{}-{name}", model.chars().map(plain).collect::<String>())
}

/// Sends a file and returns what it is.
async fn send(file: &JsValue, model: &str) -> Result<DatasetRow, String> {
    let name = js_sys::Reflect::get(file, &"name".into())
        .ok()
        .and_then(|name| name.as_string())
        .unwrap_or_default();
    let name = kept_name(name, model);
    let address = format!("/api/v1/datasets/{}", js_sys::encode_uri_component(&name));
    let response = put(&address, file)
        .await
        .map_err(|_| "the studio did not answer: is it still running?".to_owned())?;
    let answer = text(&response).await.unwrap_or_default();
    if response.ok() {
        return read_json(&answer).map_err(|why| why.to_string());
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

async fn text(response: &web_sys::Response) -> Option<String> {
    let text = JsFuture::from(response.text().ok()?).await.ok()?;
    text.as_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tokenizer_is_kept_under_its_models_name() {
        for (name, model, expected) in [
            (
                "tokenizer.json",
                "meta/Llama-3 8B",
                "Llama-3-8B-tokenizer.json",
            ),
            ("tokenizer.json", "", "tokenizer.json"),
            ("conv.csv", "m", "conv.csv"),
        ] {
            assert_eq!(kept_name(name.into(), model), expected);
        }
    }
}
