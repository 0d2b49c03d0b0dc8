//! From a study's spec to its plan of points.
//!
//! A study asks one question of one workload under one SLO: each configuration is swept over the same levels, with the
//! same seeds, so that configurations are paired and points are independent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::arrival::Arrival;
use crate::knobs::Knobs;
use crate::sampling::derive;
use crate::slo::Slo;
use crate::units::{Level, Nanos, Seed};
use crate::workload::Workload;

mod adaptive; // a sweep that chooses its rates
mod changed; // what it changes of another
mod check; // can it run
mod connection; // how an engine is reached
mod credentials; // what it must not hold
mod exercise; // the goodput exercise
mod plan; // its points
mod preset; // questions that studies are begun with

pub use adaptive::{Adaptive, PROBES};
pub use check::{declared_problem, is_visible, level_problem, steers};
pub use connection::Connection;
pub use credentials::is_variable_name;
pub use exercise::EXERCISE_SCALE;
pub use preset::Preset;

/// The wire dialect of an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Api {
    /// OpenAI chat completions.
    #[default]
    #[serde(rename = "openai.chat")]
    OpenAiChat,
    /// OpenAI completions.
    #[serde(rename = "openai.completions")]
    OpenAiCompletions,
    /// OpenAI responses.
    #[serde(rename = "openai.responses")]
    OpenAiResponses,
    /// Ollama's own chat: a JSON object a line.
    #[serde(rename = "ollama.chat")]
    OllamaChat,
    /// Text Generation Inference's own stream.
    #[serde(rename = "tgi.generate_stream")]
    TgiGenerateStream,
    /// Triton's generate extension.
    #[serde(rename = "triton.generate_stream")]
    TritonGenerateStream,
    /// SGLang's own stream, whose events repeat the text so far.
    #[serde(rename = "sglang.generate")]
    SglangGenerate,
    /// llama.cpp's own stream.
    #[serde(rename = "llamacpp.completion")]
    LlamacppCompletion,
}

impl Api {
    /// Every dialect, in the order in which people are asked.
    pub const ALL: [Self; 8] = [
        Self::OpenAiChat,
        Self::OpenAiCompletions,
        Self::OpenAiResponses,
        Self::OllamaChat,
        Self::TgiGenerateStream,
        Self::TritonGenerateStream,
        Self::SglangGenerate,
        Self::LlamacppCompletion,
    ];

    /// The name used on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai.chat",
            Self::OpenAiCompletions => "openai.completions",
            Self::OpenAiResponses => "openai.responses",
            Self::OllamaChat => "ollama.chat",
            Self::TgiGenerateStream => "tgi.generate_stream",
            Self::TritonGenerateStream => "triton.generate_stream",
            Self::SglangGenerate => "sglang.generate",
            Self::LlamacppCompletion => "llamacpp.completion",
        }
    }

    /// The dialect of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.name() == name)
    }
}

/// An engine that already runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// Base URL, with or without `/v1`.
    pub url: String,
    /// The dialect spoken.
    pub api: Api,
    /// The model asked for.
    pub model: String,
    /// Name of the environment variable (of the server) that holds the API key: it ends in `_API_KEY`. The key itself is
    /// never stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Name of the secret (of the server) that holds the API key, where no variable does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_secret: Option<String>,
    /// Extra headers. Those that carry credentials are refused.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// How it is reached, where that is not as usual.
    #[serde(default, skip_serializing_if = "Connection::is_usual")]
    pub connection: Connection,
}

impl Endpoint {
    /// An engine that needs no key and is reached as usual.
    pub fn new(url: impl Into<String>, api: Api, model: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            api,
            model: model.into(),
            api_key_env: None,
            api_key_secret: None,
            headers: BTreeMap::new(),
            connection: Connection::default(),
        }
    }
}

/// The study's engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    rename_all = "snake_case",
    tag = "kind",
    try_from = "crate::wire::EngineText"
)]
pub enum EngineSpec {
    /// The built-in simulator, started anew for each configuration. Its results are badged *simulated* everywhere.
    Simulator {
        /// Its preset, e.g. `small-fast`.
        preset: String,
    },
    /// A registered engine by URL.
    Endpoint(Endpoint),
    /// An engine that the studio starts itself for each configuration, with its knobs.
    Managed {
        /// Its name in the server's list of engines. How it is started stands there, and nowhere else.
        name: String,
    },
}

/// How a configuration's knob values come about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    rename_all = "snake_case",
    tag = "way",
    try_from = "crate::wire::TurnText"
)]
pub enum Turn {
    /// The study's engine as it is (the simulator takes the knobs; an endpoint is left alone).
    #[default]
    AsIs,
    /// A second registered endpoint that already runs so.
    OtherEndpoint(Endpoint),
    /// Another engine that the studio starts itself, with this configuration's knobs.
    Managed {
        /// Its name in the server's list of engines.
        name: String,
    },
    /// The study pauses; a person restarts the engine and presses Continue.
    Pause {
        /// What the person is asked to do: `restart with --max-num-seqs 64`.
        instruction: String,
    },
}

/// One configuration of the study.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigurationSpec {
    /// Its name on every page: `caching on`.
    pub name: String,
    /// Knob values: set by the studio on the simulator, declared by a person elsewhere.
    #[serde(default)]
    pub knobs: Knobs,
    /// How they come about.
    #[serde(default)]
    pub turn: Turn,
    /// What a person knows of the engine that it does not tell: `hardware`, `quantization`, `driver`, ...
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub declared: BTreeMap<String, String>,
}

/// How long a point is: requests enough, time enough, both bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointLength {
    /// At least so many requests (100 at the very least gives a p95 an interval; 368 a p99).
    pub min_requests: u32,
    /// At most so many.
    pub max_requests: u32,
    /// Between the two, as many as arrive in this time.
    pub seconds: u32,
}

/// What becomes of a study when a managed engine does not start, or dies under load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// It ends; finished points are kept, and it can be resumed.
    #[default]
    Stop,
    /// The point has failed; the study goes on with the next, its engine started anew.
    Continue,
}

impl OnFailure {
    fn is_stop(&self) -> bool {
        *self == Self::Stop
    }
}

/// A study, as a person states it. The same check runs in the browser and in the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudySpec {
    /// Its name.
    pub name: String,
    /// The engine.
    pub engine: EngineSpec,
    /// The workload.
    pub workload: Workload,
    /// The arrival process.
    #[serde(default)]
    pub arrival: Arrival,
    /// The levels of every sweep, in the order they run; empty where the sweep is adaptive.
    pub levels: Vec<Level>,
    /// Finds the ceiling by itself, in place of fixed levels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<Adaptive>,
    /// How long each point is.
    pub length: PointLength,
    /// Warm-up requests before each point, with prompts of their own.
    pub warmup: u32,
    /// Everything random follows from it.
    pub seed: Seed,
    /// What was promised.
    pub slo: Slo,
    /// One or more configurations; the first is the baseline.
    pub configurations: Vec<ConfigurationSpec>,
    /// How often each level is measured.
    pub repeats: u32,
    /// A stream silent for so long has failed.
    pub idle_timeout_ms: u64,
    /// Wait so long for requests in flight after the last arrival.
    pub drain_ms: u64,
    /// Requests due so early in a point are sent and recorded but stand in no figure, while the engine fills up.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ramp_in_ms: u64,
    /// The model's `tokenizer.json` in the server's data folder: prompts then have exactly the tokens meant. Without it the
    /// engine counts where it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<String>,
    /// What becomes of it when a managed engine fails.
    #[serde(default, skip_serializing_if = "OnFailure::is_stop")]
    pub on_failure: OnFailure,
    /// Configurations may differ from the baseline in more than one knob. No difference between such two has one cause.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub factorial: bool,
}

fn is_zero(millis: &u64) -> bool {
    *millis == 0
}

/// An error at a field of a form. `field` is a path: `levels[2]`, `configurations[1].knobs`, `slo`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldError {
    /// The field.
    pub field: String,
    /// What is wrong, and the mend.
    pub message: String,
}

/// One point to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedPoint {
    /// Index into the study's configurations.
    pub configuration: u32,
    /// Index into the study's levels.
    pub level_index: u32,
    /// The level.
    pub level: Level,
    /// Which repeat, from 0.
    pub repeat: u32,
    /// The point's own seed: from the study's seed, the level and the repeat, the same for every configuration.
    pub seed: Seed,
    /// Requests aimed at (sessions are whole, so the real number may be a little higher).
    pub requests: u32,
    /// Estimated time, warm-up and drain included.
    pub estimated: Nanos,
}

/// Most points of one study.
pub const MAX_POINTS: usize = 500;
/// Most repeats of a level.
pub const MAX_REPEATS: u32 = 100;
/// Most requests of one point.
pub const MAX_REQUESTS: u32 = 100_000;

impl StudySpec {
    /// Every error, each at its field; empty when the study can run.
    pub fn check(&self) -> Vec<FieldError> {
        check::check(self)
    }

    /// The points in the order they run: configuration by configuration, level by level, repeat by repeat. Of an adaptive
    /// sweep the first of each configuration; the others follow from what these show.
    pub fn plan(&self) -> Vec<PlannedPoint> {
        plan::plan(self)
    }

    /// The seed of a level's repeat.
    pub fn point_seed(&self, level_index: u32, repeat: u32) -> Seed {
        Seed(derive(
            self.seed.0,
            &[u64::from(level_index), u64::from(repeat)],
        ))
    }
}

#[cfg(test)]
mod tests;
