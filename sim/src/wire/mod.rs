//! HTTP as vLLM speaks it.

mod answer;
mod ask;
mod error;
mod info;
mod metrics;

use std::convert::Infallible;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{CONTENT_TYPE, SERVER};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use bytes::Bytes;
use futures_util::stream;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};

use self::answer::Answer;
use self::ask::{Asked, Kind};
use self::error::Refusal;
pub use self::metrics::render as metrics_page;
use crate::FINGERPRINT;
use crate::config::Config;
use crate::driver::{Command, Delivered, Handle, Submission};

/// Longest body: a context of long words, with room.
const MOST_BODY_BYTES: usize = 32 << 20;
/// Tokens taken at once from a stream's channel; more only wait when the client is slow.
const MOST_AT_ONCE: usize = 64;
const REQUEST_ID: &str = "x-request-id";

/// What the handlers share.
pub(crate) struct Served {
    config: Config,
    engine: Handle,
    /// Unix seconds.
    started: u64,
    /// Makes ids for requests that bring none.
    ids: RandomState,
    next_id: AtomicU64,
    /// Requests turned away because the queue was full.
    rejected: AtomicU64,
}

/// All routes.
pub(crate) fn router(config: Config, engine: Handle) -> Router {
    let served = Served {
        config,
        engine,
        started: unix_seconds(),
        ids: RandomState::new(),
        next_id: AtomicU64::new(0),
        rejected: AtomicU64::new(0),
    };
    Router::new()
        .route("/v1/chat/completions", post(chat))
        .route("/v1/completions", post(completions))
        .route("/v1/models", get(info::models))
        .route("/version", get(info::version))
        .route("/server_info", get(info::server_info))
        .route("/health", get(|| async { StatusCode::OK }))
        .route("/ping", get(|| async { StatusCode::OK }))
        .route("/metrics", get(metrics::metrics))
        .route("/reset_prefix_cache", post(reset_prefix_cache))
        .fallback(|| async {
            (
                StatusCode::NOT_FOUND,
                Json(json!({ "detail": "Not Found" })),
            )
        })
        .layer(DefaultBodyLimit::max(MOST_BODY_BYTES))
        .layer(from_fn(sign))
        .with_state(Arc::new(served))
}

/// Says on every response who answered, and to which request.
async fn sign(request: Request, next: Next) -> Result<Response, Infallible> {
    let id = request.headers().get(REQUEST_ID).cloned();
    let mut response = next.run(request).await;
    response
        .headers_mut()
        .insert(SERVER, HeaderValue::from_static(FINGERPRINT));
    if let Some(id) = id {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    Ok(response)
}

async fn chat(
    State(served): State<Arc<Served>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refusal> {
    answer(&served, Kind::Chat, &headers, &body).await
}

async fn completions(
    State(served): State<Arc<Served>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refusal> {
    answer(&served, Kind::Completions, &headers, &body).await
}

async fn answer(
    served: &Served,
    kind: Kind,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Response, Refusal> {
    let arrived = Instant::now();
    let asked = ask::read(kind, body, &served.config)?;
    let request_id = headers
        .get(REQUEST_ID)
        .and_then(|id| id.to_str().ok())
        .map_or_else(|| served.new_id(), str::to_owned);
    let caching = served.config.enable_prefix_caching;
    let answer = Answer::new(
        &asked,
        &request_id,
        &served.config.model,
        caching,
        unix_seconds(),
    );
    let stream = asked.stream;
    let tokens = served.submit(asked, arrived).await?;
    if stream {
        Ok(stream_response(answer, tokens))
    } else {
        whole_response(answer, tokens).await
    }
}

impl Served {
    fn new_id(&self) -> String {
        format!(
            "{:016x}",
            self.ids
                .hash_one(self.next_id.fetch_add(1, Ordering::Relaxed))
        )
    }

    /// Hands a request to the engine; its tokens come through the returned channel.
    async fn submit(
        &self,
        asked: Asked,
        arrived: Instant,
    ) -> Result<mpsc::Receiver<Delivered>, Refusal> {
        let queued = self.engine.queued() + asked.asks.len() as u64;
        if u64::from(self.config.max_queued) < queued {
            self.rejected.fetch_add(1, Ordering::Relaxed);
            return Err(Refusal::Busy);
        }
        let room: usize = asked.asks.iter().map(|ask| ask.max_tokens as usize).sum();
        let (to, tokens) = mpsc::channel(room);
        let submissions = asked
            .asks
            .into_iter()
            .zip(0..)
            .map(|(ask, choice)| Submission {
                ask,
                choice,
                arrived,
                to: to.clone(),
            })
            .collect();
        self.engine
            .commands
            .send(Command::Submit(submissions))
            .await
            .map_err(|_| Refusal::Busy)?;
        Ok(tokens)
    }
}

/// Events as the tokens come. Tokens that wait together leave together.
fn stream_response(answer: Answer, tokens: mpsc::Receiver<Delivered>) -> Response {
    let state = (answer, tokens, Vec::with_capacity(MOST_AT_ONCE));
    let events = stream::unfold(state, |(mut answer, mut tokens, mut batch)| async move {
        if answer.is_finished() {
            return None;
        }
        batch.clear();
        if tokens.recv_many(&mut batch, MOST_AT_ONCE).await == 0 {
            // The engine is gone: cut the connection rather than end it as if all were said.
            return Some((
                Err(io::Error::from(io::ErrorKind::ConnectionAborted)),
                (answer, tokens, batch),
            ));
        }
        let mut out = String::with_capacity(256 * (batch.len() + 2));
        batch
            .iter()
            .for_each(|token| answer.write_event(*token, &mut out));
        Some((Ok(Bytes::from(out)), (answer, tokens, batch)))
    });
    (
        [(CONTENT_TYPE, "text/event-stream; charset=utf-8")],
        Body::from_stream(events),
    )
        .into_response()
}

async fn whole_response(
    answer: Answer,
    mut tokens: mpsc::Receiver<Delivered>,
) -> Result<Response, Refusal> {
    let mut all = Vec::new();
    let mut finished = 0;
    let choices = answer.choices();
    while finished < choices {
        let token = tokens.recv().await.ok_or(Refusal::Busy)?;
        finished += usize::from(token.finished);
        all.push(token);
    }
    Ok(([(CONTENT_TYPE, "application/json")], answer.whole(&all)).into_response())
}

async fn reset_prefix_cache(
    State(served): State<Arc<Served>>,
) -> Result<Json<serde_json::Value>, Refusal> {
    let (done, reset) = oneshot::channel();
    served
        .engine
        .commands
        .send(Command::ResetCache(done))
        .await
        .map_err(|_| Refusal::Busy)?;
    reset.await.map_err(|_| Refusal::Busy)?;
    Ok(Json(json!({ "success": true })))
}

fn unix_seconds() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests;
