//! An engine that counts tokens in a way of its own and keeps what it was asked.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};
use measure::study::{Api, Endpoint};
use serde_json::{Value, json};

use crate::served::serve;

/// Tokens that the chat template adds to each prompt.
pub const TEMPLATE: usize = 11;

/// How an engine counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// So many letters a token, by usage and by `/tokenize`.
    Letters(usize),
    /// So many letters a token, but there is no `/tokenize`.
    Quietly(usize),
}

/// An engine on a port of its own; it ends with the test.
pub struct Engine {
    /// How it is reached.
    pub endpoint: Endpoint,
    asked: Arc<Mutex<Vec<Value>>>,
}

#[derive(Clone)]
struct Inside {
    letters: usize,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Engine {
    /// Starts one.
    pub async fn start(counts: Counts) -> anyhow::Result<Self> {
        let (Counts::Letters(letters) | Counts::Quietly(letters)) = counts;
        let asked = Arc::default();
        let inside = Inside {
            letters,
            asked: Arc::clone(&asked),
        };
        let mut router = Router::new()
            .route("/v1/models", get(models))
            .route("/v1/chat/completions", post(answer));
        if let Counts::Letters(_) = counts {
            router = router.route("/tokenize", post(tokenize));
        }
        let url = serve(router.with_state(inside)).await?;
        let endpoint = Endpoint::new(url, Api::OpenAiChat, "counted");
        Ok(Self { endpoint, asked })
    }

    /// Every prompt that asked for so many output tokens, in the order of the alphabet.
    pub fn prompts(&self, output_tokens: u64) -> Vec<String> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let meant = asked
            .iter()
            .filter(|body| body["max_tokens"] == output_tokens);
        let mut prompts: Vec<String> = meant.map(content).collect();
        prompts.sort();
        prompts
    }
}

/// Tokens of a text: so many letters each, the last one perhaps shorter.
pub fn tokens(text: &str, letters: usize) -> usize {
    text.len().div_ceil(letters)
}

fn content(body: &Value) -> String {
    body["messages"][0]["content"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

async fn models() -> Json<Value> {
    Json(json!({ "data": [{ "id": "counted", "owned_by": "vllm" }] }))
}

async fn tokenize(State(inside): State<Inside>, Json(question): Json<Value>) -> Json<Value> {
    let text = question["prompt"].as_str().unwrap_or_default();
    Json(json!({ "count": tokens(text, inside.letters) }))
}

async fn answer(State(inside): State<Inside>, body: Bytes) -> impl IntoResponse {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let asked = body["max_tokens"].as_u64().unwrap_or(1);
    let prompt_tokens = tokens(&content(&body), inside.letters) + TEMPLATE;
    inside
        .asked
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(body);
    let event = |value: &Value| format!("data: {value}\n\n");
    let word = json!({ "choices": [{ "index": 0, "delta": { "content": "so " }, "finish_reason": null }] });
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "length" }] });
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": prompt_tokens, "completion_tokens": asked } });
    let mut stream: String = (0..asked).map(|_| event(&word)).collect();
    stream += &event(&end);
    stream += &event(&usage);
    stream += "data: [DONE]\n\n";
    ([("content-type", "text/event-stream")], stream)
}
