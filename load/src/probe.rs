//! What is behind a URL: engine, version, models, and the facts it reports of itself.
//!
//! Asks a handful of well-known paths, each in bounded time and size, and passes on parsed fields only, so that an
//! address that is no engine gives nothing away.

mod error; // why nothing can be said
mod listing; // where each dialect's engines list their models
mod own; // each engine's own report, where it is
mod report; // what engines report of themselves
mod reset; // the prefix cache emptied from outside
mod trial; // one small request before any load

use std::time::Duration;

use measure::knobs::{Fact, Facts, Source};
use measure::study::{Api, Endpoint};
use reqwest::header::HeaderMap;
use reqwest::{Client, Method, Request};
use serde_json::Value;
use url::Url;

use crate::address::{self, AddressError};
use crate::client;
use crate::engine::{self, EngineError, Wire};

use report::Reports;

pub use error::{NoModels, ProbeError};
pub use reset::reset_prefix_cache;
pub(crate) use trial::gives_token;
pub use trial::{TrialError, quirks};

/// What an engine is called that says nothing of itself.
const UNKNOWN: &str = "unknown";
/// Most bytes read of one answer.
const ANSWER_LIMIT: usize = 1 << 20;
/// Most characters of one field.
const FIELD_LIMIT: usize = 200;
/// Most models listed.
const MODELS_LIMIT: usize = 100;

/// What is behind a URL.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// `vLLM`, `llama.cpp`, `SGLang`, `Ollama`, `TGI`, `TensorRT-LLM`, `LMDeploy`, `Triton`, `Goodput simulator`, or `unknown`.
    pub engine: String,
    /// Its version, where it says one.
    pub version: Option<String>,
    /// Models it serves.
    pub models: Vec<String>,
    /// What it reports of itself: `context length`, `weights`, ...
    pub facts: Facts,
    /// Whether `/metrics` answers.
    pub has_metrics: bool,
    /// Whether its prefix cache can be reset from outside.
    pub can_reset_cache: bool,
}

/// Finds out what is behind an endpoint's URL, within `limit`.
pub async fn probe(endpoint: &Endpoint, wire: Wire, limit: Duration) -> Result<Probe, ProbeError> {
    let asker = Asker::made(endpoint, wire, limit)
        .await
        .map_err(ProbeError::Endpoint)?;
    let asked = tokio::time::timeout(limit, asker.probe()).await;
    asked.unwrap_or(Err(ProbeError::NoAnswer { waited: limit }))
}

/// An answer: its status and the start of its body.
struct Answer {
    status: u16,
    body: Vec<u8>,
}

impl Answer {
    /// Reads no more than what a report of an engine may have.
    async fn read(mut response: reqwest::Response) -> Result<Self, reqwest::Error> {
        let status = response.status().as_u16();
        let mut body = Vec::new();
        while let Some(bytes) = response.chunk().await? {
            body.extend_from_slice(&bytes[..bytes.len().min(ANSWER_LIMIT - body.len())]);
            if body.len() == ANSWER_LIMIT {
                break;
            }
        }
        Ok(Self { status, body })
    }

    fn is_ok(&self) -> bool {
        (200..300).contains(&self.status)
    }

    fn json(&self) -> Option<Value> {
        self.is_ok()
            .then(|| serde_json::from_slice(&self.body).ok())?
    }
}

impl Answer {
    /// The list of models, or what the status says instead. `key` is where the key that was sent came from.
    fn models(&self, api: Api, key: Option<&str>) -> Result<Value, ProbeError> {
        let status = self.status;
        let none = |what| ProbeError::NoEngine { what };
        match (status, key) {
            (401 | 403, Some(key)) => Err(ProbeError::KeyRefused {
                status,
                key: key.to_owned(),
            }),
            (401 | 403, None) => Err(ProbeError::Unauthorized { status }),
            (429 | 502..=504, _) => Err(ProbeError::Busy { status }),
            (500.., _) => Err(ProbeError::Failing { status }),
            _ if !self.is_ok() => Err(none(NoModels::Status(status))),
            _ => self
                .json()
                .and_then(|json| listing::models(api, json))
                .ok_or(none(NoModels::Other)),
        }
    }
}

pub(crate) struct Asker {
    http: Client,
    api: Api,
    base: String,
    headers: HeaderMap,
    /// Where the API key came from, in words.
    key: Option<String>,
}

impl Asker {
    /// Looks the host up on a thread that may block.
    pub(crate) async fn made(
        endpoint: &Endpoint,
        wire: Wire,
        limit: Duration,
    ) -> Result<Self, EngineError> {
        let endpoint = endpoint.clone();
        let made = tokio::task::spawn_blocking(move || Self::new(&endpoint, &wire, limit)).await;
        made.unwrap_or_else(|lost| Err(EngineError::Runtime(lost.into())))
    }

    fn new(endpoint: &Endpoint, wire: &Wire, limit: Duration) -> Result<Self, EngineError> {
        let base = endpoint.url.clone();
        let url = address::under(&base, "").map_err(EngineError::Address)?;
        let addresses = address::resolve(&url).map_err(EngineError::Address)?;
        let host = url.host_str().unwrap_or_default();
        let http = client::new(host, &addresses, limit, wire)?;
        Ok(Self {
            http,
            api: endpoint.api,
            base,
            headers: engine::headers(endpoint, wire)?,
            key: engine::key_source(endpoint),
        })
    }

    async fn ask(&self, method: Method, path: &str) -> Result<Answer, reqwest::Error> {
        let Ok(url) = self.url(path) else {
            return Ok(Answer {
                status: 404,
                body: Vec::new(),
            });
        };
        let mut request = Request::new(method, url);
        *request.headers_mut() = self.headers.clone();
        Answer::read(self.http.execute(request).await?).await
    }

    /// The URL of a path, which may have a query.
    fn url(&self, path: &str) -> Result<Url, AddressError> {
        let (path, query) = path
            .split_once('?')
            .map_or((path, None), |(path, query)| (path, Some(query)));
        let mut url = address::under(&self.base, path)?;
        if query.is_some() {
            url.set_query(query);
        }
        Ok(url)
    }

    /// Posts JSON and reads JSON; what went wrong, in words.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value, String> {
        let url = self.url(path).map_err(|error| error.to_string())?;
        let request = self.http.post(url).headers(self.headers.clone()).json(body);
        let words = |error| client::chain(&error);
        let answer = Answer::read(request.send().await.map_err(words)?).await;
        let answer = answer.map_err(words)?;
        match answer.status {
            200..300 if answer.body.len() == ANSWER_LIMIT => {
                Err(format!("more than {} MiB", ANSWER_LIMIT >> 20))
            }
            200..300 => serde_json::from_slice(&answer.body).map_err(|why| why.to_string()),
            status => Err(format!("status {status}")),
        }
    }

    async fn json(&self, path: &str) -> Option<Value> {
        self.ask(Method::GET, path).await.ok()?.json()
    }

    async fn probe(&self) -> Result<Probe, ProbeError> {
        let unreachable = |error| {
            let why = client::chain(&error);
            if client::is_untrusted(&error) {
                ProbeError::Untrusted { why }
            } else {
                ProbeError::Unreachable { why }
            }
        };
        let (method, place) = listing::place(self.api);
        let listed = self.ask(method, place).await.map_err(unreachable)?;
        let models = listed.models(self.api, self.key.as_deref())?;
        let development = self.only_posts(reset::RESET).await;
        let metrics = self.ask(Method::GET, "metrics").await;
        let metrics = metrics.ok().filter(Answer::is_ok);
        let has_metrics = metrics.is_some();
        let found = Found {
            version: self.json(listing::version(self.api)).await,
            props: self.json("props").await,
            info: self.info(&models, development).await,
            tgi: self.tgi(&models).await,
            ollama: self.ollama(&models).await,
            metrics: metrics.map(|it| String::from_utf8_lossy(&it.body).into_owned()),
            models,
        };
        let can_reset_cache = development || found.sglang().is_some();
        Ok(found.probe(has_metrics, can_reset_cache))
    }
}

/// The answers that were JSON, and the page of metrics.
#[derive(Default)]
struct Found {
    models: Value,
    /// vLLM's and the simulator's `/version`.
    version: Option<Value>,
    /// llama.cpp's `/props`.
    props: Option<Value>,
    /// SGLang's, vLLM's or the simulator's report of itself.
    info: Option<Value>,
    /// TGI's `/info`.
    tgi: Option<Value>,
    /// Ollama's `/api/show`.
    ollama: Option<Value>,
    /// `/metrics`.
    metrics: Option<String>,
}

impl Found {
    fn sglang(&self) -> Option<&Value> {
        self.info
            .as_ref()
            .filter(|info| info.get("model_path").is_some())
    }

    fn probe(&self, has_metrics: bool, can_reset_cache: bool) -> Probe {
        let listed = self.models["data"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let models = listed
            .iter()
            .filter_map(|model| text(&model["id"]))
            .take(MODELS_LIMIT);
        let (engine, version) = self.engine(listed.first());
        let engine = engine.to_owned();
        Probe {
            engine,
            version,
            models: models.collect(),
            facts: self.facts(),
            has_metrics,
            can_reset_cache,
        }
    }

    fn engine(&self, model: Option<&Value>) -> (&'static str, Option<String>) {
        let owner = model
            .and_then(|model| model["owned_by"].as_str())
            .unwrap_or_default();
        let version = self
            .version
            .as_ref()
            .and_then(|version| text(&version["version"]));
        let build = self
            .props
            .as_ref()
            .and_then(|props| text(&props["build_info"]))
            // Built outside its repository it says `b0-unknown`, which is no version.
            .filter(|build| !build.ends_with("-unknown"));
        let slots = self
            .props
            .as_ref()
            .is_some_and(|props| props.get("total_slots").is_some());
        match (owner, self.sglang()) {
            ("goodput-sim", _) => ("Goodput simulator", version),
            ("vllm", _) => ("vLLM", version),
            ("ollama", _) => ("Ollama", version),
            ("tgi", _) => ("TGI", version.or_else(|| text(&model?["version"]))),
            ("tensorrt_llm", _) => ("TensorRT-LLM", version),
            ("lmdeploy", _) => ("LMDeploy", version),
            ("triton", _) => ("Triton", version),
            (_, Some(info)) => ("SGLang", text(&info["version"])),
            ("sglang", None) => ("SGLang", None),
            ("llamacpp", None) => ("llama.cpp", build),
            _ if slots => ("llama.cpp", build),
            _ if version.is_some() => ("vLLM", version),
            _ => (UNKNOWN, None),
        }
    }

    fn facts(&self) -> Facts {
        let reports = Reports {
            model: self.models["data"].get(0),
            props: self.props.as_ref(),
            sglang: self.sglang(),
            vllm: self.info.as_ref(),
            tgi: self.tgi.as_ref(),
            ollama: self.ollama.as_ref(),
            metrics: self.metrics.as_deref().unwrap_or_default(),
        };
        let mut facts = reports.facts();
        facts.extend(self.simulator_knobs());
        facts
    }

    fn simulator_knobs(&self) -> impl Iterator<Item = (String, Fact)> {
        let simulated = self
            .info
            .as_ref()
            .filter(|info| info["simulated"] == Value::Bool(true));
        let knobs = simulated.and_then(|info| info["knobs"].as_object());
        knobs.into_iter().flatten().filter_map(|(name, value)| {
            let value = text(value)?;
            let name = text(&Value::String(name.clone()))?;
            Some((
                format!("knob:{name}"),
                Fact {
                    value,
                    source: Source::Engine,
                },
            ))
        })
    }
}

/// A scalar as bounded text.
fn text(value: &Value) -> Option<String> {
    let whole = match value {
        Value::String(text) if !text.is_empty() => text.clone(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        _ => return None,
    };
    Some(
        whole
            .chars()
            .filter(|c| !c.is_control())
            .take(FIELD_LIMIT)
            .collect(),
    )
}

#[cfg(test)]
mod tests;
