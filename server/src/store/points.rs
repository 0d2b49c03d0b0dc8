//! Points under load and what they leave behind. A finished point never changes again.

use app::studio::LiveEvent;
use load::Made;
use load::tokens::Counted;
use measure::certificate::Certificate;
use measure::curve::Ceiling;
use measure::evidence::Evidence;
use measure::knobs::Facts;
use measure::slo::Judgement;
use measure::summary::Summary;
use uuid::Uuid;

use super::cards::{mark_stale, stale};
use super::rows::{PointColumns, from_json, to_json};
use super::studies::set_words;
use super::{
    Store, StoreError, StoredPoint, append_event, changing, clean, now_ms, reading, writing,
};

/// A point that begins now.
pub struct BeginPoint<'a> {
    /// Its study.
    pub study: Uuid,
    /// The point.
    pub point: Uuid,
    /// When, in milliseconds since 1970.
    pub started_ms: i64,
    /// What to announce.
    pub event: &'a LiveEvent,
}

/// A point that was measured, with everything it leaves.
pub struct FinishPoint<'a> {
    /// Its study.
    pub study: Uuid,
    /// Index of its configuration.
    pub configuration: u32,
    /// The point.
    pub point: Uuid,
    /// When its clock started, in milliseconds since 1970.
    pub started_ms: i64,
    /// Its numbers.
    pub summary: &'a Summary,
    /// Its certificate.
    pub certificate: &'a Certificate,
    /// The point under the study's SLO.
    pub judgement: &'a Judgement,
    /// What its prompts were made of.
    pub made: &'a Made,
    /// Its scores, encoded.
    pub scores: &'a [u8],
    /// Its records, as Parquet.
    pub records: &'a [u8],
    /// What was seen beside its requests.
    pub evidence: Option<&'a Evidence>,
    /// The text of the engine's metrics pages, compressed.
    pub metrics: Option<&'a [u8]>,
    /// The ceilings of its configuration, by attainment and by percentile.
    pub ceilings: &'a (Option<Ceiling>, Option<Ceiling>),
    /// What to announce.
    pub event: &'a LiveEvent,
}

/// What became known of a configuration.
pub struct FactsChange<'a> {
    /// Its study.
    pub study: Uuid,
    /// Index of the configuration.
    pub configuration: u32,
    /// What is known.
    pub facts: &'a Facts,
    /// Whether its cache was reset before each point so far.
    pub cache_cold: Option<bool>,
    /// The study's engine in words and its search text, where they change too.
    pub named: Option<(&'a str, &'a str)>,
    /// What to announce.
    pub event: &'a LiveEvent,
}

impl Store {
    /// A study's points, in the order they run.
    pub async fn points(&self, study: Uuid) -> Result<Vec<StoredPoint>, StoreError> {
        const SQL: &str = "SELECT id, configuration, ordinal, level, repeat, planned_requests, estimated_ms, state, started_ms, \
                           finished_ms, summary, certificate, judgement, made, problem FROM points WHERE study = $1 ORDER BY ordinal";
        let rows: Vec<PointColumns> = reading!(self, |pool| sqlx::query_as(SQL)
            .bind(study)
            .fetch_all(pool)
            .await?);
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// A point goes under load; the number of its event.
    pub async fn begin_point(&self, begin: &BeginPoint<'_>) -> Result<u64, StoreError> {
        const SQL: &str = "UPDATE points SET state = 'running', started_ms = $3, problem = NULL WHERE id = $1 AND study = $2 AND state IN ('planned', 'interrupted', 'failed')";
        let BeginPoint {
            study,
            point,
            started_ms,
            event,
        } = *begin;
        Ok(writing!(self, |tx| {
            let begun = sqlx::query(SQL)
                .bind(point)
                .bind(study)
                .bind(started_ms)
                .execute(&mut *tx)
                .await?
                .rows_affected();
            if begun == 0 {
                return Err(StoreError::OutOfTurn { what: "point" });
            }
            append_event!(tx, study, event)
        }))
    }

    /// Stores a measured point whole; the number of its event.
    pub async fn finish_point(&self, finish: &FinishPoint<'_>) -> Result<u64, StoreError> {
        const POINT: &str = "UPDATE points SET state = 'finished', started_ms = $3, finished_ms = $4, summary = $5, certificate = $6, judgement = $7, made = $8 \
                             WHERE id = $1 AND study = $2 AND state = 'running'";
        const DATA: &str = "INSERT INTO point_data (point, scores, records) VALUES ($1, $2, $3)";
        const EVIDENCE: &str =
            "INSERT INTO point_evidence (point, evidence, metrics) VALUES ($1, $2, $3)";
        const CEILINGS: &str =
            "UPDATE configurations SET ceilings = $3 WHERE study = $1 AND ordinal = $2";
        let FinishPoint {
            study,
            configuration,
            point,
            started_ms,
            summary,
            certificate,
            judgement,
            made,
            scores,
            records,
            evidence,
            metrics,
            ceilings,
            event,
        } = *finish;
        let summary = to_json("summary", summary)?;
        let certificate = to_json("certificate", certificate)?;
        let judgement = to_json("judgement", judgement)?;
        let ceilings = to_json("ceilings", ceilings)?;
        let made = to_json("made", made)?;
        let evidence = evidence.map(|it| to_json("evidence", it)).transpose()?;
        Ok(writing!(self, |tx| {
            let update = sqlx::query(POINT)
                .bind(point)
                .bind(study)
                .bind(started_ms)
                .bind(now_ms());
            let update = update.bind(&summary).bind(&certificate).bind(&judgement);
            let update = update.bind(&made);
            if update.execute(&mut *tx).await?.rows_affected() == 0 {
                return Err(StoreError::OutOfTurn { what: "point" });
            }
            let data = sqlx::query(DATA).bind(point).bind(scores);
            data.bind(records).execute(&mut *tx).await?;
            if let Some(evidence) = &evidence {
                let seen = sqlx::query(EVIDENCE).bind(point).bind(evidence);
                seen.bind(metrics).execute(&mut *tx).await?;
            }
            sqlx::query(CEILINGS)
                .bind(study)
                .bind(i64::from(configuration))
                .bind(&ceilings)
                .execute(&mut *tx)
                .await?;
            mark_stale!(tx, study);
            append_event!(tx, study, event)
        }))
    }

    /// Records what became known of a configuration; the number of its event.
    pub async fn record_facts(&self, change: &FactsChange<'_>) -> Result<u64, StoreError> {
        const FACTS: &str = "UPDATE configurations SET facts = $3, cache_cold = $4 WHERE study = $1 AND ordinal = $2";
        const NAMED: &str = "UPDATE studies SET engine = $2 WHERE id = $1";
        // Its runs are runs of something else now.
        const RUNS: &str = concat!(
            "UPDATE studies SET runs_by = 0, ",
            stale!(),
            " WHERE id = $1"
        );
        let FactsChange {
            study,
            configuration,
            facts,
            cache_cold,
            named,
            event,
        } = *change;
        let facts = to_json("facts", facts)?;
        Ok(writing!(self, |tx| {
            sqlx::query(FACTS)
                .bind(study)
                .bind(i64::from(configuration))
                .bind(&facts)
                .bind(cache_cold)
                .execute(&mut *tx)
                .await?;
            sqlx::query(RUNS).bind(study).execute(&mut *tx).await?;
            if let Some((engine, search)) = named {
                sqlx::query(NAMED)
                    .bind(study)
                    .bind(clean(engine))
                    .execute(&mut *tx)
                    .await?;
                set_words!(tx, study, search);
            }
            append_event!(tx, study, event)
        }))
    }

    /// Keeps who counts a study's prompts: whoever found it first.
    pub async fn set_counted(&self, study: Uuid, counted: &Counted) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE studies SET counted = $2 WHERE id = $1 AND counted IS NULL";
        let counted = to_json("counted", counted)?;
        changing!(self, sqlx::query(SQL).bind(study).bind(&counted));
        Ok(())
    }

    /// What was counted of the prompts of a level (by its index) and a repeat.
    pub async fn prompt_counts(
        &self,
        study: Uuid,
        (level, repeat): (u32, u32),
    ) -> Result<Option<Vec<u8>>, StoreError> {
        const SQL: &str =
            "SELECT counts FROM prompt_counts WHERE study = $1 AND level = $2 AND repeat = $3";
        Ok(reading!(self, |pool| sqlx::query_scalar(SQL)
            .bind(study)
            .bind(i64::from(level))
            .bind(i64::from(repeat))
            .fetch_optional(pool)
            .await?))
    }

    /// Keeps what was counted of a level's prompts; what is there already stays.
    pub async fn keep_prompt_counts(
        &self,
        study: Uuid,
        (level, repeat): (u32, u32),
        counts: &[u8],
    ) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO prompt_counts (study, level, repeat, counts) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
        changing!(
            self,
            sqlx::query(SQL)
                .bind(study)
                .bind(i64::from(level))
                .bind(i64::from(repeat))
                .bind(counts)
        );
        Ok(())
    }

    /// A point's scores, encoded, with the study they belong to.
    pub async fn scores(&self, point: Uuid) -> Result<Option<(Uuid, Vec<u8>)>, StoreError> {
        const SQL: &str = "SELECT p.study, d.scores FROM point_data d JOIN points p ON p.id = d.point WHERE d.point = $1";
        Ok(reading!(self, |pool| sqlx::query_as(SQL)
            .bind(point)
            .fetch_optional(pool)
            .await?))
    }

    /// The scores of the first of a study's measured points, or of the first behind another, encoded, with the point's id.
    pub async fn scores_after(
        &self,
        study: Uuid,
        after: Option<Uuid>,
    ) -> Result<Option<(Uuid, Vec<u8>)>, StoreError> {
        const SQL: &str = "SELECT p.id, d.scores FROM points p JOIN point_data d ON d.point = p.id WHERE p.study = $1 AND p.state = 'finished' \
            AND p.ordinal > COALESCE((SELECT ordinal FROM points WHERE id = $2 AND study = $1), -1) ORDER BY p.ordinal LIMIT 1";
        Ok(reading!(self, |pool| sqlx::query_as(SQL)
            .bind(study)
            .bind(after.unwrap_or_default())
            .fetch_optional(pool)
            .await?))
    }

    /// The study that a point belongs to, unless that was deleted.
    pub async fn study_of(&self, point: Uuid) -> Result<Option<Uuid>, StoreError> {
        const SQL: &str = "SELECT p.study FROM points p JOIN studies s ON s.id = p.study WHERE p.id = $1 AND s.deleted_ms IS NULL";
        Ok(reading!(self, |pool| sqlx::query_scalar(SQL)
            .bind(point)
            .fetch_optional(pool)
            .await?))
    }

    /// A point's records as Parquet.
    pub async fn records(&self, point: Uuid) -> Result<Option<Vec<u8>>, StoreError> {
        const SQL: &str = "SELECT records FROM point_data WHERE point = $1";
        Ok(reading!(self, |pool| sqlx::query_scalar(SQL)
            .bind(point)
            .fetch_optional(pool)
            .await?))
    }

    /// What was seen beside a point's requests; none of points before there was any.
    pub async fn evidence(&self, point: Uuid) -> Result<Option<Evidence>, StoreError> {
        const SQL: &str = "SELECT evidence FROM point_evidence WHERE point = $1";
        let text: Option<String> = reading!(self, |pool| sqlx::query_scalar(SQL)
            .bind(point)
            .fetch_optional(pool)
            .await?);
        text.map(|text| from_json("evidence", &text)).transpose()
    }

    /// The text of a point's metrics pages, compressed.
    pub async fn metrics(&self, point: Uuid) -> Result<Option<Vec<u8>>, StoreError> {
        const SQL: &str = "SELECT metrics FROM point_evidence WHERE point = $1";
        let found: Option<Option<Vec<u8>>> = reading!(self, |pool| sqlx::query_scalar(SQL)
            .bind(point)
            .fetch_optional(pool)
            .await?);
        Ok(found.flatten())
    }
}
