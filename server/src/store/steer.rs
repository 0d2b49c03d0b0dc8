//! What a person asks of a study that runs, and a point that was ended at a person's wish. A pause is a state's move
//! ([`Store::move_study`]).

use app::studio::LiveEvent;
use load::Made;
use measure::evidence::Evidence;
use uuid::Uuid;

use super::cards::mark_stale;
use super::rows::to_json;
use super::{Store, StoreError, append_event, changing, clean, now_ms, writing};

/// A point that a person ended under load: what it recorded, and no figure.
pub struct SkipPoint<'a> {
    /// Its study.
    pub study: Uuid,
    /// The point.
    pub point: Uuid,
    /// When its clock started, in milliseconds since 1970.
    pub started_ms: i64,
    /// How far it was, for people.
    pub problem: &'a str,
    /// What its prompts were made of.
    pub made: &'a Made,
    /// Its scores, encoded.
    pub scores: &'a [u8],
    /// Its records, as Parquet.
    pub records: &'a [u8],
    /// What was seen beside its requests.
    pub evidence: &'a Evidence,
    /// The text of the engine's metrics pages, compressed.
    pub metrics: Option<&'a [u8]>,
    /// What to announce.
    pub event: &'a LiveEvent,
}

impl Store {
    /// Asks whoever measures a point to end it now; whether it is under load.
    pub async fn request_skip(&self, point: Uuid) -> Result<bool, StoreError> {
        const SQL: &str = "UPDATE studies SET skip_point = $1 WHERE state = 'running' \
            AND id = (SELECT study FROM points WHERE id = $1 AND state = 'running')";
        Ok(0 < changing!(self, sqlx::query(SQL).bind(point)))
    }

    /// Keeps what a skipped point recorded; the number of its event.
    pub async fn skip_point(&self, skip: &SkipPoint<'_>) -> Result<u64, StoreError> {
        const POINT: &str = "UPDATE points SET state = 'skipped', started_ms = $3, finished_ms = $4, problem = $5, made = $6 \
                             WHERE id = $1 AND study = $2 AND state = 'running'";
        const DATA: &str = "INSERT INTO point_data (point, scores, records) VALUES ($1, $2, $3)";
        const EVIDENCE: &str =
            "INSERT INTO point_evidence (point, evidence, metrics) VALUES ($1, $2, $3)";
        let SkipPoint {
            study,
            point,
            started_ms,
            problem,
            made,
            scores,
            records,
            evidence,
            metrics,
            event,
        } = *skip;
        let (made, evidence) = (to_json("made", made)?, to_json("evidence", evidence)?);
        Ok(writing!(self, |tx| {
            let update = sqlx::query(POINT).bind(point).bind(study);
            let update = update.bind(started_ms).bind(now_ms()).bind(clean(problem));
            let skipped = update.bind(&made).execute(&mut *tx).await?;
            if skipped.rows_affected() == 0 {
                return Err(StoreError::OutOfTurn { what: "point" });
            }
            let data = sqlx::query(DATA).bind(point).bind(scores);
            data.bind(records).execute(&mut *tx).await?;
            let seen = sqlx::query(EVIDENCE).bind(point).bind(&evidence);
            seen.bind(metrics).execute(&mut *tx).await?;
            mark_stale!(tx, study);
            append_event!(tx, study, event)
        }))
    }
}
