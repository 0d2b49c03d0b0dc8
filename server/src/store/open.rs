//! Opens the database and brings it to this build's schema, or says in one sentence why not.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use sqlx::Connection;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};

use super::{Pool, Store};

static SQLITE: Migrator = sqlx::migrate!("../migrations/sqlite");
static POSTGRES: Migrator = sqlx::migrate!("../migrations/postgres");

/// Another process may hold the file for so long before it is an error.
const BUSY: Duration = Duration::from_secs(10);
const CONNECT: Duration = Duration::from_secs(10);

/// Which database.
#[derive(Clone, PartialEq, Eq)]
pub enum Database {
    /// A file, made when it is missing.
    Sqlite(PathBuf),
    /// `postgres://user@host/name`.
    Postgres(String),
}

/// A URL may carry a password: it is never printed.
impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "Sqlite({})", path.display()),
            Self::Postgres(_) => f.write_str("Postgres(..)"),
        }
    }
}

/// Why the studio cannot open.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The data directory cannot be used.
    #[error("cannot write to the data directory {}; make it writable or name another one with --data-dir", path.display())]
    DataDir {
        /// The directory.
        path: PathBuf,
        /// The system's word.
        #[source]
        cause: std::io::Error,
    },
    /// Another server uses the data directory.
    #[error("another goodput server uses the data directory {}; stop it or name another one with --data-dir", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// The database cannot be opened.
    #[error(
        "cannot open the database {database}; check that it exists, that it may be written and that nothing holds it"
    )]
    Connect {
        /// The database, without a password.
        database: String,
        /// The driver's word.
        #[source]
        cause: sqlx::Error,
    },
    /// The URL is no PostgreSQL URL.
    #[error("the database URL cannot be read; it looks like postgres://user:password@host/name")]
    Url {
        /// The driver's word.
        #[source]
        cause: sqlx::Error,
    },
    /// A newer version wrote the database.
    #[error(
        "the database {database} was written by a newer version of goodput (it has migration {migration}, unknown to this one); use that version or another database"
    )]
    Newer {
        /// The database, without a password.
        database: String,
        /// The migration that this build does not know.
        migration: i64,
    },
    /// The schema could not be brought up to date.
    #[error("cannot bring the database {database} up to date")]
    Migrate {
        /// The database, without a password.
        database: String,
        /// The driver's word.
        #[source]
        cause: MigrateError,
    },
    /// The opened database failed.
    #[error("the database failed while the studio opened")]
    Store {
        /// What failed.
        #[source]
        cause: super::StoreError,
    },
}

impl Store {
    /// Opens the database and migrates it.
    pub async fn open(database: &Database) -> Result<Self, OpenError> {
        match database {
            Database::Sqlite(path) => open_sqlite(path).await,
            Database::Postgres(url) => open_postgres(url).await,
        }
    }

    /// Closes all connections.
    pub async fn close(&self) {
        match &self.pool {
            Pool::Sqlite { read, write } => {
                read.close().await;
                write.close().await;
            }
            Pool::Postgres(pool) => pool.close().await,
        }
    }
}

async fn open_sqlite(path: &Path) -> Result<Store, OpenError> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        .foreign_keys(true)
        .busy_timeout(BUSY);
    let database = path.display().to_string();
    let failed = |cause| OpenError::Connect {
        database: database.clone(),
        cause,
    };
    let write = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(Duration::from_secs(60))
        .after_release(|connection, _| Box::pin(is_reusable(connection)));
    let write = write.connect_with(options.clone()).await.map_err(failed)?;
    SQLITE
        .run(&write)
        .await
        .map_err(|cause| migration_failed(&database, cause))?;
    let read = SqlitePoolOptions::new().max_connections(4);
    let read = read
        .connect_with(options.read_only(true).create_if_missing(false))
        .await
        .map_err(failed)?;
    Ok(Store {
        pool: Pool::Sqlite { read, write },
    })
}

/// Whether a writer may write again. SQLite ends a transaction by itself when the disk is full; the driver does not hear
/// of it and would refuse every later one. Such a connection is closed, and the next writer gets a fresh one.
async fn is_reusable(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    // The driver's own rollback waits in line before the ping.
    connection.ping().await?;
    Ok(!connection.is_in_transaction())
}

async fn open_postgres(url: &str) -> Result<Store, OpenError> {
    let options = PgConnectOptions::from_str(url).map_err(|cause| OpenError::Url { cause })?;
    let database = format!(
        "{} on {}",
        options.get_database().unwrap_or("of the user"),
        options.get_host()
    );
    let pool = PgPoolOptions::new()
        .max_connections(8)
        .acquire_timeout(CONNECT);
    let pool = pool
        .connect_with(options)
        .await
        .map_err(|cause| OpenError::Connect {
            database: database.clone(),
            cause,
        })?;
    POSTGRES
        .run(&pool)
        .await
        .map_err(|cause| migration_failed(&database, cause))?;
    Ok(Store {
        pool: Pool::Postgres(pool),
    })
}

fn migration_failed(database: &str, cause: MigrateError) -> OpenError {
    let database = database.to_owned();
    match cause {
        MigrateError::VersionMissing(migration) => OpenError::Newer {
            database,
            migration,
        },
        cause => OpenError::Migrate { database, cause },
    }
}

#[cfg(test)]
mod tests {
    use super::super::StoreError;
    use super::*;

    async fn limit_pages(store: &Store, most: &'static str) {
        let Pool::Sqlite { write, .. } = &store.pool else {
            panic!("SQLite");
        };
        let done = sqlx::query(most).execute(write).await;
        done.expect("a limit");
    }

    #[tokio::test]
    async fn a_full_disk_ends_one_write_and_not_those_after_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("goodput.sqlite");
        let store = Store::open(&Database::Sqlite(path)).await.expect("opens");
        store.set_setting("kept", Some("yes")).await.expect("room");
        limit_pages(&store, "PRAGMA max_page_count = 1").await;
        let big = "x".repeat(1 << 20);
        let full = store.set_setting("big", Some(&big)).await;
        assert!(full.as_ref().is_err_and(StoreError::is_full), "{full:?}");
        // The fresh connection has no such limit: as if somebody had made room.
        store.set_setting("big", Some(&big)).await.expect("room");
        let kept = store.setting("kept").await.expect("read");
        assert_eq!(kept.as_deref(), Some("yes"));
    }
}
