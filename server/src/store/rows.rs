//! Between columns and types: how states, specs and numbers stand in the tables.

use app::studio::{PointState, StudyState};
use load::Made;
use load::tokens::Counted;
use measure::certificate::Certificate;
use measure::knobs::Facts;
use measure::slo::Judgement;
use measure::study::{PlannedPoint, StudySpec};
use measure::summary::Summary;
use measure::units::Level;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::FromRow;
use uuid::Uuid;

use super::{Imported, PointText, StoreError};

/// A study as it stands in the store.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredStudy {
    /// Its id.
    pub id: Uuid,
    /// As it was stated, under its current name.
    pub spec: StudySpec,
    /// Where it stands.
    pub state: StudyState,
    /// Why it failed, or what it waits for.
    pub problem: Option<String>,
    /// Tags, sorted.
    pub tags: Vec<String>,
    /// A person's note.
    pub note: String,
    /// Runs on the simulator.
    pub simulated: bool,
    /// Its engine in words.
    pub engine: String,
    /// Milliseconds since 1970.
    pub created_ms: i64,
    /// Number of its last event.
    pub last_event: u64,
    /// A person asked for its end.
    pub stop_requested: bool,
    /// A person asked that it holds after its present point.
    pub pause_requested: bool,
    /// SHA-256 of the data set that it was launched with, in hexadecimal.
    pub dataset_sha256: Option<String>,
    /// SHA-256 of its tokenizer, in hexadecimal.
    pub tokenizer_sha256: Option<String>,
    /// Who counts its prompts, once that was found.
    pub counted: Option<Counted>,
    /// Where it came from, where it was not measured here.
    pub imported: Option<Imported>,
}

/// A configuration as it stands in the store.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredConfiguration {
    /// Its id.
    pub id: Uuid,
    /// Its study.
    pub study: Uuid,
    /// Index within the study.
    pub ordinal: u32,
    /// What is known of it.
    pub facts: Facts,
    /// Whether its cache was reset before each point.
    pub cache_cold: Option<bool>,
    /// Its ceilings under the study's SLO when the last point finished.
    pub ceilings: Option<String>,
}

/// A point as it stands in the store, without its data.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredPoint {
    /// Its id.
    pub id: Uuid,
    /// Index of its configuration within the study.
    pub configuration: u32,
    /// Its place in the plan.
    pub ordinal: u32,
    /// The level.
    pub level: Level,
    /// Which repeat.
    pub repeat: u32,
    /// Requests aimed at.
    pub planned_requests: u32,
    /// Estimated time.
    pub estimated_ms: u64,
    /// Where it stands.
    pub state: PointState,
    /// When it began.
    pub started_ms: Option<i64>,
    /// When it was finished.
    pub finished_ms: Option<i64>,
    /// Its numbers.
    pub summary: Option<Summary>,
    /// Its certificate.
    pub certificate: Option<Certificate>,
    /// The point under the study's SLO.
    pub judgement: Option<Judgement>,
    /// What its prompts were made of.
    pub made: Option<Made>,
    /// Why it failed.
    pub problem: Option<String>,
}

impl StoredPoint {
    /// A point that is still to be measured.
    pub fn planned(id: Uuid, ordinal: u32, planned: &PlannedPoint) -> Self {
        Self {
            id,
            configuration: planned.configuration,
            ordinal,
            level: planned.level,
            repeat: planned.repeat,
            planned_requests: planned.requests,
            estimated_ms: planned.estimated.0 / 1_000_000,
            state: PointState::Planned,
            started_ms: None,
            finished_ms: None,
            summary: None,
            certificate: None,
            judgement: None,
            made: None,
            problem: None,
        }
    }
}

#[derive(FromRow)]
pub(super) struct StudyColumns {
    id: Uuid,
    name: String,
    spec: String,
    state: String,
    problem: Option<String>,
    tags: String,
    note: String,
    simulated: bool,
    engine: String,
    created_ms: i64,
    last_event: i64,
    stop_requested: bool,
    pause_requested: bool,
    dataset_sha256: Option<String>,
    tokenizer_sha256: Option<String>,
    counted: Option<String>,
    imported: Option<String>,
}

impl TryFrom<StudyColumns> for StoredStudy {
    type Error = StoreError;
    fn try_from(row: StudyColumns) -> Result<Self, StoreError> {
        let StudyColumns {
            id,
            name,
            spec,
            state,
            problem,
            tags,
            note,
            simulated,
            engine,
            created_ms,
            last_event,
            stop_requested,
            pause_requested,
            dataset_sha256,
            tokenizer_sha256,
            counted,
            imported,
        } = row;
        let mut spec: StudySpec = from_json("study", &spec)?;
        spec.name = name;
        Ok(Self {
            id,
            spec,
            state: study_state(&state)?,
            problem,
            tags: from_json("tags", &tags)?,
            note,
            simulated,
            engine,
            created_ms,
            last_event: last_event.unsigned_abs(),
            stop_requested,
            pause_requested,
            dataset_sha256,
            tokenizer_sha256,
            counted: optional("counted", counted.as_deref())?,
            imported: optional("origin", imported.as_deref())?,
        })
    }
}

#[derive(FromRow)]
pub(super) struct ConfigurationColumns {
    id: Uuid,
    study: Uuid,
    ordinal: i64,
    facts: String,
    cache_cold: Option<bool>,
    ceilings: Option<String>,
}

impl TryFrom<ConfigurationColumns> for StoredConfiguration {
    type Error = StoreError;
    fn try_from(row: ConfigurationColumns) -> Result<Self, StoreError> {
        let ConfigurationColumns {
            id,
            study,
            ordinal,
            facts,
            cache_cold,
            ceilings,
        } = row;
        Ok(Self {
            id,
            study,
            ordinal: small(ordinal),
            facts: from_json("facts", &facts)?,
            cache_cold,
            ceilings,
        })
    }
}

#[derive(FromRow)]
pub(super) struct PointColumns {
    id: Uuid,
    configuration: i64,
    ordinal: i64,
    level: String,
    repeat: i64,
    planned_requests: i64,
    estimated_ms: i64,
    state: String,
    started_ms: Option<i64>,
    finished_ms: Option<i64>,
    summary: Option<String>,
    certificate: Option<String>,
    judgement: Option<String>,
    made: Option<String>,
    problem: Option<String>,
}

impl TryFrom<PointText> for StoredPoint {
    type Error = StoreError;
    fn try_from(text: PointText) -> Result<Self, StoreError> {
        let columns = PointColumns {
            id: text.id,
            configuration: text.configuration,
            ordinal: text.ordinal,
            level: text.level,
            repeat: text.repeat,
            planned_requests: text.planned_requests,
            estimated_ms: text.estimated_ms,
            state: text.state,
            started_ms: text.started_ms,
            finished_ms: text.finished_ms,
            summary: text.summary,
            certificate: text.certificate,
            judgement: text.judgement,
            made: text.made,
            problem: text.problem,
        };
        columns.try_into()
    }
}

impl TryFrom<PointColumns> for StoredPoint {
    type Error = StoreError;
    fn try_from(row: PointColumns) -> Result<Self, StoreError> {
        let PointColumns {
            id,
            configuration,
            ordinal,
            level,
            repeat,
            planned_requests,
            estimated_ms,
            state,
            started_ms,
            finished_ms,
            summary,
            certificate,
            judgement,
            made,
            problem,
        } = row;
        Ok(Self {
            id,
            configuration: small(configuration),
            ordinal: small(ordinal),
            level: level.parse().map_err(|_| StoreError::UnknownValue {
                what: "level",
                value: level,
            })?,
            repeat: small(repeat),
            planned_requests: small(planned_requests),
            estimated_ms: estimated_ms.unsigned_abs(),
            state: point_state(&state)?,
            started_ms,
            finished_ms,
            summary: optional("summary", summary.as_deref())?,
            certificate: optional("certificate", certificate.as_deref())?,
            judgement: optional("judgement", judgement.as_deref())?,
            made: optional("made", made.as_deref())?,
            problem,
        })
    }
}

/// The column's word for a study's state.
pub(super) fn study_word(state: StudyState) -> &'static str {
    match state {
        StudyState::Queued => "queued",
        StudyState::Running => "running",
        StudyState::Waiting => "waiting",
        StudyState::Finished => "finished",
        StudyState::Stopped => "stopped",
        StudyState::Interrupted => "interrupted",
        StudyState::Failed => "failed",
    }
}

pub(super) fn study_state(word: &str) -> Result<StudyState, StoreError> {
    const ALL: [StudyState; 7] = [
        StudyState::Queued,
        StudyState::Running,
        StudyState::Waiting,
        StudyState::Finished,
        StudyState::Stopped,
        StudyState::Interrupted,
        StudyState::Failed,
    ];
    let found = ALL.into_iter().find(|state| study_word(*state) == word);
    found.ok_or_else(|| StoreError::UnknownValue {
        what: "study's state",
        value: word.to_owned(),
    })
}

fn point_state(word: &str) -> Result<PointState, StoreError> {
    Ok(match word {
        "planned" => PointState::Planned,
        "running" => PointState::Running,
        "finished" => PointState::Finished,
        "interrupted" => PointState::Interrupted,
        "failed" => PointState::Failed,
        "skipped" => PointState::Skipped,
        _ => {
            return Err(StoreError::UnknownValue {
                what: "point's state",
                value: word.to_owned(),
            });
        }
    })
}

pub(super) fn to_json(what: &'static str, value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|cause| StoreError::Unwritable { what, cause })
}

pub(super) fn from_json<T: DeserializeOwned>(
    what: &'static str,
    text: &str,
) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|cause| StoreError::Unreadable { what, cause })
}

pub(super) fn optional<T: DeserializeOwned>(
    what: &'static str,
    text: Option<&str>,
) -> Result<Option<T>, StoreError> {
    text.map(|text| from_json(what, text)).transpose()
}

/// Columns are 64 bits wide in both databases; these counts are bounded far below 32.
fn small(column: i64) -> u32 {
    u32::try_from(column).unwrap_or(u32::MAX)
}
