//! What the engine says of itself.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use serde_json::{Value, json};

use super::Served;
use crate::VERSION;
use crate::config::{BLOCK_SIZE, Config};

/// `GET /version`.
pub(super) async fn version() -> Json<Value> {
    Json(json!({ "version": VERSION }))
}

/// `GET /v1/models`.
pub(super) async fn models(State(served): State<Arc<Served>>) -> Json<Value> {
    let config = &served.config;
    Json(json!({
        "object": "list",
        "data": [{
            "id": config.model, "object": "model", "created": served.started, "owned_by": "goodput-sim",
            "root": config.model, "parent": null, "max_model_len": config.max_model_len, "permission": [],
        }],
    }))
}

/// `GET /server_info`: the sections of vLLM's that this engine has, and that it is simulated.
pub(super) async fn server_info(State(served): State<Arc<Served>>) -> impl IntoResponse {
    let config = &served.config;
    Json(json!({
        "simulated": true,
        "preset": config.preset,
        "version": VERSION,
        "knobs": config.knobs(),
        "vllm_config": {
            "model_config": {
                "model": config.model,
                "max_model_len": config.max_model_len,
                "enforce_eager": config.cost.eager,
            },
            "cache_config": {
                "block_size": BLOCK_SIZE,
                "enable_prefix_caching": config.enable_prefix_caching,
                "gpu_memory_utilization": config.gpu_memory_utilization,
                "num_gpu_blocks": config.kv_blocks,
                "kv_cache_size_tokens": u64::from(config.kv_blocks) * BLOCK_SIZE as u64,
            },
            "scheduler_config": {
                "max_num_seqs": config.max_num_seqs,
                "max_num_batched_tokens": config.max_num_batched_tokens,
                "enable_chunked_prefill": config.enable_chunked_prefill,
                "long_prefill_token_threshold": config.long_prefill_token_threshold,
                "async_scheduling": config.cost.async_scheduling,
                "policy": "fcfs",
            },
            "speculative_config": speculation(config),
        },
    }))
}

/// As vLLM names it for guesses whose rightness is drawn; null without guesses.
fn speculation(config: &Config) -> Value {
    match config.num_speculative_tokens {
        0 => Value::Null,
        tokens => json!({
            "num_speculative_tokens": tokens,
            "synthetic_acceptance_rate": config.synthetic_acceptance_rate,
        }),
    }
}
