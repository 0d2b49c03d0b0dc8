//! One small request before any load: whether the endpoint streams as its dialect says, and which fields it refuses.
//!
//! Fields that a refusal names are left out, one after the other, until the endpoint answers; what is left is what its
//! requests may say. A key or a model that is refused is told at once, instead of by every request of a run.

use std::time::Duration;

use measure::request::{ErrorKind, Outcome, RequestRecord};
use measure::study::Endpoint;
use measure::units::Nanos;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Request};

use super::{Asker, Probe};
use crate::address;
use crate::dialect::{self, Asked, End, Flow, Head, Limit, Message, Quirks, Stream};
use crate::engine::EngineError;
use crate::engine::Wire;

/// Output tokens asked for: enough to see whether the limit is kept.
const TOKENS: u32 = 4;
/// Most requests of a trial: more than there are fields to leave out.
const TRIES: usize = 10;
/// How long an engine may take over one of them; the first may have to load the model.
const TRIAL_LIMIT: Duration = Duration::from_secs(120);
/// Most bytes read of an answer.
const ANSWER_LIMIT: usize = 1 << 20;

/// Why every request of an endpoint would be refused.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The endpoint itself: its URL, key or headers.
    #[error(transparent)]
    Endpoint(EngineError),
    /// It wants a key, or another one.
    #[error("the engine refuses a first request with status {status} ({why}); {}", key_mend(key.as_deref()))]
    Unauthorized {
        /// 401 or 403.
        status: u16,
        /// What it said.
        why: String,
        /// Where the key that was sent came from, in words.
        key: Option<String>,
    },
    /// There is no such route, or no such model.
    #[error(
        "the engine knows no such route or model: status 404 ({why}); check URL, dialect and model"
    )]
    NotFound {
        /// What it said.
        why: String,
    },
    /// It refuses the request for another reason.
    #[error("the engine refuses a first request with status {status}: {why}")]
    Refused {
        /// The status.
        status: u16,
        /// What it said.
        why: String,
    },
}

fn key_mend(key: Option<&str>) -> String {
    match key {
        Some(key) => format!("put the right key into {key}"),
        None => "name the environment variable or the stored secret that holds its API key".into(),
    }
}

/// Finds out what an endpoint's requests may say, within `limit` for each of a few small requests. An engine that is
/// silent, busy or broken is no matter of fields: what it does is for the run to tell.
async fn trial(
    endpoint: &Endpoint,
    wire: Wire,
    limit: Duration,
    wish: Quirks,
) -> Result<Quirks, TrialError> {
    let asker = Asker::made(endpoint, wire, limit)
        .await
        .map_err(TrialError::Endpoint)?;
    let mut quirks = wish;
    for _ in 0..TRIES {
        let tried = asker.try_once(endpoint, quirks, limit).await?;
        let Some(record) = tried else { break };
        quirks = match judge(&record, quirks, asker.key.as_deref())? {
            Verdict::Without(less) => less,
            Verdict::TooLong if quirks.limit == Limit::MaxTokens => Quirks {
                limit: Limit::MaxCompletionTokens,
                ..quirks
            },
            // Neither field is kept: the outputs themselves will tell.
            Verdict::TooLong => Quirks {
                limit: Limit::MaxTokens,
                ..quirks
            },
            Verdict::Good => break,
        };
    }
    Ok(quirks)
}

/// What of a wish an endpoint's requests may say. Engines that are known ignore what they do not know; any other is tried.
pub async fn quirks(
    endpoint: &Endpoint,
    wire: Wire,
    probe: &Probe,
    wish: Quirks,
) -> Result<Quirks, TrialError> {
    if probe.engine == super::UNKNOWN && !super::listing::is_foreign(endpoint.api) {
        trial(endpoint, wire, TRIAL_LIMIT, wish).await
    } else {
        Ok(wish)
    }
}

/// Whether an endpoint answers a small request with tokens by now; an error where it never will as it is asked.
pub(crate) async fn gives_token(
    endpoint: &Endpoint,
    wire: Wire,
    limit: Duration,
) -> Result<bool, TrialError> {
    let limit = limit.min(TRIAL_LIMIT);
    let asker = Asker::made(endpoint, wire, limit)
        .await
        .map_err(TrialError::Endpoint)?;
    let mut quirks = Quirks::default();
    for _ in 0..TRIES {
        let Some(record) = asker.try_once(endpoint, quirks, limit).await? else {
            return Ok(false);
        };
        match judge(&record, quirks, asker.key.as_deref())? {
            Verdict::Without(less) => quirks = less,
            Verdict::TooLong | Verdict::Good => return Ok(record.outcome == Outcome::Ok),
        }
    }
    Ok(false)
}

enum Verdict {
    Good,
    /// It took the request without a word, and went on past the limit.
    TooLong,
    Without(Quirks),
}

fn judge(record: &RequestRecord, quirks: Quirks, key: Option<&str>) -> Result<Verdict, TrialError> {
    let why = record.error_detail.clone().unwrap_or_default();
    match (record.outcome, record.http_status.unwrap_or_default()) {
        (Outcome::Ok, _) if record.output_tokens.is_some_and(|n| TOKENS * 2 < n) => {
            Ok(Verdict::TooLong)
        }
        (Outcome::Error(ErrorKind::HttpStatus), status @ (401 | 403)) => {
            Err(TrialError::Unauthorized {
                status,
                why,
                key: key.map(str::to_owned),
            })
        }
        (Outcome::Error(ErrorKind::HttpStatus), 404) => Err(TrialError::NotFound { why }),
        (Outcome::Error(ErrorKind::HttpStatus | ErrorKind::InBandError), status) => {
            match quirks.without(&why) {
                Some(less) => Ok(Verdict::Without(less)),
                None if (400..500).contains(&status) => Err(TrialError::Refused { status, why }),
                None => Ok(Verdict::Good),
            }
        }
        _ => Ok(Verdict::Good),
    }
}

impl Asker {
    /// Whether a path answers that all is well.
    pub(crate) async fn is_well(&self, path: &str, limit: Duration) -> bool {
        let asked = self.ask(Method::GET, path.trim_start_matches('/'));
        matches!(tokio::time::timeout(limit, asked).await, Ok(Ok(answer)) if answer.is_ok())
    }

    async fn try_once(
        &self,
        endpoint: &Endpoint,
        quirks: Quirks,
        limit: Duration,
    ) -> Result<Option<RequestRecord>, TrialError> {
        let mut stream = Stream::new(endpoint.api, false, TOKENS);
        let request = self.request(endpoint, quirks)?;
        let read = tokio::time::timeout(limit, self.exchange(request, &mut stream)).await;
        if !matches!(read, Ok(Ok(()))) {
            return Ok(None);
        }
        let asked = Asked {
            request_id: "trial".into(),
            session: 0,
            turn: 0,
            scheduled: Nanos::ZERO,
            input_tokens: 1,
            output_tokens: TOKENS,
        };
        Ok(Some(stream.into_record(asked, Some(Nanos::ZERO), None)))
    }

    /// Sends one request and reads its answer to the end, or as far as it goes.
    async fn exchange(&self, request: Request, stream: &mut Stream) -> Result<(), reqwest::Error> {
        let mut response = self.http.execute(request).await?;
        let header = |name: &str| response.headers().get(name)?.to_str().ok();
        let head = Head {
            status: response.status().as_u16(),
            content_type: header("content-type"),
            retry_after: None,
            date: None,
            location: None,
        };
        stream.head(Nanos::ZERO, head);
        let mut read = 0;
        while let Some(bytes) = response.chunk().await? {
            read += bytes.len();
            if stream.bytes(Nanos::ZERO, &bytes) == Flow::Done || ANSWER_LIMIT < read {
                break;
            }
        }
        stream.end(Nanos::ZERO, End::Clean);
        Ok(())
    }

    fn request(&self, endpoint: &Endpoint, quirks: Quirks) -> Result<Request, TrialError> {
        let route = dialect::route(endpoint.api, &endpoint.model);
        let url = address::under(&self.base, &route)
            .map_err(|error| TrialError::Endpoint(EngineError::Address(error)))?;
        let messages = [Message {
            role: "user",
            content: "Count from one to ten.",
        }];
        let body = dialect::body(endpoint.api, &endpoint.model, &messages, TOKENS, quirks);
        let mut request = Request::new(Method::POST, url);
        *request.headers_mut() = self.headers.clone();
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().insert(CONTENT_TYPE, json);
        *request.body_mut() = Some(body.unwrap_or_default().into());
        Ok(request)
    }
}
