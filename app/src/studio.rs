//! The door between the screens and the world: [`Studio`], and the views that pass through it.
//!
//! The server implements it; pages rendered on the server call it, the REST interface calls it, and pages in the
//! browser reach it through server functions. Views carry numbers, never prose that a page could make itself.

use std::collections::BTreeMap;

use async_trait::async_trait;
use measure::arrival::Arrival;
use measure::certificate::Certificate;
use measure::compare::{Along, CeilingComparison, Comparison, Difference, Drift, Verdict};
use measure::curve::{Ceiling, CurvePoint};
use measure::evidence::Evidence;
use measure::knobs::{Comparability, Facts};
use measure::rules::Table;
use measure::slo::{Judgement, Slo};
use measure::study::{
    Api, ConfigurationSpec, Connection, Endpoint, EngineSpec, FieldError, StudySpec, Turn,
};
use measure::summary::{Capacity, Summary};
use measure::units::Level;
use measure::workload::DataKind;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

#[cfg(feature = "ssr")]
use crate::diagnosis::DiagnosisView;
#[cfg(feature = "ssr")]
use crate::drawn::start::Sketch;
#[cfg(feature = "ssr")]
use crate::history::HistoryView;
#[cfg(feature = "ssr")]
use crate::url_state::ViewState;

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The single user of a loopback studio, or the holder of the access token.
    Owner,
}

/// Where a study stands. Said once, as a badge with a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StudyState {
    /// Waits for its engine.
    Queued,
    /// Runs.
    Running,
    /// Waits for a person to press Continue: to restart the engine first, or because a person paused it ([`Hold`]).
    Waiting,
    /// Every point finished.
    Finished,
    /// A person stopped it; finished points are kept.
    Stopped,
    /// The server went away in the middle; it can be resumed.
    Interrupted,
    /// It could not go on; `StudyView::problem` says why.
    Failed,
}

/// Whether a person holds a study.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// Nobody does.
    #[default]
    None,
    /// It will pause after the point under load.
    Asked,
    /// It has paused: it waits for Continue, and keeps its engine.
    Paused,
}

impl Hold {
    /// As it follows from a study's state and from whether a pause was asked for.
    pub fn of(state: StudyState, asked: bool) -> Self {
        match state {
            StudyState::Queued | StudyState::Running if asked => Self::Asked,
            StudyState::Waiting if asked => Self::Paused,
            _ => Self::None,
        }
    }

    fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// Where a point stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PointState {
    /// Not begun.
    Planned,
    /// Under load now.
    Running,
    /// Measured and stored; never changes again.
    Finished,
    /// Its engine did not start, or died under load; `PointView::problem` says why. It is measured when the study resumes.
    Failed,
    /// Begun and not finished; it is measured anew, whole, when the study resumes.
    Interrupted,
    /// A person ended it under load; what it recorded is kept, it counts in no figure, and it is never measured again.
    Skipped,
}

impl PointState {
    /// Whether nothing more becomes of it, also when its study resumes.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Skipped)
    }
}

/// A row of the start page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyRow {
    /// The study.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub state: StudyState,
    /// Runs on the simulator.
    pub simulated: bool,
    /// Some engine of it was believed whatever its certificate.
    #[serde(default)]
    pub insecure: bool,
    /// Tags, sorted.
    pub tags: Vec<String>,
    /// The engine in words: `simulator small-fast`, `vLLM 0.32.0, llama-8b`.
    pub engine: String,
    /// Its SLO.
    pub slo: Slo,
    /// Its configurations, for links to a comparison, in the order of `ceilings`.
    pub configurations: Vec<Uuid>,
    /// The headline ceiling of each configuration, by name, in order.
    pub ceilings: Vec<(String, Option<Ceiling>)>,
    /// Rates count sessions rather than single requests.
    pub sessions: bool,
    /// Points finished and planned.
    pub points_finished: u32,
    /// All points.
    pub points: u32,
    /// Milliseconds since 1970.
    pub created_ms: i64,
    /// Measured elsewhere, and opened from a bundle.
    pub imported: bool,
    /// Every engine of it with its version, as the engines told; by the order of the configurations.
    pub engines: Vec<String>,
    /// Their models.
    pub models: Vec<String>,
    /// What they run on, where that is stated.
    pub hardware: Vec<String>,
    /// Who measured it, where that is stated.
    pub author: Option<String>,
    /// Points whose certificate is void.
    pub void_points: u32,
    /// Its configurations differ in more than one thing.
    pub confounded: bool,
    /// Its model is too small to say anything of those that people use.
    pub toy: bool,
    /// Its curves, as small as they are drawn in lists.
    #[cfg(feature = "ssr")]
    #[serde(skip)]
    pub sketch: Sketch,
}

/// What the start page asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StudyFilter {
    /// Words that must occur in name, tag, engine or model.
    pub search: String,
    /// Studies older than this one (for "show more").
    pub before_ms: Option<i64>,
    /// At most so many; 0 stands for the default.
    pub limit: u32,
    /// The studies that come with the studio, opened or not, in place of those that are stored.
    #[serde(default)]
    pub examples: bool,
    /// An engine, as [`StudyRow::engines`] has it; empty: any.
    #[serde(default)]
    pub engine: String,
    /// A model; empty: any.
    #[serde(default)]
    pub model: String,
    /// What an engine runs on; empty: anything.
    #[serde(default)]
    pub hardware: String,
    /// A tag; empty: any.
    #[serde(default)]
    pub tag: String,
    /// Who measured; empty: anybody.
    #[serde(default)]
    pub author: String,
    /// Where it stands.
    #[serde(default)]
    pub state: Option<StudyState>,
    /// Studies made at this time or later.
    #[serde(default)]
    pub from_ms: Option<i64>,
    /// Studies made before this time.
    #[serde(default)]
    pub to_ms: Option<i64>,
}

impl StudyFilter {
    /// Whether it leaves nothing out but by its limit.
    pub fn is_all(&self) -> bool {
        let limit = self.limit;
        *self
            == Self {
                limit,
                ..Self::default()
            }
    }

    /// What studies are told apart by: kind and value, empty where any will do. Those that tell most apart come first.
    pub fn facets(&self) -> [(&'static str, &str); 5] {
        [
            ("tag", &self.tag),
            ("author", &self.author),
            ("model", &self.model),
            ("engine", &self.engine),
            ("hardware", &self.hardware),
        ]
    }
}

/// A point with what is known of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointView {
    /// The point.
    pub id: Uuid,
    /// Index into [`StudyView::configurations`].
    pub configuration: u32,
    /// The level.
    pub level: Level,
    /// Which repeat, from 0.
    pub repeat: u32,
    /// Where it stands.
    pub state: PointState,
    /// Requests aimed at.
    pub planned_requests: u32,
    /// Its numbers, once finished.
    pub summary: Option<Summary>,
    /// Its certificate, once finished.
    pub certificate: Option<Certificate>,
    /// The point under the study's SLO, once finished.
    pub judgement: Option<Judgement>,
    /// Milliseconds since 1970 of its start.
    pub started_ms: Option<i64>,
    /// Why it failed, or how far it was when it was skipped; for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What its prompts were made of, a sentence each: who counted their lengths, which rows were used, which part is counted.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl PointView {
    /// The point as a ceiling sees it; `None` before it is measured and judged. `arrival` is the study's.
    pub fn on_curve(&self, arrival: Arrival) -> Option<CurvePoint<'_>> {
        let (summary, certificate) = (self.summary.as_ref()?, self.certificate.as_ref()?);
        Some(CurvePoint {
            level: self.level,
            arrival,
            offered: summary.offered_rate,
            above_capacity: matches!(summary.capacity, Capacity::Above { .. }),
            innocence: certificate.innocence,
            judgement: self.judgement.as_ref()?,
        })
    }
}

/// A configuration with what was recorded of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfigurationView {
    /// The configuration, for links to a comparison.
    pub id: Uuid,
    /// As it was stated.
    pub spec: ConfigurationSpec,
    /// What is known of it: engine, version, model, knobs, each a fact or declared.
    pub facts: Facts,
    /// Whether its prefix cache was reset before each point: `None` where nobody can tell.
    pub cache_cold: Option<bool>,
    /// Ceiling by attainment: the headline.
    pub ceiling: Option<Ceiling>,
    /// Ceiling by the percentile verdict.
    pub ceiling_by_percentile: Option<Ceiling>,
    /// Why its adaptive sweep ended, as a sentence; `None` while it goes on, and where levels are fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_ended: Option<String>,
}

/// A study, whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyView {
    /// The study.
    pub id: Uuid,
    /// As it was stated (its name is the current one).
    pub spec: StudySpec,
    /// Where it stands.
    pub state: StudyState,
    /// Why it failed, or what it waits for; for people.
    pub problem: Option<String>,
    /// Tags, sorted.
    pub tags: Vec<String>,
    /// A person's note.
    pub note: String,
    /// Its configurations, baseline first.
    pub configurations: Vec<ConfigurationView>,
    /// Its points, in the order they run.
    pub points: Vec<PointView>,
    /// Once it has ended: by the index of a configuration that has no verdict on its ceiling, what else is surest against the baseline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<(u32, String)>,
    /// Once it has ended: by the index of a configuration, how much further apart than touching its ceiling and the baseline's must lie, as a
    /// share, since the machine changed meanwhile. Nothing where it did not, or nobody can tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<(u32, f64)>,
    /// Estimated milliseconds until it is done, of a sweep that finds the ceiling at most; `None` when it is not running or queued.
    pub remaining_ms: Option<u64>,
    /// Whether a person holds it.
    #[serde(default, skip_serializing_if = "Hold::is_none")]
    pub hold: Hold,
    /// The point under load as it was seen last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub underway: Option<(Uuid, Progress)>,
    /// Milliseconds since 1970.
    pub created_ms: i64,
    /// The sequence number of the last live event this view includes; events after it are still to come.
    pub last_event: u64,
    /// Where it came from, in a sentence, where it was measured elsewhere; it never changes then.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub imported: String,
    /// Each start of its engines, drawn by the server for the page of its owner; empty everywhere else.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub starts: String,
    /// What differs between its configurations and what that did, drawn by the server for the page of a link; empty everywhere else.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub compared: String,
    /// Only the figures of its points are shared: no other SLO can be tried.
    #[serde(default, skip_serializing_if = "is_not")]
    pub aggregates_only: bool,
}

fn is_not(said: &bool) -> bool {
    !said
}

/// Whether some engine of a study is believed whatever its certificate.
pub fn is_insecure(spec: &StudySpec) -> bool {
    let other = |turn: &Turn| matches!(turn, Turn::OtherEndpoint(it) if it.connection.insecure);
    matches!(&spec.engine, EngineSpec::Endpoint(it) if it.connection.insecure)
        || spec.configurations.iter().any(|it| other(&it.turn))
}

/// What the simulator calls itself, also where it runs behind a URL.
pub const SIMULATOR: &str = "Goodput simulator";

impl StudyView {
    /// Some engine of it was believed whatever its certificate: badged, too.
    pub fn is_insecure(&self) -> bool {
        is_insecure(&self.spec)
    }

    /// The studio starts some engine of it.
    pub fn is_managed(&self) -> bool {
        let managed = |turn: &Turn| matches!(turn, Turn::Managed { .. });
        matches!(self.spec.engine, EngineSpec::Managed { .. })
            || self.spec.configurations.iter().any(|it| managed(&it.turn))
    }

    /// Its models only show that an engine works: badged everywhere.
    pub fn is_toy_model(&self) -> bool {
        !self.is_simulated()
            && crate::toy::is_toy(self.configurations.iter(), Some(&self.spec.engine))
    }

    /// Runs on the simulator: badged everywhere.
    pub fn is_simulated(&self) -> bool {
        let says_so = |it: &ConfigurationView| {
            let engine = it.facts.get("engine");
            engine.is_some_and(|fact| fact.value == SIMULATOR)
        };
        matches!(self.spec.engine, EngineSpec::Simulator { .. })
            || self.configurations.iter().any(says_so)
    }
}

/// Failures of one kind within the point under load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failing {
    /// The kind: `rate_limited`.
    pub kind: String,
    /// How many there were.
    pub count: u32,
    /// What the first of them said; empty where it said nothing.
    pub first: String,
    /// When the latest ended, in milliseconds since the point's start.
    pub latest_ms: u64,
}

/// A bounded picture of the point under load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Milliseconds since the point's start.
    pub elapsed_ms: u64,
    /// Requests in the schedule.
    pub scheduled: u32,
    /// Requests sent.
    pub sent: u32,
    /// Requests in flight.
    pub in_flight: u32,
    /// Requests that succeeded.
    pub completed: u32,
    /// Requests that failed.
    pub failed: u32,
    /// Output tokens (events) per second over the last second.
    pub events_per_s: f64,
    /// TTFT p50 and p95 of the latest few thousand requests, in nanoseconds, with their count.
    pub ttft_p50_ns: Option<u64>,
    /// See `ttft_p50_ns`.
    pub ttft_p95_ns: Option<u64>,
    /// How many requests are behind them.
    pub ttft_count: u32,
    /// Requests sent per second over the last ten seconds; `None` in the first half second.
    #[serde(default)]
    pub sent_per_s: Option<f64>,
    /// Requests that succeeded per second; as above.
    #[serde(default)]
    pub completed_per_s: Option<f64>,
    /// Failures by kind, the kind that failed last first.
    #[serde(default)]
    pub failures: Vec<Failing>,
}

/// What the engine under measurement said.
#[cfg(feature = "ssr")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineLog {
    /// The last of it.
    Said(String),
    /// There is no log, and why.
    None(&'static str),
}

/// What browsers hear while a study runs. Numbered; a reconnecting browser gets what it missed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum LiveEvent {
    /// The study's state changed.
    State {
        /// The new state.
        state: StudyState,
        /// Why, where it needs saying.
        problem: Option<String>,
        /// Estimated milliseconds left.
        remaining_ms: Option<u64>,
        /// Whether a person holds it.
        #[serde(default, skip_serializing_if = "Hold::is_none")]
        hold: Hold,
    },
    /// A point began or ended.
    Point {
        /// The point as it is now.
        point: Box<PointView>,
        /// The ceilings of its configuration as they are now: by attainment, by percentile.
        ceilings: Box<(Option<Ceiling>, Option<Ceiling>)>,
        /// Estimated milliseconds left.
        remaining_ms: Option<u64>,
    },
    /// A configuration's facts were recorded.
    Facts {
        /// Index of the configuration.
        configuration: u32,
        /// What is known.
        facts: Facts,
        /// See [`ConfigurationView::cache_cold`].
        cache_cold: Option<bool>,
    },
    /// The point under load, a few times a second. Not numbered, not kept.
    Progress {
        /// The point.
        point: Uuid,
        /// Its picture.
        progress: Progress,
        /// Estimated milliseconds left.
        remaining_ms: Option<u64>,
    },
}

/// Change to a study's name, tags or note; what is `None` stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyEdit {
    /// New name.
    pub name: Option<String>,
    /// New tags.
    pub tags: Option<Vec<String>>,
    /// New note.
    pub note: Option<String>,
    /// What a person knows of the engine that it does not tell: fact to value, as `hardware`. What the engine told stays.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub declared: BTreeMap<String, String>,
}

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

/// A named SLO.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedSlo {
    /// Its name, unique.
    pub name: String,
    /// The SLO.
    pub slo: Slo,
}

/// A file that can be named in a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatasetRow {
    /// File name within the server's data set folder.
    pub file: String,
    /// Bytes.
    pub bytes: u64,
    /// What it is, by its content; `None` where it is nothing that is known.
    pub kind: Option<DataKind>,
    /// Its rows, once it was read to its end.
    pub rows: Option<u64>,
}

/// One configuration on the compare page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedConfiguration {
    /// Its study.
    pub study: Uuid,
    /// The study's name.
    pub study_name: String,
    /// Runs on the simulator.
    pub simulated: bool,
    /// The configuration.
    pub configuration: ConfigurationView,
    /// Its points.
    pub points: Vec<PointView>,
}

/// Candidate against baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairComparison {
    /// Index into [`CompareView::configurations`].
    pub candidate: u32,
    /// What differs.
    pub comparability: Comparability,
    /// The ceilings by attainment; `None` when the verdict is withheld.
    pub ceilings: Option<CeilingComparison>,
    /// The ceilings by percentile.
    pub ceilings_by_percentile: Option<CeilingComparison>,
    /// TTFT and TPOT p50, p95, p99 at each level that both have.
    pub latencies: Vec<Comparison>,
    /// Attainment at each level that both have.
    pub attainment: Vec<(Level, Option<Difference>, Verdict)>,
    /// The same along the curve; only the server knows of it, pages show [`PairComparison::said`].
    #[serde(default, skip_deserializing)]
    pub along: Vec<Along>,
    /// Whether the baseline itself changed; as above. `None` when the verdict is withheld.
    #[serde(default, skip_deserializing)]
    pub drift: Option<Drift>,
    /// How many differences of the page were judged together; as above.
    #[serde(default, skip_deserializing)]
    pub together: u32,
    /// What was found along the curve, of drift, and how surely, in words.
    #[serde(default)]
    pub said: Vec<String>,
}

/// The compare page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompareView {
    /// The SLO by which all are judged (the baseline study's, or the one in the URL).
    pub slo: Slo,
    /// Two or more; the first is the baseline.
    pub configurations: Vec<ComparedConfiguration>,
    /// Each other one against the baseline.
    pub pairs: Vec<PairComparison>,
}

/// What a link shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShareScope {
    /// The figures of points: no other SLO can be tried.
    Aggregates,
    /// The times of each request as well.
    #[default]
    Requests,
    /// Whatever was recorded, but for addresses and keys: note, tags, every setting, why points failed.
    All,
}

impl ShareScope {
    /// All, the closest first.
    pub const EACH: [Self; 3] = [Self::Aggregates, Self::Requests, Self::All];

    /// In the interface and in the store.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aggregates => "aggregates",
            Self::Requests => "requests",
            Self::All => "all",
        }
    }
}

/// A link to a comparison, as it is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewComparison {
    /// Two or more, of any studies; the first is the baseline.
    pub configurations: Vec<Uuid>,
    /// What judges them; the baseline study's own where nothing is said.
    pub slo: Option<Slo>,
    /// Milliseconds since 1970 after which it no longer works.
    pub expires_ms: Option<i64>,
    /// What it shows.
    pub scope: ShareScope,
}

/// A link: to a study, or to a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShareRow {
    /// For revoking.
    pub id: Uuid,
    /// The link's path, `/s/TOKEN`, of a comparison `/s/TOKEN/compare`; only right after it was made, since only its hash is kept.
    pub path: Option<String>,
    /// Milliseconds since 1970.
    pub created_ms: i64,
    /// Milliseconds since 1970 after which it no longer works.
    pub expires_ms: Option<i64>,
    /// Revoked.
    pub revoked: bool,
    /// What it shows.
    #[serde(default)]
    pub scope: ShareScope,
    /// What it compares, the baseline first; none of a link to a study.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configurations: Vec<Uuid>,
}

/// What went wrong, in the words of the person who asked. The HTTP edge maps each to a status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "error", from = "ErrorText")]
pub enum StudioError {
    /// 404.
    #[error("no such {what}")]
    NotFound {
        /// What was looked for.
        what: String,
    },
    /// 422, each at its field.
    #[error("{}", fields.iter().map(|e| format!("{}: {}", e.field, e.message)).collect::<Vec<_>>().join("; "))]
    Invalid {
        /// The errors.
        fields: Vec<FieldError>,
    },
    /// 409.
    #[error("{message}")]
    Conflict {
        /// Why, and the mend.
        message: String,
    },
    /// 403.
    #[error("{message}")]
    Forbidden {
        /// Why, and the mend.
        message: String,
    },
    /// 502: the engine, not the studio.
    #[error("{message}")]
    Engine {
        /// What the engine did, and the mend.
        message: String,
    },
    /// 507: a person must make room first.
    #[error(
        "there is no room left to store this; free space on the disk of the studio's data directory, then try again"
    )]
    Full,
    /// 500; the cause is in the server's log.
    #[error("something went wrong inside the studio; its log says what")]
    Internal,
}

/// An error as it is read: flat, for the reasons of [`measure::wire`]. What is unknown is an internal one.
#[derive(Deserialize)]
struct ErrorText {
    error: String,
    what: Option<String>,
    fields: Option<Vec<FieldError>>,
    message: Option<String>,
}

impl From<ErrorText> for StudioError {
    fn from(text: ErrorText) -> Self {
        let message = text.message.unwrap_or_default();
        match text.error.as_str() {
            "not_found" => Self::NotFound {
                what: text.what.unwrap_or_default(),
            },
            "invalid" => Self::Invalid {
                fields: text.fields.unwrap_or_default(),
            },
            "conflict" => Self::Conflict { message },
            "forbidden" => Self::Forbidden { message },
            "engine" => Self::Engine { message },
            _ => Self::Internal,
        }
    }
}

/// What the server draws beside a study's curves, so that nothing comes later and moves what stands below. All but the first part
/// stand in the page that the server sent and travel no second time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    /// Earlier runs of the same, and what the ceilings mean for a demand.
    pub plan: String,
    /// Whether the page has its diagnosis; else it is worked out later.
    pub told_why: bool,
    /// Why the configurations are slow.
    #[serde(skip)]
    pub why: String,
    /// The iso-goodput map of the point that is chosen; nothing of one that is too large to be drawn at once.
    #[serde(skip)]
    pub map: String,
    /// What the engine showed at that point.
    #[serde(skip)]
    pub engine: String,
}

/// Everything the screens and the REST interface can ask for.
#[async_trait]
pub trait Studio: Send + Sync {
    /// Studies, newest first.
    async fn studies(
        &self,
        actor: &Actor,
        filter: StudyFilter,
    ) -> Result<Vec<StudyRow>, StudioError>;
    /// One study.
    async fn study(&self, actor: &Actor, id: Uuid) -> Result<StudyView, StudioError>;
    /// What was seen beside a point's requests; none of points before there was any.
    async fn evidence(&self, actor: &Actor, point: Uuid) -> Result<Option<Evidence>, StudioError>;
    /// A measured point by the rules of other tools; none where it is too large to be read for a page.
    async fn rules(&self, actor: &Actor, point: Uuid) -> Result<Vec<Table>, StudioError>;
    /// Why a point is slow; none of one that is not measured.
    #[cfg(feature = "ssr")]
    async fn diagnosis(
        &self,
        actor: &Actor,
        point: Uuid,
    ) -> Result<Option<DiagnosisView>, StudioError>;
    /// What stands beside a study's curves in this view, as far as it is drawn fast; `plan` is left empty.
    #[cfg(feature = "ssr")]
    async fn beside(
        &self,
        actor: &Actor,
        study: &StudyView,
        view: &ViewState,
    ) -> Result<Beside, StudioError>;
    /// A study against earlier runs of the same.
    #[cfg(feature = "ssr")]
    async fn history(
        &self,
        actor: &Actor,
        study: Uuid,
        bar: measure::history::Bar,
    ) -> Result<HistoryView, StudioError>;
    /// The same by what is worked out by now: no page waits for the whole store. Where something is lacking, it says so.
    #[cfg(feature = "ssr")]
    async fn history_so_far(
        &self,
        actor: &Actor,
        study: Uuid,
        bar: measure::history::Bar,
    ) -> Result<HistoryView, StudioError>;
    /// Somebody was shown the form of a study that tries what a point's diagnosis foretells: a launch that is that study remembers it.
    fn will_try(&self, actor: &Actor, point: Uuid);
    /// The first requests that a study would send.
    #[cfg(feature = "ssr")]
    async fn sample(&self, actor: &Actor, spec: StudySpec) -> Result<Sample, StudioError>;
    /// Checks and stores a study and puts it in the queue.
    async fn launch(&self, actor: &Actor, spec: StudySpec) -> Result<Uuid, StudioError>;
    /// Stops a study; finished points are kept.
    async fn stop(&self, actor: &Actor, id: Uuid) -> Result<(), StudioError>;
    /// Puts an interrupted, stopped or failed study back in the queue; touched points are measured whole.
    async fn resume(&self, actor: &Actor, id: Uuid) -> Result<(), StudioError>;
    /// Ends the point under load: what it recorded is kept, and the study goes on with the next. Once more for the same point changes nothing.
    async fn skip(&self, actor: &Actor, point: Uuid) -> Result<(), StudioError>;
    /// Holds a running study once its present point has ended, until [`Studio::proceed`].
    async fn pause(&self, actor: &Actor, id: Uuid) -> Result<(), StudioError>;
    /// What the engine under measurement has said so far.
    #[cfg(feature = "ssr")]
    async fn engine_log(&self, actor: &Actor, study: Uuid) -> Result<EngineLog, StudioError>;
    /// Goes on with a study that waits for its engine to be restarted, or that was paused; one that would pause does not.
    async fn proceed(&self, actor: &Actor, id: Uuid) -> Result<(), StudioError>;
    /// Renames, tags, notes.
    async fn edit(&self, actor: &Actor, id: Uuid, edit: StudyEdit) -> Result<(), StudioError>;
    /// Hides a study; [`Studio::undelete`] brings it back for 30 days.
    async fn delete(&self, actor: &Actor, id: Uuid) -> Result<(), StudioError>;
    /// Undoes [`Studio::delete`].
    async fn undelete(&self, actor: &Actor, id: Uuid) -> Result<(), StudioError>;
    /// What is behind a URL.
    async fn probe(&self, actor: &Actor, request: ProbeRequest)
    -> Result<ProbeReport, StudioError>;
    /// Engines that were added, by name.
    async fn engines(&self, actor: &Actor) -> Result<Vec<EngineRow>, StudioError>;
    /// Adds an engine, or replaces the one of that name.
    async fn save_engine(
        &self,
        actor: &Actor,
        name: String,
        endpoint: Endpoint,
    ) -> Result<EngineRow, StudioError>;
    /// Forgets an engine; studies keep what they recorded.
    async fn delete_engine(&self, actor: &Actor, id: Uuid) -> Result<(), StudioError>;
    /// Every engine, with how it is started and what may be turned.
    async fn engine_sheets(&self, actor: &Actor) -> Result<Engines, StudioError>;
    /// The knobs of the simulator.
    async fn simulator_knobs(&self, actor: &Actor) -> Result<Vec<KnobRow>, StudioError>;
    /// Each start of an engine for a study, oldest first.
    async fn starts(&self, actor: &Actor, study: Uuid) -> Result<Vec<StartRow>, StudioError>;
    /// Names of the secrets that the studio keeps. Their values are never told.
    async fn secrets(&self, actor: &Actor) -> Result<Vec<String>, StudioError>;
    /// Named SLOs, by name.
    async fn slos(&self, actor: &Actor) -> Result<Vec<NamedSlo>, StudioError>;
    /// Adds or replaces a named SLO.
    async fn save_slo(&self, actor: &Actor, slo: NamedSlo) -> Result<(), StudioError>;
    /// Forgets a named SLO.
    async fn delete_slo(&self, actor: &Actor, name: String) -> Result<(), StudioError>;
    /// Files that can be named.
    async fn datasets(&self, actor: &Actor) -> Result<Vec<DatasetRow>, StudioError>;
    /// Configurations side by side; the first is the baseline. `slo` replaces the baseline study's.
    async fn compare(
        &self,
        actor: &Actor,
        configurations: Vec<Uuid>,
        slo: Option<Slo>,
    ) -> Result<CompareView, StudioError>;
    /// Mints a link to a study.
    async fn share(
        &self,
        actor: &Actor,
        study: Uuid,
        expires_ms: Option<i64>,
        scope: ShareScope,
    ) -> Result<ShareRow, StudioError>;
    /// Mints a link to configurations of any studies, side by side. It opens nothing else of these studies.
    async fn share_comparison(
        &self,
        actor: &Actor,
        comparison: NewComparison,
    ) -> Result<ShareRow, StudioError>;
    /// A study's links, and those to comparisons with a configuration of it.
    async fn shares(&self, actor: &Actor, study: Uuid) -> Result<Vec<ShareRow>, StudioError>;
    /// Revokes a link at once.
    async fn revoke(&self, actor: &Actor, share: Uuid) -> Result<(), StudioError>;
    /// What a link to a study shows: the study without engine URL, host, prompt, answer or note. No actor: the token is the right.
    async fn shared(&self, token: &str) -> Result<StudyView, StudioError>;
    /// A link's configurations side by side, as far as the link shows them; all of them where none are named. Where it shows figures
    /// alone, its own SLO judges.
    async fn shared_compare(
        &self,
        token: &str,
        configurations: Vec<Uuid>,
        slo: Option<Slo>,
    ) -> Result<CompareView, StudioError>;
}
