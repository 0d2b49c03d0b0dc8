//! Uploads a file into the studio's data set folder: conversations, prompts, a trace, a tokenizer.

use leptos::prelude::*;

use super::form::Form;
use super::shared::Datasets;
use crate::browser::read_json;
use crate::studio::DatasetRow;
use crate::ui::erased::Erase;
use crate::ui::upload;

/// A button that takes a file, sends it, and puts it where one of its kind belongs.
#[component]
pub fn Upload(
    /// The form.
    form: Form,
    /// The list that it then stands in.
    datasets: Datasets,
) -> impl IntoView {
    let target = Callback::new(move |name: String| {
        let model = form
            .draft
            .with_untracked(|draft| draft.endpoint.model.clone());
        let name = js_sys::encode_uri_component(&kept_name(name, &model));
        ("PUT", format!("/api/v1/datasets/{name}"))
    });
    let done = Callback::new(move |answer: String| {
        let DatasetRow { file, kind, .. } = read_json(&answer).map_err(|why| why.to_string())?;
        datasets.refresh();
        form.draft.update(|draft| draft.take_file(file, kind));
        Ok(())
    });
    view! { <upload::Upload label="Upload a file…" target done /> }.erased()
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
