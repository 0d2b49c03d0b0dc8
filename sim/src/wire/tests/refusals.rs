//! Refusals, in vLLM's words.

use super::*;

/// Sends `body` to completions (chat where it has messages) and expects vLLM's error.
#[track_caller]
fn check_error(body: &str, status: u16, kind: &str, param: Option<&str>, message: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let path = if body.contains("messages") {
        "/v1/chat/completions"
    } else {
        "/v1/completions"
    };
    let (code, body) =
        runtime.block_on(async { call(&app(&[]), Method::POST, path, body.to_owned()).await });
    assert_eq!(code.as_u16(), status, "{body}");
    let expected =
        json!({ "error": { "message": message, "type": kind, "param": param, "code": status } });
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected);
}

#[test]
fn an_unknown_model_is_vllms_404() {
    check_error(
        r#"{"model":"nope","messages":[{"role":"user","content":"hi"}]}"#,
        404,
        "NotFoundError",
        Some("model"),
        "The model `nope` does not exist. Valid aliases: simulated-tiny.",
    );
}

#[test]
fn no_token_is_vllms_400() {
    check_error(
        r#"{"prompt":"hi","max_tokens":0}"#,
        400,
        "BadRequestError",
        Some("max_tokens"),
        "max_tokens must be at least 1, got 0. (parameter=max_tokens, value=0)",
    );
}

#[test]
fn a_prompt_longer_than_the_context_is_vllms_400() {
    check_error(
        &json!({ "prompt": vec![7; 8193] }).to_string(),
        400,
        "BadRequestError",
        Some("input_tokens"),
        "This model's maximum context length is 8192 tokens. However, your prompt contains at least 8193 input tokens, which \
         exceeds this limit even without any output tokens. Please reduce the length of the input prompt. \
         (parameter=input_tokens, value=8193)",
    );
}

#[test]
fn prompt_and_answer_longer_than_the_context_are_refused() {
    check_error(
        &json!({ "prompt": vec![7; 8000], "max_tokens": 193 }).to_string(),
        400,
        "BadRequestError",
        Some("input_tokens"),
        "This model's maximum context length is 8192 tokens. However, you requested 193 output tokens and your prompt contains \
         at least 8000 input tokens, for a total of at least 8193 tokens. Please reduce the length of the input prompt or the \
         number of requested output tokens. (parameter=input_tokens, value=8000)",
    );
}

#[test]
fn a_wrong_type_names_the_field() {
    let message = |field, allowed| {
        format!(
            "1 validation error:\n  {{'type': 'wrong_type', 'loc': 'body.{field}', 'msg': 'Input should be {allowed}'}}"
        )
    };
    let check = |body, field, allowed| {
        check_error(
            body,
            400,
            "Bad Request",
            Some(&format!("body.{field}")),
            &message(field, allowed),
        );
    };
    check(
        r#"{"prompt":"x","max_tokens":"x"}"#,
        "max_tokens",
        "a valid integer",
    );
    check(
        r#"{"prompt":"x","stream":"x"}"#,
        "stream",
        "a valid boolean",
    );
    check(r#"{"messages":[]}"#, "messages", "a list of messages");
    check(
        r#"{"messages":[{"content":"x"}]}"#,
        "messages.0.role",
        "a valid string",
    );
    check(
        r#"{"prompt":""}"#,
        "prompt",
        "a prompt of at least one token",
    );
}

#[tokio::test]
async fn what_is_not_json_is_refused() {
    let (status, body) = post_text(&app(&[]), "/v1/completions", "{\"prompt\":").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(
        body["error"]["message"]
            .as_str()
            .unwrap()
            .contains("JSON decode error"),
        "{body}"
    );
    assert_eq!(body["error"]["type"], "Bad Request");
}

async fn post_text(app: &Router, path: &str, body: &str) -> (StatusCode, Value) {
    let (status, body) = call(app, Method::POST, path, body.to_owned()).await;
    (status, serde_json::from_str(&body).unwrap())
}

#[tokio::test]
async fn unknown_fields_are_ignored() {
    let (status, _) = post(
        &app(&[]),
        "/v1/completions",
        json!({ "prompt": "hi", "brand_new": { "deep": 1 } }),
    )
    .await;
    assert_eq!(status, StatusCode::OK);
}

#[tokio::test]
async fn a_full_queue_is_vllms_503() {
    let config = Config {
        max_queued: 0,
        ..Config::preset("tiny", &Knobs::new()).unwrap()
    };
    let engine = crate::driver::spawn(&config).unwrap();
    let (status, body) = post(
        &router(config, engine),
        "/v1/completions",
        json!({ "prompt": "hi" }),
    )
    .await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(body["error"]["type"], "Service Unavailable");
}
