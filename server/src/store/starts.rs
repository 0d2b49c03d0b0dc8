//! Starts of engines that the studio started itself: command, time until the first token, end, log.

use std::io::{Read, Write};

use app::studio::LiveEvent;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use sqlx::FromRow;
use uuid::Uuid;

use super::{Store, StoreError, append_event, changing, clean, reading, writing};

/// Most bytes of a stored log.
const LOG: u64 = 4 << 20;

/// A start.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
pub struct StoredStart {
    /// Its id.
    pub id: Uuid,
    /// Index of the configuration.
    pub configuration: i64,
    /// What was run, an argument a line.
    pub command: String,
    /// Milliseconds since 1970.
    pub started_ms: i64,
    /// From the start to the first token; `None` where none came.
    pub startup_ms: Option<i64>,
    /// When it ended; `None` as long as it runs, or where the studio did not live to see it.
    pub ended_ms: Option<i64>,
    /// How it ended.
    pub ending: Option<String>,
}

/// The end of a start.
pub struct EndStart<'a> {
    /// The start.
    pub id: Uuid,
    /// When.
    pub ended_ms: i64,
    /// How, in words.
    pub ending: &'a str,
    /// The last of what it said.
    pub log: &'a str,
}

/// A point that has failed.
pub struct FailPoint<'a> {
    /// Its study.
    pub study: Uuid,
    /// The point.
    pub point: Uuid,
    /// Why, for people.
    pub problem: &'a str,
    /// What to announce.
    pub event: &'a LiveEvent,
}

impl Store {
    /// Keeps that an engine was started.
    pub async fn insert_start(&self, study: Uuid, start: &StoredStart) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO engine_starts (id, study, configuration, command, started_ms, startup_ms, ended_ms, ending) \
                           VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        let StoredStart {
            id,
            configuration,
            command,
            started_ms,
            startup_ms,
            ended_ms,
            ending,
        } = start;
        changing!(
            self,
            sqlx::query(SQL)
                .bind(id)
                .bind(study)
                .bind(configuration)
                .bind(clean(command))
                .bind(started_ms)
                .bind(startup_ms)
                .bind(ended_ms)
                .bind(ending.as_deref().map(clean))
        );
        Ok(())
    }

    /// Keeps how an engine ended, and its log.
    pub async fn end_start(&self, end: &EndStart<'_>) -> Result<(), StoreError> {
        const SQL: &str =
            "UPDATE engine_starts SET ended_ms = $2, ending = $3, log = $4 WHERE id = $1";
        let EndStart {
            id,
            ended_ms,
            ending,
            log,
        } = *end;
        changing!(
            self,
            sqlx::query(SQL)
                .bind(id)
                .bind(ended_ms)
                .bind(clean(ending))
                .bind(packed(log))
        );
        Ok(())
    }

    /// Keeps what a running engine has said so far: should the studio be killed, it is not lost.
    pub async fn keep_log(&self, start: Uuid, log: &str) -> Result<(), StoreError> {
        const SQL: &str = "UPDATE engine_starts SET log = $2 WHERE id = $1";
        changing!(self, sqlx::query(SQL).bind(start).bind(packed(log)));
        Ok(())
    }

    /// A study's starts, oldest first.
    pub async fn starts(&self, study: Uuid) -> Result<Vec<StoredStart>, StoreError> {
        const SQL: &str = "SELECT id, configuration, command, started_ms, startup_ms, ended_ms, ending FROM engine_starts \
                           WHERE study = $1 ORDER BY started_ms, id";
        Ok(reading!(self, |pool| sqlx::query_as(SQL)
            .bind(study)
            .fetch_all(pool)
            .await?))
    }

    /// The log of a start; `None` where there is no such start.
    pub async fn start_log(&self, start: Uuid) -> Result<Option<String>, StoreError> {
        const SQL: &str = "SELECT log FROM engine_starts WHERE id = $1";
        let found: Option<Option<Vec<u8>>> = reading!(self, |pool| sqlx::query_scalar(SQL)
            .bind(start)
            .fetch_optional(pool)
            .await?);
        Ok(found.map(|log| log.map(|packed| unpacked(&packed)).unwrap_or_default()))
    }

    /// A point has failed; the number of its event.
    pub async fn fail_point(&self, fail: &FailPoint<'_>) -> Result<u64, StoreError> {
        const SQL: &str = "UPDATE points SET state = 'failed', started_ms = NULL, problem = $3 WHERE id = $1 AND study = $2 AND state NOT IN ('finished', 'skipped')";
        let FailPoint {
            study,
            point,
            problem,
            event,
        } = *fail;
        Ok(writing!(self, |tx| {
            let failed = sqlx::query(SQL)
                .bind(point)
                .bind(study)
                .bind(clean(problem))
                .execute(&mut *tx)
                .await?;
            if failed.rows_affected() == 0 {
                return Err(StoreError::OutOfTurn { what: "point" });
            }
            append_event!(tx, study, event)
        }))
    }
}

/// Logs repeat themselves: a tenth of their size is left.
fn packed(log: &str) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    // Nothing fails in memory.
    let _ = packer.write_all(log.as_bytes());
    packer.finish().unwrap_or_default()
}

fn unpacked(packed: &[u8]) -> String {
    let mut bytes = Vec::new();
    let _ = GzDecoder::new(packed).take(LOG).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_survives_and_is_smaller() {
        let log = "INFO engine: running 4, waiting 12\n".repeat(1000);
        let small = packed(&log);
        assert!(small.len() * 20 < log.len(), "{}", small.len());
        assert_eq!(unpacked(&small), log);
    }
}
