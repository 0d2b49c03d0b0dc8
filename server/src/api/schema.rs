//! What stands in the OpenAPI document: the shapes of [`app::studio`] and [`measure`], which know nothing of OpenAPI.
//!
//! These types are never sent. A test reads what is really sent into them, so that document and wire cannot part.
#![expect(
    missing_docs,
    reason = "the field descriptions stand in the document where a name does not say enough"
)]

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

/// Defines a documented shape that takes exactly what is sent.
macro_rules! shapes {
    ($($(#[$meta:meta])* $kind:ident $name:ident { $($body:tt)* })*) => {$(
        #[derive(Debug, Serialize, Deserialize, ToSchema)]
        #[serde(deny_unknown_fields)]
        $(#[$meta])*
        pub $kind $name { $($body)* }
    )*};
}

mod capacity; // from ceilings to machines
mod compare; // configurations side by side
mod diagnosis; // why a point is slow
mod evidence; // what was seen beside a point
mod files; // what workloads name
mod history; // earlier runs of the same
mod managed; // engines that the studio starts itself
mod share; // links
mod workload; // what requests ask

pub use capacity::*;
pub use compare::*;
pub use diagnosis::*;
pub use evidence::*;
pub use files::*;
pub use history::*;
pub use managed::*;
pub use share::*;
pub use workload::*;

shapes! {
    /// A study, as a person states it.
    struct StudySpec {
        pub name: String,
        pub engine: EngineSpec,
        pub workload: Workload,
        /// How starts are spread over time at a rate: `poisson`, `constant`, `gamma=0.5` (burstiness), `linear-ramp=2` or
        /// `exponential-ramp=2` (the rate that the ramp starts from).
        pub arrival: String,
        /// Steps of the sweep in the order they run: a rate per second (`2.5`), `"inf"`, `"c=16"` for a closed loop, or
        /// `"x2"` for a trace at twice its speed.
        pub levels: Vec<Value>,
        /// Finds the ceiling by itself, in place of levels, which are then empty.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub adaptive: Option<Adaptive>,
        pub length: PointLength,
        /// Warm-up requests before each point, with prompts of their own.
        pub warmup: u32,
        /// Everything random follows from it. Text, because it may exceed what JavaScript can count to.
        pub seed: String,
        /// `ttft:p95<500ms tpot:p95<50ms attain>=95%`
        pub slo: String,
        /// One or more; the first is the baseline.
        pub configurations: Vec<ConfigurationSpec>,
        pub repeats: u32,
        /// A stream silent for so long has failed.
        pub idle_timeout_ms: u64,
        /// Wait so long for requests in flight after the last arrival.
        pub drain_ms: u64,
        /// Requests due so early in a point are sent and recorded but stand in no figure; none where it is left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub ramp_in_ms: Option<u64>,
        /// A `tokenizer.json` in the server's data set folder: prompts then have exactly the tokens meant. Without it the engine
        /// counts where it can.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub tokenizer: Option<String>,
        /// When an engine that the studio starts fails: `stop` ends the study, `continue` fails the point and goes on. Left
        /// out: `stop`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub on_failure: Option<String>,
        /// Configurations may differ from the baseline in more than one knob; no difference between such two has one cause.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub factorial: bool,
    }
    /// A sweep that chooses its rates. A probe has at least `length.min_requests`; one rate gets at most
    /// `length.max_requests` over all its probes.
    struct Adaptive {
        /// Lowest rate tried, per second.
        pub from: f64,
        /// Highest rate tried.
        pub to: f64,
        /// Time for all configurations together, shared evenly.
        pub minutes: u32,
        /// The relative width of the ceiling's bracket at which a configuration is done, as 0.15.
        pub width: f64,
    }
    /// The study's engine.
    #[serde(rename_all = "snake_case", tag = "kind")]
    enum EngineSpec {
        /// The built-in simulator.
        Simulator {
            preset: String,
        },
        /// An engine that was added before.
        Endpoint(Endpoint),
        /// An engine of `studio.toml` that the studio starts for each configuration, by name. For the single user of a studio
        /// on its own machine, or an administrator.
        Managed {
            name: String,
        },
    }
    /// An engine that already runs.
    struct Endpoint {
        /// Base URL, with or without `/v1`.
        pub url: String,
        pub api: Api,
        pub model: String,
        /// Name of the server's environment variable that holds the API key; it ends in `_API_KEY`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub api_key_env: Option<String>,
        /// Name of the secret that holds it, where no variable does: `goodput secret set NAME --for URL` keeps one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub api_key_secret: Option<String>,
        /// Extra headers. Those that carry credentials are refused.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub headers: BTreeMap<String, String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub connection: Option<Connection>,
    }
    /// How an engine is reached, where that is not as usual.
    #[serde(default)]
    #[derive(Default)]
    struct Connection {
        /// Name of a PEM file in the folder `certificates` of the studio's data directory: an authority to believe beside
        /// the system's.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub ca_file: Option<String>,
        /// Believe every certificate. What is measured so says so.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pub insecure: bool,
        /// HTTP/2, and nothing else.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pub http2: bool,
        /// An HTTP proxy without name and password: `http://proxy.example:3128`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub proxy: Option<String>,
    }
    /// The wire dialect.
    enum Api {
        #[serde(rename = "openai.chat")]
        OpenAiChat,
        #[serde(rename = "openai.completions")]
        OpenAiCompletions,
        #[serde(rename = "openai.responses")]
        OpenAiResponses,
        #[serde(rename = "ollama.chat")]
        OllamaChat,
        #[serde(rename = "tgi.generate_stream")]
        TgiGenerateStream,
        #[serde(rename = "triton.generate_stream")]
        TritonGenerateStream,
        #[serde(rename = "sglang.generate")]
        SglangGenerate,
        #[serde(rename = "llamacpp.completion")]
        LlamacppCompletion,
    }
    /// How long a point is: between the two counts, as many requests as arrive in this time.
    struct PointLength {
        pub min_requests: u32,
        pub max_requests: u32,
        pub seconds: u32,
    }
    /// One configuration of the study.
    struct ConfigurationSpec {
        pub name: String,
        /// Knob values: set by the studio on the simulator and on engines that it starts, declared by a person elsewhere.
        pub knobs: BTreeMap<String, Value>,
        pub turn: Turn,
        /// What a person knows of the engine that it does not tell, as `{"hardware": "1x L4"}`.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub declared: BTreeMap<String, String>,
    }
    /// How a configuration's knob values come about.
    #[serde(rename_all = "snake_case", tag = "way")]
    enum Turn {
        /// The study's engine as it is.
        AsIs,
        /// A second engine that already runs so.
        OtherEndpoint(Endpoint),
        /// Another engine that the studio starts, by name.
        Managed {
            name: String,
        },
        /// The study pauses; a person restarts the engine and proceeds.
        Pause {
            instruction: String,
        },
    }
    /// A study in a list.
    struct StudyRow {
        pub id: Uuid,
        pub name: String,
        pub state: StudyState,
        pub simulated: bool,
        /// Some engine of it was believed whatever its certificate.
        pub insecure: bool,
        pub tags: Vec<String>,
        pub engine: String,
        pub slo: String,
        /// Its configurations, in the order of `ceilings`.
        pub configurations: Vec<Uuid>,
        /// Name of each configuration with its ceiling by attainment: `[["caching off", {...}], ...]`.
        #[schema(value_type = Vec<Vec<Object>>)]
        pub ceilings: Vec<(String, Option<Ceiling>)>,
        /// Rates count sessions rather than single requests.
        pub sessions: bool,
        pub points_finished: u32,
        pub points: u32,
        pub created_ms: i64,
        /// Measured elsewhere, and opened from a bundle.
        pub imported: bool,
        /// Every engine of it with its version, as they told.
        pub engines: Vec<String>,
        pub models: Vec<String>,
        /// What they run on, where that is stated.
        pub hardware: Vec<String>,
        /// Who measured it: the declared fact `author`.
        pub author: Option<String>,
        /// Points whose certificate is void.
        pub void_points: u32,
        /// Its configurations differ in more than one thing.
        pub confounded: bool,
        /// Its model is too small to say anything of those that people use.
        pub toy: bool,
    }
    /// Where a study stands.
    #[serde(rename_all = "snake_case")]
    enum StudyState {
        Queued,
        Running,
        Waiting,
        Finished,
        Stopped,
        Interrupted,
        Failed,
    }
    /// The highest offered rate at which the SLO holds, as a bracket.
    #[serde(rename_all = "snake_case", tag = "kind")]
    enum Ceiling {
        Bracket {
            value: f64,
            lo: f64,
            hi: f64,
        },
        AtLeast {
            lo: f64,
        },
        NoneKept {
            hi: f64,
        },
        Unresolved {
            lo: Option<f64>,
            hi: Option<f64>,
        },
        /// Cannot be told: the rate of every point went from one to another.
        Ramped,
    }
    /// A study, whole.
    struct StudyView {
        pub id: Uuid,
        pub spec: StudySpec,
        pub state: StudyState,
        pub problem: Option<String>,
        pub tags: Vec<String>,
        pub note: String,
        pub configurations: Vec<ConfigurationView>,
        pub points: Vec<PointView>,
        /// Once it has ended: the index of each configuration that has no verdict on its ceiling, with what else is surest against the
        /// baseline, in words; left out where there is none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub differences: Vec<Value>,
        /// Once it has ended: the index of each configuration whose ceiling must lie further from the baseline's than touching, with how
        /// much, as a share: the machine changed meanwhile. Left out where there is none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub apart: Vec<Value>,
        /// Of a sweep that finds the ceiling, at most.
        pub remaining_ms: Option<u64>,
        /// Whether a person holds it: `asked` (it pauses after its present point) or `paused`; left out where nobody does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub hold: Option<String>,
        /// The id of the point under load with its progress as it was seen last; left out where none is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub underway: Option<Value>,
        pub created_ms: i64,
        /// Number of the last live event that this view includes.
        pub last_event: u64,
        /// Where it came from, in a sentence; left out of studies that were measured here.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        pub imported: String,
    }
    /// A configuration with what was recorded of it.
    struct ConfigurationView {
        pub id: Uuid,
        pub spec: ConfigurationSpec,
        /// What is known of it, each with who says so.
        pub facts: BTreeMap<String, Fact>,
        pub cache_cold: Option<bool>,
        /// By attainment: the headline.
        pub ceiling: Option<Ceiling>,
        pub ceiling_by_percentile: Option<Ceiling>,
        /// Why its adaptive sweep ended, as a sentence; left out while it goes on, and where levels are fixed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub search_ended: Option<String>,
    }
    /// A recorded fact.
    struct Fact {
        pub value: String,
        /// `engine`, `declared`, or `unknown` where nobody says what should be known.
        pub source: String,
    }
    /// A point. `summary`, `certificate` and `judgement` are there once it is finished.
    struct PointView {
        pub id: Uuid,
        /// Index into the study's configurations.
        pub configuration: u32,
        pub level: Value,
        pub repeat: u32,
        /// `planned`, `running`, `finished`, `interrupted`, `failed` or `skipped`.
        pub state: String,
        pub planned_requests: u32,
        /// Counts, rates and the distribution of each latency: `{"count", "p50": {"value", "lo", "hi"}, ...}` in nanoseconds.
        pub summary: Option<Value>,
        /// Was the client innocent: `clean`, `suspect` or `void`, with the evidence.
        pub certificate: Option<Value>,
        /// The point under the study's SLO.
        pub judgement: Option<Value>,
        pub started_ms: Option<i64>,
        /// Why it failed (its engine did not start, or died under load), or how far it was when it was skipped.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub problem: Option<String>,
        /// What its prompts were made of: who counted their lengths, which rows were used, which part is counted.
        pub notes: Vec<String>,
    }
    /// A change to a study; what is left out stays.
    struct StudyEdit {
        pub name: Option<String>,
        pub tags: Option<Vec<String>>,
        pub note: Option<String>,
        /// What a person knows of the engine that it does not tell.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub declared: BTreeMap<String, String>,
    }
    /// What to probe.
    struct ProbeRequest {
        pub url: String,
        pub api: Api,
        pub api_key_env: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub api_key_secret: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub connection: Option<Connection>,
    }
    /// What is behind a URL.
    struct ProbeReport {
        pub engine: String,
        pub version: Option<String>,
        pub models: Vec<String>,
        pub facts: BTreeMap<String, Fact>,
        pub has_metrics: bool,
        pub can_reset_cache: bool,
    }
    /// An engine that was added.
    struct EngineRow {
        pub id: Uuid,
        pub name: String,
        /// With the URL `managed:NAME` where the studio starts it.
        pub endpoint: Endpoint,
        pub probe: Option<ProbeReport>,
        /// Where the studio starts it: the catalogue of its knobs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub managed: Option<String>,
    }
    /// A named SLO.
    struct NamedSlo {
        pub name: String,
        pub slo: String,
    }
}
