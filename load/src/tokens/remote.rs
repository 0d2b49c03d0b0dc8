//! The engine's own `/tokenize`, in the forms of vLLM (and SGLang) and llama.cpp.

use std::sync::Arc;
use std::time::Duration;

use measure::study::Endpoint;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::TokenError;
use crate::engine::Wire;
use crate::probe::Asker;

/// Questions at a time: a tokenizer is one thread in most engines.
const AT_A_TIME: usize = 16;
/// An answer that takes longer is none.
const LIMIT: Duration = Duration::from_secs(20);

/// Asks an engine.
pub struct Remote {
    asker: Arc<Asker>,
    model: String,
    /// Counting blocks its caller, and has threads of its own to do so. `Some` until it is dropped.
    runtime: Option<Runtime>,
}

impl Remote {
    /// `None` where the engine has no `/tokenize`, or one of another form.
    pub(super) async fn of(endpoint: &Endpoint, wire: &Wire) -> Option<Self> {
        let asker = Arc::new(Asker::made(endpoint, wire.clone(), LIMIT).await.ok()?);
        let counted = ask(&asker, &endpoint.model, "one two three").await;
        counted.ok().filter(|count| 0 < *count)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build();
        // Connections belong to the runtime that opened them.
        let asker = Arc::new(Asker::made(endpoint, wire.clone(), LIMIT).await.ok()?);
        Some(Self {
            asker,
            model: endpoint.model.clone(),
            runtime: Some(runtime.ok()?),
        })
    }

    pub(super) fn count(&self, texts: &[String]) -> Result<Vec<u32>, TokenError> {
        let Some(runtime) = &self.runtime else {
            return Ok(Vec::new());
        };
        // A thread of its own: the caller's may belong to another runtime.
        let counted = std::thread::scope(|scope| {
            let counting = scope.spawn(|| runtime.block_on(self.count_all(texts)));
            counting.join()
        });
        counted.unwrap_or_else(|_| {
            Err(TokenError::Engine {
                why: "counting was interrupted".into(),
            })
        })
    }

    async fn count_all(&self, texts: &[String]) -> Result<Vec<u32>, TokenError> {
        let turns = Arc::new(Semaphore::new(AT_A_TIME));
        let mut counts = vec![0; texts.len()];
        for (block, texts) in texts.chunks(1024).enumerate() {
            let mut asking = JoinSet::new();
            for (place, text) in texts.iter().enumerate() {
                let (asker, turns) = (Arc::clone(&self.asker), Arc::clone(&turns));
                let (model, text) = (self.model.clone(), text.clone());
                asking.spawn(async move {
                    let _turn = turns.acquire().await;
                    (place, ask(&asker, &model, &text).await)
                });
            }
            while let Some(answer) = asking.join_next().await {
                let lost = |_| TokenError::Engine {
                    why: "it was interrupted".into(),
                };
                let (place, count) = answer.map_err(lost)?;
                counts[block * 1024 + place] = count?;
            }
        }
        Ok(counts)
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// One question that all forms understand: each reads its own fields of it.
async fn ask(asker: &Asker, model: &str, text: &str) -> Result<u32, TokenError> {
    let question = json!({
        "model": model, "prompt": text, "add_special_tokens": false,
        "content": text, "add_special": false,
    });
    let failed = |why: String| TokenError::Engine { why };
    let answer = asker.post("tokenize", &question).await.map_err(failed)?;
    let listed = answer["tokens"]
        .as_array()
        .map(|tokens| tokens.len() as u64);
    let count = answer["count"].as_u64().or(listed);
    let count = count.and_then(|count| u32::try_from(count).ok());
    count.ok_or_else(|| failed(format!("no count in {}", start(&answer))))
}

fn start(answer: &Value) -> String {
    answer.to_string().chars().take(100).collect()
}
