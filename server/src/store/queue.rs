//! Who may measure which engine. The studies table is the queue; a lease on each engine is the only way to load.
//!
//! A study takes the leases of all its engines at once and keeps them until it ends. A worker that dies leaves leases
//! without a heartbeat: whoever finds them marks the study interrupted.

use app::studio::{Hold, LiveEvent, StudyState};
use sqlx::FromRow;
use uuid::Uuid;

use super::cards::mark_stale;
use super::rows::study_word;
use super::{
    Store, StoreError, StoredPoint, append_event, changing, clean, now_ms, reading, writing,
};

/// A study that this worker may measure now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The study.
    pub study: Uuid,
}

/// What a person asked of a study that runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromRow)]
pub struct Wishes {
    /// That it ends.
    #[sqlx(rename = "stop_requested")]
    pub stop: bool,
    /// That this point ends now.
    #[sqlx(rename = "skip_point")]
    pub skip: Option<Uuid>,
}

/// The end of a study, or of this try at it.
pub struct EndStudy<'a> {
    /// The study.
    pub study: Uuid,
    /// How it ends.
    pub state: StudyState,
    /// Why, where it needs saying.
    pub problem: Option<&'a str>,
    /// What to announce, in order.
    pub events: &'a [LiveEvent],
}

/// A point that an adaptive sweep adds to its study.
pub struct AddPoint<'a> {
    /// The study.
    pub study: Uuid,
    /// The point, planned.
    pub point: &'a StoredPoint,
    /// What to announce.
    pub event: &'a LiveEvent,
}

/// The oldest queued study none of whose engines is measured by, or promised to, another.
const NEXT: &str = "SELECT s.id FROM studies s WHERE s.state = 'queued' AND s.deleted_ms IS NULL \
    AND NOT EXISTS (SELECT 1 FROM study_engines e JOIN leases l ON l.engine = e.engine WHERE e.study = s.id) \
    AND NOT EXISTS (SELECT 1 FROM study_engines e JOIN study_engines other ON other.engine = e.engine \
        JOIN studies o ON o.id = other.study \
        WHERE e.study = s.id AND o.state = 'queued' AND o.deleted_ms IS NULL AND o.queued_ms < s.queued_ms) \
    ORDER BY s.queued_ms LIMIT 1";

impl Store {
    /// Takes the next study that can run, with the leases of its engines. Two workers never get the same: the second
    /// finds its row changed, or a lease's key taken.
    pub async fn claim_next(&self, worker: Uuid) -> Result<Option<Claimed>, StoreError> {
        match self.try_claim(worker).await {
            Err(cause) if cause.is_taken() => Ok(None),
            other => other,
        }
    }

    async fn try_claim(&self, worker: Uuid) -> Result<Option<Claimed>, StoreError> {
        const TAKE: &str = "UPDATE studies SET state = 'running', problem = NULL WHERE id = $1 AND state = 'queued'";
        const LEASE: &str = "INSERT INTO leases (engine, study, worker, heartbeat_ms) SELECT engine, study, $2, $3 FROM study_engines WHERE study = $1";
        Ok(writing!(self, |tx| {
            let next: Option<Uuid> = sqlx::query_scalar(NEXT).fetch_optional(&mut *tx).await?;
            let taken = match next {
                Some(study) => sqlx::query(TAKE)
                    .bind(study)
                    .execute(&mut *tx)
                    .await?
                    .rows_affected(),
                None => 0,
            };
            match next.filter(|_| taken == 1) {
                Some(study) => {
                    sqlx::query(LEASE)
                        .bind(study)
                        .bind(worker)
                        .bind(now_ms())
                        .execute(&mut *tx)
                        .await?;
                    Some(Claimed { study })
                }
                None => None,
            }
        }))
    }

    /// Adds a planned point to a running study; the number of its event.
    pub async fn add_point(&self, add: &AddPoint<'_>) -> Result<u64, StoreError> {
        const SQL: &str = "INSERT INTO points (id, study, configuration, ordinal, level, repeat, planned_requests, estimated_ms, state) \
            SELECT $1, id, $3, $4, $5, $6, $7, $8, 'planned' FROM studies WHERE id = $2 AND state IN ('running', 'waiting')";
        let AddPoint {
            study,
            point,
            event,
        } = *add;
        Ok(writing!(self, |tx| {
            let added = sqlx::query(SQL)
                .bind(point.id)
                .bind(study)
                .bind(i64::from(point.configuration))
                .bind(i64::from(point.ordinal))
                .bind(point.level.to_string())
                .bind(i64::from(point.repeat))
                .bind(i64::from(point.planned_requests))
                .bind(i64::try_from(point.estimated_ms).unwrap_or(i64::MAX))
                .execute(&mut *tx)
                .await?;
            if added.rows_affected() == 0 {
                return Err(StoreError::OutOfTurn { what: "point" });
            }
            mark_stale!(tx, study);
            append_event!(tx, study, event)
        }))
    }

    /// Says that the worker still measures. `None`: the lease is lost, the measurement must end. Else what a person asked for.
    pub async fn heartbeat(&self, study: Uuid, worker: Uuid) -> Result<Option<Wishes>, StoreError> {
        const BEAT: &str = "UPDATE leases SET heartbeat_ms = $3 WHERE study = $1 AND worker = $2";
        const WISHES: &str = "SELECT stop_requested, skip_point FROM studies WHERE id = $1";
        Ok(writing!(self, |tx| {
            let kept = sqlx::query(BEAT)
                .bind(study)
                .bind(worker)
                .bind(now_ms())
                .execute(&mut *tx)
                .await?
                .rows_affected();
            let wishes: Option<Wishes> = sqlx::query_as(WISHES)
                .bind(study)
                .fetch_optional(&mut *tx)
                .await?;
            wishes.filter(|_| 0 < kept)
        }))
    }

    /// Studies that run under this worker's name or under leases without a heartbeat since a time.
    pub async fn abandoned(&self, worker: Uuid, before_ms: i64) -> Result<Vec<Uuid>, StoreError> {
        const SQL: &str = "SELECT s.id FROM studies s WHERE s.state IN ('running', 'waiting') AND NOT EXISTS \
            (SELECT 1 FROM leases l WHERE l.study = s.id AND l.worker <> $1 AND $2 <= l.heartbeat_ms) ORDER BY s.queued_ms";
        Ok(reading!(self, |pool| sqlx::query_scalar(SQL)
            .bind(worker)
            .bind(before_ms)
            .fetch_all(pool)
            .await?))
    }

    /// Ends a running or waiting study and gives its engines back. Points under load become interrupted.
    /// The numbers of its events; `None` when it did not run.
    pub async fn end_study(&self, end: &EndStudy<'_>) -> Result<Option<Vec<u64>>, StoreError> {
        // A pause outlives its server: the study pauses again when it goes on by itself.
        const END: &str = "UPDATE studies SET state = $2, problem = $3, stop_requested = FALSE, skip_point = NULL, runs_by = 0, \
            pause_requested = CASE WHEN $2 = 'interrupted' THEN pause_requested ELSE FALSE END WHERE id = $1 AND state IN ('running', 'waiting')";
        const POINTS: &str = "UPDATE points SET state = 'interrupted', started_ms = NULL WHERE study = $1 AND state = 'running'";
        let EndStudy {
            study,
            state,
            problem,
            events,
        } = *end;
        let problem = problem.map(clean);
        Ok(writing!(self, |tx| {
            let ended = sqlx::query(END)
                .bind(study)
                .bind(study_word(state))
                .bind(&problem)
                .execute(&mut *tx)
                .await?
                .rows_affected();
            let mut numbers = Vec::new();
            if 0 < ended {
                sqlx::query(POINTS).bind(study).execute(&mut *tx).await?;
                sqlx::query("DELETE FROM leases WHERE study = $1")
                    .bind(study)
                    .execute(&mut *tx)
                    .await?;
                for event in events {
                    numbers.push(append_event!(tx, study, event));
                }
            }
            (0 < ended).then_some(numbers)
        }))
    }

    /// Moves a study from one state to another and announces it. The event's number; `None` when it was not in `from`.
    pub async fn move_study(
        &self,
        study: Uuid,
        from: StudyState,
        event: &LiveEvent,
    ) -> Result<Option<u64>, StoreError> {
        const SQL: &str = "UPDATE studies SET state = $3, problem = $4, pause_requested = $6, \
            stop_requested = CASE WHEN $3 = 'queued' THEN FALSE ELSE stop_requested END, \
            queued_ms = CASE WHEN $3 = 'queued' THEN $5 ELSE queued_ms END WHERE id = $1 AND state = $2";
        let LiveEvent::State {
            state: to,
            problem,
            hold,
            ..
        } = event
        else {
            return Ok(None);
        };
        let (from, to) = (study_word(from), study_word(*to));
        let problem = problem.as_deref().map(clean);
        Ok(writing!(self, |tx| {
            let moved = sqlx::query(SQL)
                .bind(study)
                .bind(from)
                .bind(to)
                .bind(&problem)
                .bind(now_ms())
                .bind(*hold != Hold::None)
                .execute(&mut *tx)
                .await?;
            match moved.rows_affected() {
                0 => None,
                _ => Some(append_event!(tx, study, event)),
            }
        }))
    }

    /// Asks whoever measures a study to stop; whether somebody does.
    pub async fn request_stop(&self, study: Uuid) -> Result<bool, StoreError> {
        const SQL: &str = "UPDATE studies SET stop_requested = TRUE WHERE id = $1 AND state IN ('running', 'waiting')";
        Ok(0 < changing!(self, sqlx::query(SQL).bind(study)))
    }

    /// Studies that wait in the queue, oldest first.
    pub async fn queued(&self) -> Result<Vec<Uuid>, StoreError> {
        const SQL: &str = "SELECT id FROM studies WHERE state = 'queued' AND deleted_ms IS NULL ORDER BY queued_ms";
        Ok(reading!(self, |pool| sqlx::query_scalar(SQL)
            .fetch_all(pool)
            .await?))
    }

    /// Studies that can be resumed because the server went away, oldest first.
    pub async fn interrupted(&self) -> Result<Vec<Uuid>, StoreError> {
        const SQL: &str = "SELECT id FROM studies WHERE state = 'interrupted' AND deleted_ms IS NULL ORDER BY queued_ms";
        Ok(reading!(self, |pool| sqlx::query_scalar(SQL)
            .fetch_all(pool)
            .await?))
    }
}
