//! Where the engines of each dialect list their models, and their lists in one form: that of `/v1/models`.

use measure::study::Api;
use reqwest::Method;
use serde_json::{Value, json};

/// Where the list is.
pub(super) fn place(api: Api) -> (Method, &'static str) {
    match api {
        Api::OllamaChat => (Method::GET, "api/tags"),
        Api::TgiGenerateStream => (Method::GET, "info"),
        Api::TritonGenerateStream => (Method::POST, "v2/repository/index"),
        _ => (Method::GET, "v1/models"),
    }
}

/// Where the version is.
pub(super) fn version(api: Api) -> &'static str {
    match api {
        Api::OllamaChat => "api/version",
        Api::TritonGenerateStream => "v2",
        _ => "version",
    }
}

/// Whether nothing but its own engine speaks the dialect, so that other engines' reports need not be asked for.
pub(super) fn is_foreign(api: Api) -> bool {
    matches!(
        api,
        Api::OllamaChat | Api::TgiGenerateStream | Api::TritonGenerateStream
    )
}

/// A list as `/v1/models` would have it; `None` when it is none.
pub(super) fn models(api: Api, answer: Value) -> Option<Value> {
    let owned = |names: Vec<&Value>, owner: &str| {
        let data = names
            .into_iter()
            .map(|name| json!({ "id": name, "owned_by": owner }));
        json!({ "data": data.collect::<Vec<_>>() })
    };
    Some(match api {
        Api::OllamaChat => {
            let models = answer["models"].as_array()?;
            owned(
                models.iter().map(|model| &model["name"]).collect(),
                "ollama",
            )
        }
        Api::TritonGenerateStream => {
            let ready = |model: &&Value| model["state"].as_str().is_none_or(|it| it == "READY");
            let models = answer.as_array()?.iter().filter(ready);
            owned(models.map(|model| &model["name"]).collect(), "triton")
        }
        Api::TgiGenerateStream => {
            let id = answer["model_id"].as_str()?;
            let (length, most) = (
                &answer["max_total_tokens"],
                &answer["max_concurrent_requests"],
            );
            json!({ "data": [{
                "id": id,
                "owned_by": "tgi",
                "version": answer["version"],
                "max_model_len": length,
                "max_concurrent_requests": most,
            }] })
        }
        _ => return answer["data"].is_array().then_some(answer),
    })
}
