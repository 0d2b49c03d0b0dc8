//! Where studies and what they measured are kept: SQLite inside, or PostgreSQL for teams.
//!
//! SQL lives below this module and nowhere else. One SQL text serves both databases: both know `$1`, `ON CONFLICT` and
//! `RETURNING`, and the tables keep to portable types (docs/schema.md). Nothing here knows what a study *does*; the
//! supervisor and the studio decide, and each decision with the event that announces it is one transaction.

mod bundles; // studies as the texts of their columns
mod cards; // studies in lists
mod catalog; // engines, named SLOs, settings
mod events; // what browsers that were away have missed
mod imports; // studies from elsewhere
mod open; // pools, migrations
mod points; // points under load and their data
mod predictions; // what diagnoses foretold, and what came
mod queue; // who may measure which engine
mod rows; // between columns and types
mod runs; // earlier runs of the same
mod shares; // links
mod starts; // engines that the studio started
mod steer; // what a person asks of a study that runs
mod studies; // studies as people see them

use sqlx::{PgPool, SqlitePool};

pub use bundles::{ConfigurationText, Imported, PointData, PointText, StartText, StudyText};
pub use cards::{FacetValue, KeepCard, ListedStudy, Stamp};
pub use imports::ImportStudy;
pub use open::{Database, OpenError};
pub use points::{BeginPoint, FactsChange, FinishPoint};
pub use predictions::StoredPrediction;
pub use queue::{AddPoint, Claimed, EndStudy, Wishes};
pub use rows::{StoredConfiguration, StoredPoint, StoredStudy};
pub use runs::{KeptRun, SameRun};
pub use shares::{NewShare, OpenShare, Opens};
pub use starts::{EndStart, FailPoint, StoredStart};
pub use steer::SkipPoint;
pub use studies::{NewStudy, StudyChange};

/// The open database.
#[derive(Clone, Debug)]
pub struct Store {
    pool: Pool,
}

/// The two databases behind one SQL text.
#[derive(Clone, Debug)]
enum Pool {
    Sqlite {
        read: SqlitePool,
        /// One connection: SQLite has one writer, and a queue in front of it never meets a locked database.
        write: SqlitePool,
    },
    Postgres(PgPool),
}

/// Why the database did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It failed, or its connection did.
    #[error("the database failed")]
    Database(#[source] sqlx::Error),
    /// It holds text that this build cannot read.
    #[error("cannot read the stored {what}")]
    Unreadable {
        /// What was being read.
        what: &'static str,
        /// The parser's word.
        #[source]
        cause: serde_json::Error,
    },
    /// It holds a value that this build does not know.
    #[error("cannot read the stored {what}: {value:?} is unknown to this build")]
    UnknownValue {
        /// What was being read.
        what: &'static str,
        /// The value.
        value: String,
    },
    /// A value cannot be written.
    #[error("cannot write the {what}")]
    Unwritable {
        /// What was being written.
        what: &'static str,
        /// The writer's word.
        #[source]
        cause: serde_json::Error,
    },
    /// What is to be written cannot be read.
    #[error("cannot read what is to be stored")]
    Source(#[source] std::io::Error),
    /// The row is not in the state that the change starts from: finished points never change.
    #[error("the {what} is not in a state that allows this change")]
    OutOfTurn {
        /// What was to be changed.
        what: &'static str,
    },
}

impl StoreError {
    /// Whether there is no room to write: something that a person can mend while the studio runs.
    pub fn is_full(&self) -> bool {
        let Self::Database(sqlx::Error::Database(cause)) = self else {
            return false;
        };
        // SQLite's SQLITE_FULL, and SQLITE_IOERR_WRITE and _SHMSIZE beside it; PostgreSQL's disk_full.
        matches!(
            cause.code().as_deref(),
            Some("13" | "778" | "4874" | "53100")
        )
    }

    /// Whether something of the same key is there already.
    pub fn is_taken(&self) -> bool {
        matches!(self, Self::Database(sqlx::Error::Database(cause)) if cause.is_unique_violation())
    }
}

/// Within the store every failure of sqlx means one thing: the database failed.
impl From<sqlx::Error> for StoreError {
    fn from(cause: sqlx::Error) -> Self {
        Self::Database(cause)
    }
}

/// Runs one body on the pool for reading, whichever database it is.
macro_rules! reading {
    ($store:expr, |$pool:ident| $body:expr) => {
        match &$store.pool {
            $crate::store::Pool::Sqlite { read: $pool, .. } => $body,
            $crate::store::Pool::Postgres($pool) => $body,
        }
    };
}

/// Runs one body in a transaction for writing and commits it. SQLite's takes the write lock at once: a read that turns
/// into a write later can fail whatever the timeout.
macro_rules! writing {
    ($store:expr, |$tx:ident| $body:expr) => {
        match &$store.pool {
            $crate::store::Pool::Sqlite { write, .. } => {
                let mut $tx = write.begin_with("BEGIN IMMEDIATE").await?;
                let out = $body;
                $tx.commit().await?;
                out
            }
            $crate::store::Pool::Postgres(pool) => {
                let mut $tx = pool.begin().await?;
                let out = $body;
                $tx.commit().await?;
                out
            }
        }
    };
}

/// Runs one statement that changes rows; how many it changed.
macro_rules! changing {
    ($store:expr, $query:expr) => {
        $crate::store::writing!($store, |tx| $query.execute(&mut *tx).await?.rows_affected())
    };
}

/// Numbers an event of a study and keeps it, within the transaction that makes it true.
macro_rules! append_event {
    ($tx:ident, $study:expr, $event:expr) => {{
        let event = $crate::store::rows::to_json("event", $event)?;
        let number: i64 = sqlx::query_scalar(
            "UPDATE studies SET last_event = last_event + 1 WHERE id = $1 RETURNING last_event",
        )
        .bind($study)
        .fetch_one(&mut *$tx)
        .await?;
        sqlx::query("INSERT INTO events (study, number, event) VALUES ($1, $2, $3)")
            .bind($study)
            .bind(number)
            .bind(event)
            .execute(&mut *$tx)
            .await?;
        sqlx::query("DELETE FROM events WHERE study = $1 AND number <= $2")
            .bind($study)
            .bind(number - $crate::store::events::KEPT)
            .execute(&mut *$tx)
            .await?;
        number as u64
    }};
}

use {append_event, changing, reading, writing};

/// Milliseconds since 1970.
pub fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}

/// Text as both databases can keep it: PostgreSQL refuses NUL.
fn clean(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nul_is_replaced() {
        assert_eq!(clean("a\0b"), "a\u{fffd}b");
    }
}
