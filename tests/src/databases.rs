//! One test body, both databases: SQLite in a temporary folder always, PostgreSQL when `GOODPUT_TEST_POSTGRES` names a
//! server. Each test has a database of its own.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use futures_util::FutureExt;
use server::store::{Database, Store};
use server::studio::{LocalStudio, Settings};
use sqlx::{Connection, PgConnection};
use url::Url;

/// An empty place for a studio.
pub struct Place {
    /// Its database, empty.
    pub database: Database,
    /// Its data directory, empty.
    pub data_dir: PathBuf,
}

impl Place {
    /// Opens the store alone.
    pub async fn store(&self) -> anyhow::Result<Store> {
        Ok(Store::open(&self.database).await?)
    }

    /// Opens a studio, without its supervisor.
    pub async fn studio(&self) -> anyhow::Result<Arc<LocalStudio>> {
        Ok(LocalStudio::open(self.settings()).await?)
    }

    /// A studio's settings at this place.
    pub fn settings(&self) -> Settings {
        Settings {
            database: self.database.clone(),
            data_dir: self.data_dir.clone(),
            resume_interrupted: false,
            registry: Default::default(),
            may_start_engines: true,
            exporters: Vec::new(),
        }
    }
}

/// Runs a test on each database there is; its error or panic is the test's.
pub async fn on_each_database(test: impl AsyncFn(&Place) -> anyhow::Result<()>) {
    on_sqlite(&test).await;
    if let Ok(url) = std::env::var("GOODPUT_TEST_POSTGRES") {
        on_postgres(&url, &test).await;
    }
}

/// Runs a test on SQLite alone: for what has nothing to do with the database.
pub async fn on_sqlite(test: &impl AsyncFn(&Place) -> anyhow::Result<()>) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let place = Place {
        database: Database::Sqlite(dir.path().join("goodput.sqlite")),
        data_dir: dir.path().to_owned(),
    };
    test(&place).await.expect("passes on SQLite");
}

async fn on_postgres(url: &str, test: &impl AsyncFn(&Place) -> anyhow::Result<()>) {
    let name = format!("test_{}", uuid::Uuid::now_v7().simple());
    let own = run_sql(url, &format!("CREATE DATABASE {name}"))
        .await
        .and_then(|()| renamed(url, &name))
        .expect("a database on PostgreSQL");
    let dir = tempfile::tempdir().expect("a temporary folder");
    let place = Place {
        database: Database::Postgres(own),
        data_dir: dir.path().to_owned(),
    };
    let outcome = AssertUnwindSafe(test(&place)).catch_unwind().await;
    let dropped = run_sql(url, &format!("DROP DATABASE {name} WITH (FORCE)")).await;
    match outcome {
        Ok(passed) => passed.expect("passes on PostgreSQL"),
        Err(panic) => std::panic::resume_unwind(panic),
    }
    dropped.expect("the database goes away");
}

async fn run_sql(url: &str, sql: &str) -> anyhow::Result<()> {
    let mut connection = PgConnection::connect(url).await?;
    let sql = sqlx::AssertSqlSafe(sql.to_owned());
    sqlx::raw_sql(sql).execute(&mut connection).await?;
    Ok(connection.close().await?)
}

fn renamed(url: &str, database: &str) -> anyhow::Result<String> {
    let mut url = Url::parse(url).context("GOODPUT_TEST_POSTGRES is a URL")?;
    url.set_path(database);
    Ok(url.into())
}
