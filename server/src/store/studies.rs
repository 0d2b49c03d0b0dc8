//! Studies as people see them: stored, listed, searched, renamed, deleted and brought back.

use app::studio::StudyState;
use measure::study::{PlannedPoint, StudySpec};
use uuid::Uuid;

use super::cards::{change_facets, stale};
use super::rows::{ConfigurationColumns, StudyColumns, study_word, to_json};
use super::{
    Store, StoreError, StoredConfiguration, StoredStudy, changing, clean, now_ms, reading, writing,
};

/// A study to be stored, queued, with its plan.
pub struct NewStudy<'a> {
    /// Its id.
    pub id: Uuid,
    /// As it was stated.
    pub spec: &'a StudySpec,
    /// Its points, in the order they run.
    pub plan: &'a [PlannedPoint],
    /// Its engine in words.
    pub engine: &'a str,
    /// What a search looks through.
    pub search: &'a str,
    /// Runs on the simulator.
    pub simulated: bool,
    /// Identities of all engines that it puts under load.
    pub engines: &'a [String],
    /// SHA-256 of its data set, in hexadecimal.
    pub dataset_sha256: Option<&'a str>,
    /// SHA-256 of its tokenizer, in hexadecimal.
    pub tokenizer_sha256: Option<&'a str>,
}

/// A person's change; what is `None` stays.
#[derive(Clone, Debug, Default)]
pub struct StudyChange {
    /// New name.
    pub name: Option<String>,
    /// New tags, sorted.
    pub tags: Option<Vec<String>>,
    /// New note.
    pub note: Option<String>,
    /// What a search looks through from now on.
    pub search: String,
}

/// The columns of a [`StoredStudy`].
macro_rules! study_columns {
    () => {
        "SELECT id, name, spec, state, problem, tags, note, simulated, engine, created_ms, last_event, stop_requested, pause_requested, dataset_sha256, tokenizer_sha256, counted, imported FROM studies "
    };
}

/// Stores one planned point.
macro_rules! insert_point {
    ($tx:ident, $study:expr, $ordinal:expr, $point:expr) => {
        sqlx::query(
            "INSERT INTO points (id, study, configuration, ordinal, level, repeat, planned_requests, estimated_ms, state) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'planned')",
        )
        .bind(Uuid::now_v7())
        .bind($study)
        .bind(i64::from($point.configuration))
        .bind($ordinal)
        .bind($point.level.to_string())
        .bind(i64::from($point.repeat))
        .bind(i64::from($point.requests))
        .bind(i64::try_from($point.estimated.0 / 1_000_000).unwrap_or(i64::MAX))
        .execute(&mut *$tx)
        .await?
    };
}

/// Keeps what a search looks through, of a new study.
macro_rules! insert_words {
    ($tx:ident, $study:expr, $created_ms:expr, $words:expr) => {
        sqlx::query("INSERT INTO study_words (created_ms, study, words) VALUES ($1, $2, $3)")
            .bind($created_ms)
            .bind($study)
            .bind($crate::store::clean($words))
            .execute(&mut *$tx)
            .await?
    };
}
pub(super) use insert_words;

/// Changes what a search looks through.
macro_rules! set_words {
    ($tx:ident, $study:expr, $words:expr) => {
        sqlx::query("UPDATE study_words SET words = $2 WHERE study = $1")
            .bind($study)
            .bind($crate::store::clean($words))
            .execute(&mut *$tx)
            .await?
    };
}
pub(super) use set_words;

impl Store {
    /// Stores a study, its configurations and its planned points, and puts it in the queue.
    pub async fn insert_study(&self, study: &NewStudy<'_>) -> Result<(), StoreError> {
        let NewStudy {
            id,
            spec,
            plan,
            engine,
            search,
            simulated,
            engines,
            dataset_sha256,
            tokenizer_sha256,
        } = *study;
        let text = to_json("study", spec)?;
        let queued = study_word(StudyState::Queued);
        writing!(self, |tx| {
            // Studies are paged by their time of creation: no two share one.
            let newest: Option<i64> = sqlx::query_scalar("SELECT MAX(created_ms) FROM studies")
                .fetch_one(&mut *tx)
                .await?;
            let created_ms = now_ms().max(newest.unwrap_or(0) + 1);
            sqlx::query(
                "INSERT INTO studies (id, name, spec, state, simulated, engine, created_ms, queued_ms, dataset_sha256, tokenizer_sha256) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9)",
            )
            .bind(id)
            .bind(clean(&spec.name))
            .bind(&text)
            .bind(queued)
            .bind(simulated)
            .bind(clean(engine))
            .bind(created_ms)
            .bind(dataset_sha256)
            .bind(tokenizer_sha256)
            .execute(&mut *tx)
            .await?;
            insert_words!(tx, id, created_ms, search);
            for engine in engines {
                sqlx::query("INSERT INTO study_engines (study, engine) VALUES ($1, $2)")
                    .bind(id)
                    .bind(engine)
                    .execute(&mut *tx)
                    .await?;
            }
            for (ordinal, configuration) in (0i64..).zip(&spec.configurations) {
                sqlx::query(
                    "INSERT INTO configurations (id, study, ordinal, name) VALUES ($1, $2, $3, $4)",
                )
                .bind(Uuid::now_v7())
                .bind(id)
                .bind(ordinal)
                .bind(clean(&configuration.name))
                .execute(&mut *tx)
                .await?;
            }
            for (ordinal, point) in (0i64..).zip(plan) {
                insert_point!(tx, id, ordinal, point);
            }
        });
        Ok(())
    }

    /// One study, deleted ones included.
    pub async fn study(&self, id: Uuid) -> Result<Option<(StoredStudy, Option<i64>)>, StoreError> {
        const SQL: &str = concat!(study_columns!(), "WHERE id = $1");
        const DELETED: &str = "SELECT deleted_ms FROM studies WHERE id = $1";
        let row: Option<StudyColumns> = reading!(self, |pool| sqlx::query_as(SQL)
            .bind(id)
            .fetch_optional(pool)
            .await?);
        let Some(row) = row else { return Ok(None) };
        let deleted: Option<Option<i64>> = reading!(self, |pool| sqlx::query_scalar(DELETED)
            .bind(id)
            .fetch_optional(pool)
            .await?);
        Ok(Some((row.try_into()?, deleted.flatten())))
    }

    /// A study's configurations, in order.
    pub async fn configurations(
        &self,
        study: Uuid,
    ) -> Result<Vec<StoredConfiguration>, StoreError> {
        const SQL: &str = "SELECT id, study, ordinal, facts, cache_cold, ceilings FROM configurations WHERE study = $1 ORDER BY ordinal";
        let rows: Vec<ConfigurationColumns> = reading!(self, |pool| sqlx::query_as(SQL)
            .bind(study)
            .fetch_all(pool)
            .await?);
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// One configuration.
    pub async fn configuration(&self, id: Uuid) -> Result<Option<StoredConfiguration>, StoreError> {
        const SQL: &str = "SELECT id, study, ordinal, facts, cache_cold, ceilings FROM configurations WHERE id = $1";
        let row: Option<ConfigurationColumns> = reading!(self, |pool| sqlx::query_as(SQL)
            .bind(id)
            .fetch_optional(pool)
            .await?);
        row.map(TryInto::try_into).transpose()
    }

    /// Renames, tags, notes.
    pub async fn change_study(&self, id: Uuid, change: &StudyChange) -> Result<(), StoreError> {
        const SQL: &str = concat!(
            "UPDATE studies SET name = COALESCE($2, name), tags = COALESCE($3, tags), note = COALESCE($4, note), ",
            stale!(),
            " WHERE id = $1"
        );
        let StudyChange {
            name,
            tags,
            note,
            search,
        } = change;
        let tags = tags
            .as_ref()
            .map(|tags| to_json("tags", tags))
            .transpose()?;
        let (name, note) = (name.as_deref().map(clean), note.as_deref().map(clean));
        writing!(self, |tx| {
            let change = sqlx::query(SQL).bind(id).bind(&name).bind(&tags);
            change.bind(&note).execute(&mut *tx).await?;
            set_words!(tx, id, search);
        });
        Ok(())
    }

    /// Hides a study, or brings it back (`None`). What is hidden counts nowhere.
    pub async fn set_deleted(&self, id: Uuid, deleted_ms: Option<i64>) -> Result<(), StoreError> {
        const SQL: &str = concat!(
            "UPDATE studies SET deleted_ms = $2, ",
            stale!(),
            " WHERE id = $1"
        );
        writing!(self, |tx| {
            let change = sqlx::query(SQL).bind(id).bind(deleted_ms);
            change.execute(&mut *tx).await?;
            if deleted_ms.is_some() {
                change_facets!(tx, (id, 0), std::collections::BTreeSet::new());
            }
        });
        Ok(())
    }

    /// Removes for ever what was deleted before a time; how many.
    pub async fn purge_deleted(&self, before_ms: i64) -> Result<u64, StoreError> {
        const SQL: &str = "DELETE FROM studies WHERE deleted_ms < $1";
        let purged = changing!(self, sqlx::query(SQL).bind(before_ms));
        self.purge_shares().await?;
        Ok(purged)
    }
}
