//! Studies as the texts that stand in their columns: what a bundle holds.
//!
//! Text stays text here, so that what went out is what comes in, to the last digit.

use serde::{Deserialize, Serialize};
use sqlx::FromRow;
use uuid::Uuid;

use super::{Store, StoreError, clean, reading};

/// Where a study came from that was not measured here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// Name of the file, without its folder.
    pub file: String,
    /// The version of goodput that made the file.
    pub goodput: String,
    /// When the file was made, milliseconds since 1970.
    pub exported_ms: i64,
    /// When it was opened here.
    pub imported_ms: i64,
    /// Whether the file has everything, addresses and logs among it.
    pub everything: bool,
    /// How the study had ended: a state's word.
    pub ended: String,
    /// Points that were planned and never measured; they are not in the file.
    pub unmeasured: u32,
}

/// A row of `studies`.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
pub struct StudyText {
    /// Its id.
    pub id: Uuid,
    /// Its current name.
    pub name: String,
    /// As it was launched.
    pub spec: String,
    /// Where it stands.
    pub state: String,
    /// Why it failed.
    pub problem: Option<String>,
    /// Tags as JSON.
    pub tags: String,
    /// A person's note.
    pub note: String,
    /// Runs on the simulator.
    pub simulated: bool,
    /// Its engine in words.
    pub engine: String,
    /// Milliseconds since 1970.
    pub created_ms: i64,
    /// See [`super::StoredStudy`].
    pub dataset_sha256: Option<String>,
    /// See [`super::StoredStudy`].
    pub tokenizer_sha256: Option<String>,
    /// Who counts its prompts, as JSON.
    pub counted: Option<String>,
}

/// A row of `configurations`.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
pub struct ConfigurationText {
    /// Its id.
    pub id: Uuid,
    /// Index within the study.
    pub ordinal: i64,
    /// Its name.
    pub name: String,
    /// What is known of it, as JSON.
    pub facts: String,
    /// Whether its cache was cold.
    pub cache_cold: Option<bool>,
    /// Its ceilings, as JSON.
    pub ceilings: Option<String>,
}

/// A row of `points`.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
pub struct PointText {
    /// Its id.
    pub id: Uuid,
    /// Index of its configuration.
    pub configuration: i64,
    /// Its place in the plan.
    pub ordinal: i64,
    /// The level as it is written.
    pub level: String,
    /// Which repeat.
    pub repeat: i64,
    /// Requests aimed at.
    pub planned_requests: i64,
    /// Estimated time.
    pub estimated_ms: i64,
    /// Where it stands.
    pub state: String,
    /// When its clock started.
    pub started_ms: Option<i64>,
    /// When it was stored.
    pub finished_ms: Option<i64>,
    /// Why it failed.
    pub problem: Option<String>,
    /// Its numbers as JSON.
    pub summary: Option<String>,
    /// Its certificate as JSON.
    pub certificate: Option<String>,
    /// The point under the study's SLO, as JSON.
    pub judgement: Option<String>,
    /// What its prompts were made of, as JSON.
    pub made: Option<String>,
}

/// What a finished point left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointData {
    /// Its scores, encoded.
    pub scores: Vec<u8>,
    /// Its records, as Parquet.
    pub records: Vec<u8>,
    /// What was seen beside its requests, as JSON.
    pub evidence: Option<String>,
    /// The text of the engine's metrics pages, compressed.
    pub metrics: Option<Vec<u8>>,
}

/// A row of `engine_starts`.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
pub struct StartText {
    /// Its id.
    pub id: Uuid,
    /// Index of the configuration.
    pub configuration: i64,
    /// What was run, an argument a line.
    pub command: String,
    /// Milliseconds since 1970.
    pub started_ms: i64,
    /// Until the first token.
    pub startup_ms: Option<i64>,
    /// When it ended.
    pub ended_ms: Option<i64>,
    /// How it ended.
    pub ending: Option<String>,
    /// The last of what it said, gzipped.
    pub log: Option<Vec<u8>>,
}

impl Store {
    /// A study's row; `None` where there is none, or where it was deleted.
    pub async fn study_text(&self, id: Uuid) -> Result<Option<StudyText>, StoreError> {
        const SQL: &str = "SELECT id, name, spec, state, problem, tags, note, simulated, engine, created_ms, dataset_sha256, tokenizer_sha256, counted \
                           FROM studies WHERE id = $1 AND deleted_ms IS NULL";
        Ok(reading!(self, |pool| sqlx::query_as(SQL)
            .bind(id)
            .fetch_optional(pool)
            .await?))
    }

    /// Studies of a name, deleted ones left out; two are enough to know that it is not the only one.
    pub async fn studies_named(&self, name: &str) -> Result<Vec<Uuid>, StoreError> {
        const SQL: &str = "SELECT id FROM studies WHERE name = $1 AND deleted_ms IS NULL ORDER BY created_ms LIMIT 2";
        Ok(reading!(self, |pool| sqlx::query_scalar(SQL)
            .bind(clean(name))
            .fetch_all(pool)
            .await?))
    }

    /// The rows of a study's configurations, in order.
    pub async fn configuration_texts(
        &self,
        study: Uuid,
    ) -> Result<Vec<ConfigurationText>, StoreError> {
        const SQL: &str = "SELECT id, ordinal, name, facts, cache_cold, ceilings FROM configurations WHERE study = $1 ORDER BY ordinal";
        Ok(reading!(self, |pool| sqlx::query_as(SQL)
            .bind(study)
            .fetch_all(pool)
            .await?))
    }

    /// The rows of a study's points, in order.
    pub async fn point_texts(&self, study: Uuid) -> Result<Vec<PointText>, StoreError> {
        const SQL: &str = "SELECT id, configuration, ordinal, level, repeat, planned_requests, estimated_ms, state, started_ms, finished_ms, \
                           problem, summary, certificate, judgement, made FROM points WHERE study = $1 ORDER BY ordinal";
        Ok(reading!(self, |pool| sqlx::query_as(SQL)
            .bind(study)
            .fetch_all(pool)
            .await?))
    }

    /// What a finished point left; `None` where it is not finished.
    pub async fn point_data(&self, point: Uuid) -> Result<Option<PointData>, StoreError> {
        const SQL: &str = "SELECT d.scores, d.records, e.evidence, e.metrics FROM point_data d LEFT JOIN point_evidence e ON e.point = d.point \
                           WHERE d.point = $1";
        type Columns = (Vec<u8>, Vec<u8>, Option<String>, Option<Vec<u8>>);
        let found: Option<Columns> = reading!(self, |pool| sqlx::query_as(SQL)
            .bind(point)
            .fetch_optional(pool)
            .await?);
        Ok(found.map(|(scores, records, evidence, metrics)| PointData {
            scores,
            records,
            evidence,
            metrics,
        }))
    }

    /// The rows of a study's starts with their logs, oldest first.
    pub async fn start_texts(&self, study: Uuid) -> Result<Vec<StartText>, StoreError> {
        const SQL: &str = "SELECT id, configuration, command, started_ms, startup_ms, ended_ms, ending, log FROM engine_starts \
                           WHERE study = $1 ORDER BY started_ms, id";
        Ok(reading!(self, |pool| sqlx::query_as(SQL)
            .bind(study)
            .fetch_all(pool)
            .await?))
    }
}
