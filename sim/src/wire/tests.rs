//! Answers and pages, without a socket.

use axum::http::Method;
use http_body_util::BodyExt;
use measure::knobs::{KnobValue, Knobs};
use serde_json::Value;
use tower::ServiceExt;

use super::*;

mod refusals;

fn app(pairs: &[(&str, &str)]) -> Router {
    let knobs: Knobs = pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), KnobValue::from(*value)))
        .collect();
    let config = Config::preset("tiny", &knobs).unwrap();
    let engine = crate::driver::spawn(&config).unwrap();
    router(config, engine)
}

async fn call(
    app: &Router,
    method: Method,
    path: &str,
    body: impl Into<Body>,
) -> (StatusCode, String) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .body(body.into())
        .unwrap();
    let response = app.clone().oneshot(request).await.unwrap();
    let status = response.status();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

async fn post(app: &Router, path: &str, body: Value) -> (StatusCode, Value) {
    let (status, body) = call(app, Method::POST, path, body.to_string()).await;
    (status, serde_json::from_str(&body).unwrap())
}

/// The events of a stream, without `data: `; the last must be `[DONE]`.
async fn events(app: &Router, path: &str, body: Value) -> Vec<Value> {
    let (status, body) = call(app, Method::POST, path, body.to_string()).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    let mut events: Vec<&str> = body
        .split_terminator("\n\n")
        .map(|event| event.strip_prefix("data: ").unwrap())
        .collect();
    assert_eq!(events.pop(), Some("[DONE]"));
    events
        .iter()
        .map(|event| serde_json::from_str(event).unwrap())
        .collect()
}

#[tokio::test]
async fn a_completion_streams_text_in_every_event() {
    let events = events(
        &app(&[]),
        "/v1/completions",
        json!({ "prompt": "one two", "max_tokens": 3, "stream": true }),
    )
    .await;
    assert_eq!(events.len(), 3);
    let finishes: Vec<&Value> = events
        .iter()
        .map(|event| &event["choices"][0]["finish_reason"])
        .collect();
    assert_eq!(finishes, [&Value::Null, &Value::Null, &json!("length")]);
    assert!(events.iter().all(|event| {
        event["choices"][0]["text"]
            .as_str()
            .is_some_and(|text| !text.is_empty())
    }));
    assert_eq!(events[2]["system_fingerprint"], FINGERPRINT);
    assert!(events[1].get("system_fingerprint").is_none());
}

#[tokio::test]
async fn a_completion_without_a_length_has_sixteen_tokens() {
    let (_, body) = post(&app(&[]), "/v1/completions", json!({ "prompt": "one two" })).await;
    assert_eq!(body["usage"]["completion_tokens"], 16);
    assert_eq!(
        body["choices"][0]["text"]
            .as_str()
            .unwrap()
            .split_whitespace()
            .count(),
        16
    );
}

#[tokio::test]
async fn a_chat_without_a_length_has_its_default() {
    let messages = json!([{ "role": "user", "content": [{ "type": "text", "text": "hi you" }] }]);
    let (_, body) = post(
        &app(&[]),
        "/v1/chat/completions",
        json!({ "messages": messages }),
    )
    .await;
    assert_eq!(
        body["usage"],
        json!({
            "prompt_tokens": 9, "total_tokens": 137, "completion_tokens": 128,
            "prompt_tokens_details": null, "completion_tokens_details": null,
        })
    );
    assert_eq!(
        body["choices"][0]["message"]["content"]
            .as_str()
            .unwrap()
            .split(' ')
            .count(),
        128
    );
    assert_eq!(body["object"], "chat.completion");
}

#[tokio::test]
async fn streamed_and_whole_answers_are_the_same_text() {
    let app = app(&[]);
    let ask = |stream: bool| json!({ "prompt": "tell me", "max_tokens": 20, "stream": stream });
    let (_, whole) = post(&app, "/v1/completions", ask(false)).await;
    let streamed: String = events(&app, "/v1/completions", ask(true))
        .await
        .iter()
        .map(|event| event["choices"][0]["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(whole["choices"][0]["text"], streamed);
}

#[tokio::test]
async fn token_ids_are_prompts_too() {
    let (_, body) = post(
        &app(&[]),
        "/v1/completions",
        json!({ "prompt": [5, 6, 7, 8], "max_tokens": 2 }),
    )
    .await;
    assert_eq!(body["usage"]["prompt_tokens"], 4);
    let (_, body) = post(
        &app(&[]),
        "/v1/completions",
        json!({ "prompt": [[5, 6], [7, 8, 9]], "max_tokens": 2 }),
    )
    .await;
    assert_eq!(
        (
            &body["usage"]["prompt_tokens"],
            &body["usage"]["completion_tokens"]
        ),
        (&json!(5), &json!(4))
    );
    assert_eq!(body["choices"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn continuous_usage_is_cumulative_in_every_event() {
    let body = json!({
        "messages": [{ "role": "user", "content": "hi" }], "max_completion_tokens": 2, "stream": true,
        "stream_options": { "include_usage": true, "continuous_usage_stats": true },
    });
    let events = events(&app(&[]), "/v1/chat/completions", body).await;
    let counts: Vec<&Value> = events
        .iter()
        .map(|event| &event["usage"]["completion_tokens"])
        .collect();
    assert_eq!(counts, [&json!(0), &json!(1), &json!(2), &json!(2)]);
    assert_eq!(events[3]["choices"], json!([]));
}

#[tokio::test]
async fn several_choices_share_a_stream_and_one_usage() {
    let body = json!({
        "messages": [{ "role": "user", "content": "hi" }], "max_tokens": 3, "n": 2, "stream": true,
        "stream_options": { "include_usage": true },
    });
    let events = events(&app(&[]), "/v1/chat/completions", body).await;
    let indices: Vec<&Value> = events
        .iter()
        .filter_map(|event| event["choices"][0].get("index"))
        .collect();
    assert_eq!(indices.len(), 2 + 6);
    assert_eq!(indices[..2], [&json!(0), &json!(1)]);
    assert_eq!(
        events[8]["usage"],
        json!({ "prompt_tokens": 8, "total_tokens": 14, "completion_tokens": 6 })
    );
}

#[tokio::test]
async fn usage_tells_cached_tokens_when_caching_until_a_reset() {
    let app = app(&[("enable-prefix-caching", "on")]);
    let prompt: Vec<u32> = (0..100).collect();
    let body = json!({ "prompt": prompt, "max_tokens": 1, "stream": true, "stream_options": { "include_usage": true } });
    for expected in [0, 96, 0] {
        if expected == 0 {
            let (_, reset) = call(&app, Method::POST, "/reset_prefix_cache", "").await;
            assert_eq!(reset, r#"{"success":true}"#);
        }
        let events = events(&app, "/v1/completions", body.clone()).await;
        assert_eq!(
            events[1]["usage"]["prompt_tokens_details"]["cached_tokens"],
            expected
        );
    }
}

#[tokio::test]
async fn it_says_that_it_is_simulated() {
    let app = app(&[("max-num-seqs", "7")]);
    let get = async |path| call(&app, Method::GET, path, "").await.1;
    assert_eq!(get("/version").await, r#"{"version":"goodput-sim 0.1.0"}"#);
    let models: Value = serde_json::from_str(&get("/v1/models").await).unwrap();
    assert_eq!(models["data"][0]["owned_by"], "goodput-sim");
    assert_eq!(
        (
            &models["data"][0]["id"],
            &models["data"][0]["max_model_len"]
        ),
        (&json!("simulated-tiny"), &json!(8192))
    );
    let info: Value = serde_json::from_str(&get("/server_info").await).unwrap();
    assert_eq!(info["simulated"], true);
    assert_eq!(info["vllm_config"]["scheduler_config"]["max_num_seqs"], 7);
    assert_eq!(info["knobs"]["enable-prefix-caching"], false);
    assert_eq!(get("/health").await, "");
}

#[tokio::test]
async fn an_unknown_path_is_fastapis_404() {
    let (status, body) = call(&app(&[]), Method::GET, "/v2", "").await;
    assert_eq!(
        (status, body.as_str()),
        (StatusCode::NOT_FOUND, r#"{"detail":"Not Found"}"#)
    );
}

#[tokio::test]
async fn metrics_count_under_vllms_names() {
    let app = app(&[("enable-prefix-caching", "on")]);
    let prompt: Vec<u32> = (0..40).collect();
    for _ in 0..2 {
        post(
            &app,
            "/v1/completions",
            json!({ "prompt": prompt, "max_tokens": 5 }),
        )
        .await;
    }
    let mut page = String::new();
    // The gauges fall just after the last tokens have left.
    while page.is_empty()
        || page
            .contains("vllm:num_requests_running{engine=\"0\",model_name=\"simulated-tiny\"} 1.0")
    {
        page = call(&app, Method::GET, "/metrics", "").await.1;
    }
    let labels = r#"engine="0",model_name="simulated-tiny""#;
    for (line, value) in [
        ("vllm:num_requests_running{", "0.0"),
        ("vllm:num_requests_waiting{", "0.0"),
        ("vllm:kv_cache_usage_perc{", "0.0"),
        ("vllm:prompt_tokens_total{", "80.0"),
        ("vllm:generation_tokens_total{", "10.0"),
        ("vllm:num_preemptions_total{", "0.0"),
        ("vllm:prefix_cache_queries_total{", "80.0"),
        ("vllm:prefix_cache_hits_total{", "32.0"),
        (
            r#"vllm:request_success_total{finished_reason="length","#,
            "2.0",
        ),
        ("vllm:time_to_first_token_seconds_count{", "2.0"),
        (
            r#"vllm:inter_token_latency_seconds_bucket{le="+Inf","#,
            "8.0",
        ),
        ("vllm:e2e_request_latency_seconds_count{", "2.0"),
    ] {
        let line = format!("{line}{labels}}} {value}");
        assert!(
            page.lines().any(|found| found == line),
            "no line {line} in\n{page}"
        );
    }
}
