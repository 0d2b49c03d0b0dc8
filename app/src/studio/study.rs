//! A study: in a list, and whole, with its configurations and points.

use super::*;

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
    /// What limits its configurations, what differs between them and what that did, drawn by the server for the page of a link; empty
    /// everywhere else.
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
