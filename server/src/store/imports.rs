//! Studies from elsewhere, stored whole.

use uuid::Uuid;

use super::bundles::{ConfigurationText, Imported, PointData, PointText, StartText, StudyText};
use super::rows::to_json;
use super::studies::insert_words;
use super::{Store, StoreError, clean, now_ms, writing};

/// A study from elsewhere.
pub struct ImportStudy<'a> {
    /// The study.
    pub study: &'a StudyText,
    /// What a search looks through.
    pub search: &'a str,
    /// Where it came from.
    pub imported: &'a Imported,
    /// Its configurations.
    pub configurations: &'a [ConfigurationText],
    /// Its points.
    pub points: &'a [PointText],
    /// Starts of its engines.
    pub starts: &'a [StartText],
    /// What it was begun to try, as JSON.
    pub foretold: Option<&'a str>,
}

/// How many studies in a row may have been made a millisecond apart.
const CROWD: i64 = 10_000;

/// Stores a study's row, at the first free moment from when it was made on.
macro_rules! insert_study {
    ($tx:ident, $import:expr, $origin:expr) => {{
        let study = $import.study;
        let wanted = study.created_ms.min(now_ms());
        let taken: Vec<i64> = sqlx::query_scalar(
            "SELECT created_ms FROM studies WHERE $1 <= created_ms ORDER BY created_ms LIMIT $2",
        )
        .bind(wanted)
        .bind(CROWD)
        .fetch_all(&mut *$tx)
        .await?;
        let row = sqlx::query(
            "INSERT INTO studies (id, name, spec, state, problem, tags, note, simulated, engine, created_ms, queued_ms, \
             dataset_sha256, tokenizer_sha256, counted, imported) \
             VALUES ($1, $2, $3, 'finished', $4, $5, $6, $7, $8, $9, $9, $10, $11, $12, $13)",
        )
        .bind(study.id)
        .bind(clean(&study.name));
        let row = row.bind(&study.spec).bind(study.problem.as_deref().map(clean));
        let row = row.bind(&study.tags).bind(clean(&study.note));
        let row = row.bind(study.simulated).bind(clean(&study.engine));
        let created_ms = first_free(wanted, &taken);
        let row = row.bind(created_ms);
        let row = row.bind(&study.dataset_sha256).bind(&study.tokenizer_sha256);
        let row = row.bind(&study.counted).bind($origin);
        row.execute(&mut *$tx).await?;
        insert_words!($tx, study.id, created_ms, $import.search);
    }};
}

/// Stores a configuration's row.
macro_rules! insert_configuration {
    ($tx:ident, $study:expr, $configuration:expr) => {{
        let one = $configuration;
        let row = sqlx::query(
            "INSERT INTO configurations (id, study, ordinal, name, facts, cache_cold, ceilings) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(one.id)
        .bind($study);
        let row = row.bind(one.ordinal).bind(clean(&one.name)).bind(&one.facts);
        let row = row.bind(one.cache_cold).bind(&one.ceilings);
        row.execute(&mut *$tx).await?
    }};
}

/// Stores a point's row.
macro_rules! insert_point {
    ($tx:ident, $study:expr, $point:expr) => {{
        let point = $point;
        let row = sqlx::query(
            "INSERT INTO points (id, study, configuration, ordinal, level, repeat, planned_requests, estimated_ms, state, started_ms, \
             finished_ms, problem, summary, certificate, judgement, made) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
        )
        .bind(point.id)
        .bind($study)
        .bind(point.configuration);
        let row = row.bind(point.ordinal).bind(&point.level);
        let row = row.bind(point.repeat).bind(point.planned_requests);
        let row = row.bind(point.estimated_ms).bind(&point.state);
        let row = row.bind(point.started_ms).bind(point.finished_ms);
        let row = row.bind(point.problem.as_deref().map(clean));
        let row = row.bind(&point.summary).bind(&point.certificate);
        let row = row.bind(&point.judgement).bind(&point.made);
        row.execute(&mut *$tx).await?
    }};
}

/// Stores what a point left.
macro_rules! insert_data {
    ($tx:ident, $point:expr, $data:expr) => {{
        let data = $data;
        sqlx::query("INSERT INTO point_data (point, scores, records) VALUES ($1, $2, $3)")
            .bind($point)
            .bind(&data.scores)
            .bind(&data.records)
            .execute(&mut *$tx)
            .await?;
        if let Some(evidence) = &data.evidence {
            sqlx::query(
                "INSERT INTO point_evidence (point, evidence, metrics) VALUES ($1, $2, $3)",
            )
            .bind($point)
            .bind(evidence)
            .bind(&data.metrics)
            .execute(&mut *$tx)
            .await?;
        }
    }};
}

/// Stores a start with its log.
macro_rules! insert_start {
    ($tx:ident, $study:expr, $start:expr) => {{
        let start = $start;
        let row = sqlx::query(
            "INSERT INTO engine_starts (id, study, configuration, command, started_ms, startup_ms, ended_ms, ending, log) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        )
        .bind(start.id)
        .bind($study)
        .bind(start.configuration);
        let row = row.bind(clean(&start.command)).bind(start.started_ms);
        let row = row.bind(start.startup_ms).bind(start.ended_ms);
        let row = row.bind(start.ending.as_deref().map(clean)).bind(&start.log);
        row.execute(&mut *$tx).await?
    }};
}

impl Store {
    /// Stores a study from elsewhere, whole and finished; whether it was not there before. `data` gives what the point of an
    /// index left, for finished ones: one at a time, so that no more than one lies in memory.
    pub async fn import_study(
        &self,
        import: &ImportStudy<'_>,
        mut data: impl FnMut(usize) -> Result<Option<PointData>, StoreError>,
    ) -> Result<bool, StoreError> {
        let origin = to_json("origin", import.imported)?;
        let study = import.study.id;
        Ok(writing!(self, |tx| {
            let there: Option<Uuid> = sqlx::query_scalar("SELECT id FROM studies WHERE id = $1")
                .bind(study)
                .fetch_optional(&mut *tx)
                .await?;
            if there.is_some() {
                return Ok(false);
            }
            insert_study!(tx, import, &origin);
            for configuration in import.configurations {
                insert_configuration!(tx, study, configuration);
            }
            for (index, point) in import.points.iter().enumerate() {
                insert_point!(tx, study, point);
                if let Some(data) = data(index)? {
                    insert_data!(tx, point.id, data);
                }
            }
            for start in import.starts {
                insert_start!(tx, study, start);
            }
            if let Some(foretold) = import.foretold {
                // One that was measured here and is gone left its own.
                sqlx::query(
                    "INSERT INTO predictions (study, foretold, own) VALUES ($1, $2, $3) ON CONFLICT (study) DO NOTHING",
                )
                .bind(study)
                .bind(foretold)
                .bind(false)
                .execute(&mut *tx)
                .await?;
            }
            true
        }))
    }
}

/// The first moment from `wanted` on that no study has; `taken` are those of studies from there on, in order.
fn first_free(wanted: i64, taken: &[i64]) -> i64 {
    let held = (wanted..).zip(taken).take_while(|(at, other)| at == *other);
    wanted + held.count() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_is_listed_when_it_was_made_or_right_after() {
        for (taken, expected) in [
            (&[][..], 7),
            (&[8, 9][..], 7),
            (&[7, 9][..], 8),
            (&[7, 8, 9, 12][..], 10),
        ] {
            assert_eq!(first_free(7, taken), expected, "{taken:?}");
        }
    }
}
