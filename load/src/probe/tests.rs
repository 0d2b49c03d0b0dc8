//! Engines by what they say of themselves.

use serde_json::json;

use super::*;

fn found(models: Value) -> Found {
    Found {
        models: json!({ "data": [models] }),
        ..Found::default()
    }
}

#[track_caller]
fn check(found: &Found, engine: &str, version: Option<&str>) {
    let probe = found.probe(false, false);
    assert_eq!(
        (probe.engine.as_str(), probe.version.as_deref()),
        (engine, version)
    );
}

#[test]
fn engines_are_told_apart_by_what_they_say_of_themselves() {
    let version = Some(json!({ "version": "0.32.0" }));
    let props = Some(json!({ "total_slots": 4, "build_info": "b10434" }));
    let sglang = Some(json!({ "model_path": "tiny", "version": "0.5.23" }));
    check(
        &Found {
            version: version.clone(),
            ..found(json!({ "id": "m", "owned_by": "vllm" }))
        },
        "vLLM",
        Some("0.32.0"),
    );
    check(
        &Found {
            version,
            ..found(json!({ "id": "m", "owned_by": "goodput-sim" }))
        },
        "Goodput simulator",
        Some("0.32.0"),
    );
    check(
        &Found {
            props,
            ..found(json!({ "id": "m", "owned_by": "llamacpp" }))
        },
        "llama.cpp",
        Some("b10434"),
    );
    check(
        &Found {
            props: Some(json!({ "total_slots": 4, "build_info": "b0-unknown" })),
            ..found(json!({ "id": "m", "owned_by": "llamacpp" }))
        },
        "llama.cpp",
        None,
    );
    check(
        &Found {
            info: sglang,
            ..found(json!({ "id": "m", "owned_by": "sglang" }))
        },
        "SGLang",
        Some("0.5.23"),
    );
    check(&found(json!({ "id": "m" })), "unknown", None);
}

#[test]
fn facts_are_what_the_engine_reports() {
    let props = Some(json!({ "total_slots": 4, "default_generation_settings": { "n_ctx": 1024 } }));
    let facts = Found {
        props,
        ..found(json!({ "id": "m" }))
    }
    .facts();
    let facts: Vec<(&str, &str)> = facts
        .iter()
        .map(|(name, fact)| (name.as_str(), fact.value.as_str()))
        .collect();
    assert_eq!(
        facts,
        [("knob:parallel", "4"), ("seen:context length", "1024")]
    );
}

#[test]
fn no_field_is_longer_than_its_bound() {
    let long = "x\n".repeat(5000);
    let probe = found(json!({ "id": long })).probe(false, false);
    assert_eq!(probe.models, ["x".repeat(FIELD_LIMIT)]);
}

#[track_caller]
fn answers(status: u16, body: &str, key: Option<&str>, mend: &str) {
    let answer = Answer {
        status,
        body: body.into(),
    };
    let error = answer
        .models(Api::OpenAiChat, key)
        .expect_err("no models")
        .to_string();
    assert!(error.contains(mend), "{status}: {error}");
}

#[test]
fn what_stands_in_place_of_the_models_has_its_own_mend() {
    let page = "<!doctype html><title>Hello</title>";
    answers(200, page, None, "web page); check port and path");
    answers(404, page, None, "status 404); check port and path");
    answers(301, page, None, "status 301); check port and path");
    answers(401, "", None, "name the environment variable");
    answers(403, "", None, "name the environment variable");
    answers(401, "", Some("that place"), "right key into that place");
    for status in [429, 502, 503, 504] {
        answers(status, page, None, "wait until it is ready");
    }
    answers(500, page, None, "its own log says why");
}

#[test]
fn where_a_key_comes_from_is_told_and_a_key_typed_in_place_of_its_name_is_not() {
    let mut endpoint = Endpoint::new("http://127.0.0.1:1", Api::OpenAiChat, "m");
    let source = |endpoint: &Endpoint| engine::key_source(endpoint).unwrap_or_default();
    assert_eq!(source(&endpoint), "");
    endpoint.api_key_env = Some("VLLM_API_KEY".into());
    assert_eq!(source(&endpoint), "the environment variable VLLM_API_KEY");
    endpoint.api_key_env = Some("sk-SECRET".into());
    assert_eq!(source(&endpoint), "the environment variable");
    endpoint.api_key_secret = Some("VLLM".into());
    assert_eq!(source(&endpoint), "the stored secret VLLM");
    endpoint.api_key_secret = Some("sk-SECRET".into());
    assert_eq!(source(&endpoint), "the stored secret");
}

#[track_caller]
fn lists(api: Api, answer: Value, engine: &str, models: &[&str]) {
    let found = Found {
        models: listing::models(api, answer).expect("a list"),
        ..Found::default()
    };
    let probe = found.probe(false, false);
    assert_eq!(
        (probe.engine.as_str(), probe.models),
        (engine, models.iter().map(|it| (*it).to_owned()).collect())
    );
}

#[test]
fn each_dialects_engines_list_their_models_in_their_own_form() {
    let tags = json!({ "models": [{ "name": "llama3:8b", "model": "llama3:8b" }, { "name": "qwen3:4b" }] });
    lists(Api::OllamaChat, tags, "Ollama", &["llama3:8b", "qwen3:4b"]);
    let info = json!({ "model_id": "mistral-7b", "version": "3.3.4", "max_total_tokens": 4096 });
    lists(Api::TgiGenerateStream, info, "TGI", &["mistral-7b"]);
    let index = json!([{ "name": "ensemble", "state": "READY" }, { "name": "broken", "state": "UNAVAILABLE" }, { "name": "pre" }]);
    lists(
        Api::TritonGenerateStream,
        index,
        "Triton",
        &["ensemble", "pre"],
    );
    for (api, answer) in [
        (Api::OllamaChat, json!({ "data": [] })),
        (Api::TgiGenerateStream, json!({ "data": [] })),
        (Api::TritonGenerateStream, json!({ "error": "no" })),
        (Api::OpenAiChat, json!({ "models": [] })),
    ] {
        assert_eq!(listing::models(api, answer), None, "{}", api.name());
    }
}
