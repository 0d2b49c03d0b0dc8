//! Engines: who is behind a URL, what may be turned, how each was started.

use super::*;

/// What to probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeRequest {
    /// Base URL, with or without `/v1`.
    pub url: String,
    /// Dialect.
    pub api: Api,
    /// Name of the environment variable that holds the API key; it ends in `_API_KEY`.
    pub api_key_env: Option<String>,
    /// Name of the stored secret that holds it, where no variable does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_secret: Option<String>,
    /// How it is reached, where that is not as usual.
    #[serde(default, skip_serializing_if = "Connection::is_usual")]
    pub connection: Connection,
}

/// What is behind a URL. Parsed fields only; nothing of the answer's text is passed on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeReport {
    /// `vLLM`, `llama.cpp`, `SGLang`, `Goodput simulator`, or `unknown`.
    pub engine: String,
    /// Its version, where it says one.
    pub version: Option<String>,
    /// Models it serves.
    pub models: Vec<String>,
    /// Facts it reports of itself (context length, weights, ...).
    pub facts: Facts,
    /// Whether `/metrics` answers.
    pub has_metrics: bool,
    /// Whether its prefix cache can be reset from outside.
    pub can_reset_cache: bool,
}

/// An engine that was added on purpose; load goes only to these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineRow {
    /// The engine.
    pub id: Uuid,
    /// A person's name for it.
    pub name: String,
    /// How it is reached.
    pub endpoint: Endpoint,
    /// What the last probe said.
    pub probe: Option<ProbeReport>,
    /// Where the studio starts it itself: the catalogue that its knobs stand in. Its URL is then `managed:NAME`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub managed: Option<String>,
}

impl EngineRow {
    /// The engine as a study names it.
    pub fn spec(&self) -> EngineSpec {
        match self.managed {
            Some(_) => EngineSpec::Managed {
                name: self.name.clone(),
            },
            None => EngineSpec::Endpoint(self.endpoint.clone()),
        }
    }
}

/// The first requests of a study's first point.
#[cfg(feature = "ssr")]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Input tokens meant of each request, the whole context of its turn.
    pub input_tokens: Vec<u32>,
    /// Output tokens asked of each.
    pub output_tokens: Vec<u32>,
    /// Turns of each session.
    pub turns: Vec<u32>,
    /// Messages of one request, with who speaks.
    pub messages: Vec<(String, String)>,
}

/// What values a knob takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnobKind {
    /// On or off.
    Switch,
    /// A whole number.
    Whole,
    /// A number.
    Fraction,
    /// One of a few words.
    Choice,
    /// Any other text.
    Text,
}

/// A knob of an engine that the studio starts, for a form.
#[derive(Clone, Debug, PartialEq)]
pub struct KnobRow {
    /// The flag without its dashes.
    pub name: String,
    /// What it takes.
    pub kind: KnobKind,
    /// Smallest and largest number.
    pub range: Option<(f64, f64)>,
    /// The values, where there are few.
    pub choices: Vec<String>,
    /// What the engine takes where nothing is set, in words where it depends.
    pub default: Option<String>,
    /// What it does to the curve.
    pub about: String,
    /// The engine's version that first had it, where that is known.
    pub since: Option<String>,
}

/// Everything that a page shows of an engine, and nothing that is secret.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineSheet {
    /// Its name, address, dialect, model, and keys by reference.
    pub row: EngineRow,
    /// It stands in `studio.toml`; else it was added by its URL.
    pub in_file: bool,
    /// What it runs on, in a person's words.
    pub hardware: Option<String>,
    /// Tags, sorted.
    pub tags: Vec<String>,
    /// How the studio starts it, where it does.
    pub launch: Option<LaunchSheet>,
}

/// How an engine is started, and what may be turned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaunchSheet {
    /// The catalogue's name as people write it, and the engine's version that it was checked against.
    pub catalogue: String,
    /// Program and arguments, values of keys left out.
    pub command: Vec<String>,
    /// What ends it, where its command's end does not.
    pub stop: Vec<String>,
    /// Names of the variables that it gets; never their values.
    pub env: Vec<String>,
    /// Where it answers.
    pub url: String,
    /// Seconds that a start may take.
    pub start_limit_s: u64,
    /// Knobs that it always has, unless a configuration says otherwise.
    pub base_knobs: BTreeMap<String, String>,
    /// Flags that the catalogue does not know are let through.
    pub free_flags: bool,
    /// Its knobs, without those that the command sets itself.
    pub knobs: Vec<KnobRow>,
}

/// The engines that there are, and whether the studio starts any.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Engines {
    /// By name.
    pub sheets: Vec<EngineSheet>,
    /// Why whoever asks may not have engines started; `None`: they may.
    pub no_starts: Option<String>,
}

/// What became of a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartFate {
    /// It runs.
    Runs,
    /// It was stopped when it was no longer needed.
    Stopped,
    /// No token came of it, or it ended while it was needed.
    Failed,
    /// The studio ended before it did.
    Unseen,
}

/// A start of an engine for a study.
#[derive(Clone, Debug, PartialEq)]
pub struct StartRow {
    /// For its log.
    pub id: Uuid,
    /// Index of the configuration.
    pub configuration: u32,
    /// What was run, argument by argument; keys are left out.
    pub command: Vec<String>,
    /// Milliseconds since 1970.
    pub started_ms: i64,
    /// From the start to the first token; `None` where none came.
    pub startup_ms: Option<i64>,
    /// What became of it.
    pub fate: StartFate,
    /// How it ended, in words.
    pub ending: Option<String>,
}
