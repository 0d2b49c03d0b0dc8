//! What studies say of each operating point, so that a new run can be held against earlier ones of the same.
//!
//! A row follows from finished points and from what is known of their configuration; it is worked out by the studio, never by SQL.

use sqlx::FromRow;
use uuid::Uuid;

use super::{Store, StoreError, clean, reading, writing};

/// One figure of a study at one operating point.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptRun {
    /// Index of the configuration.
    pub configuration: u32,
    /// The level as it is written; empty for what belongs to the whole curve.
    pub level: String,
    /// Which figure: `ttft p50`, `ceiling`.
    pub figure: String,
    /// Digest of what makes two runs runs of the same.
    pub same: String,
    /// When it ran, in milliseconds since 1970.
    pub at_ms: i64,
    /// The figure: nanoseconds, or a rate per second.
    pub value: f64,
    /// Its own standard error over its value.
    pub error: f64,
    /// The engine's version, where it is known.
    pub version: Option<String>,
}

/// A run of the same as another.
#[derive(Clone, Debug, PartialEq, FromRow)]
pub struct SameRun {
    /// Its study.
    pub study: Uuid,
    /// The study's current name.
    pub name: String,
    /// See [`KeptRun`].
    pub at_ms: i64,
    /// See [`KeptRun`].
    pub value: f64,
    /// See [`KeptRun`].
    pub error: f64,
    /// See [`KeptRun`].
    pub version: Option<String>,
}

impl Store {
    /// Studies measured here that have ended and whose runs were not worked out by these rules yet, the latest first; each with the number
    /// of its last event.
    pub async fn studies_without_runs(
        &self,
        rules: i64,
        limit: u32,
    ) -> Result<Vec<(Uuid, i64)>, StoreError> {
        // By the time they were queued, since an index by time alone would be walked to its end where nothing is lacking.
        const SQL: &str = "SELECT id, last_event FROM studies WHERE runs_by < $1 AND imported IS NULL \
                           AND state IN ('finished', 'stopped', 'interrupted', 'failed') ORDER BY queued_ms DESC LIMIT $2";
        Ok(reading!(self, |pool| sqlx::query_as(SQL)
            .bind(rules)
            .bind(i64::from(limit))
            .fetch_all(pool)
            .await?))
    }

    /// Keeps a study's runs in place of those that it had; whether it is still as it was at its event `last_event`.
    pub async fn keep_runs(
        &self,
        (study, last_event): (Uuid, i64),
        rules: i64,
        runs: &[KeptRun],
    ) -> Result<bool, StoreError> {
        const SAME: &str = "UPDATE studies SET runs_by = $3 WHERE id = $1 AND last_event = $2";
        const RUN: &str = "INSERT INTO runs (study, configuration, level, figure, same, at_ms, value, error, version) \
                           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        Ok(writing!(self, |tx| {
            let unchanged = sqlx::query(SAME).bind(study).bind(last_event).bind(rules);
            if unchanged.execute(&mut *tx).await?.rows_affected() == 0 {
                return Ok(false);
            }
            sqlx::query("DELETE FROM runs WHERE study = $1")
                .bind(study)
                .execute(&mut *tx)
                .await?;
            for run in runs {
                let row = sqlx::query(RUN)
                    .bind(study)
                    .bind(i64::from(run.configuration));
                let row = row.bind(&run.level).bind(&run.figure).bind(&run.same);
                let row = row.bind(run.at_ms).bind(run.value).bind(run.error);
                let row = row.bind(run.version.as_deref().map(clean));
                row.execute(&mut *tx).await?;
            }
            true
        }))
    }

    /// Runs of the same before a time, the latest `most` of them, oldest first; those of deleted studies are left out.
    pub async fn runs_of_the_same(
        &self,
        same: &str,
        before_ms: i64,
        most: u32,
    ) -> Result<Vec<SameRun>, StoreError> {
        const SQL: &str = "SELECT r.study, s.name, r.at_ms, r.value, r.error, r.version FROM runs r JOIN studies s ON s.id = r.study \
                           WHERE r.same = $1 AND r.at_ms < $2 AND s.deleted_ms IS NULL \
                           ORDER BY r.at_ms DESC, r.study, r.configuration LIMIT $3";
        let mut runs: Vec<SameRun> = reading!(self, |pool| sqlx::query_as(SQL)
            .bind(same)
            .bind(before_ms)
            .bind(i64::from(most))
            .fetch_all(pool)
            .await?);
        runs.reverse();
        Ok(runs)
    }
}
