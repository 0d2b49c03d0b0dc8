//! A store of thousands of studies, written in seconds: for lists that must stay quick.
//!
//! A few studies are stored as any other; the rest are copies of their rows under ids, names and times of their own, made by the database.

use anyhow::Context;
use app::studio::{Actor, Studio, StudyFilter};
use server::store::Database;
use sqlx::{AssertSqlSafe, Connection};
use uuid::Uuid;

use crate::databases::Place;
use crate::large::{Size, store_large};

/// How the rows of a study are copied: the columns of each table, and what a copy has in place of its own.
const STUDY: &str = "INSERT INTO studies (id, name, spec, state, tags, note, simulated, engine, created_ms, queued_ms, card_by, card, runs_by) \
    SELECT {id}, name || ' ' || {n}, spec, {state}, {tags}, note, simulated, {engine}, created_ms - {n} * 60000 - 1, queued_ms - {n}, card_by, card, runs_by \
    FROM studies, {numbers} WHERE id = {study}";
const WORDS: &str = "INSERT INTO study_words (created_ms, study, words) SELECT created_ms, id, lower(name || ' ' || engine || ' ' || tags) FROM studies \
    WHERE id NOT IN (SELECT study FROM study_words)";
const FACETS: &str = "INSERT INTO study_facets (study, kind, value, created_ms) SELECT id, {kind}, {value}, created_ms FROM studies WHERE id NOT IN \
    (SELECT study FROM study_facets WHERE kind = {kind})";
/// Earlier runs of the same, of two figures: those of every hundredth study are of the same.
const RUNS: &str = "INSERT INTO runs (study, configuration, level, figure, same, at_ms, value, error, version) \
    SELECT s.id, r.configuration, r.level, r.figure, r.same || (s.created_ms / 60000 % 100), s.created_ms, r.value, r.error, r.version \
    FROM runs r, studies s WHERE r.study = {study} AND r.figure IN ('ttft p95', 'ceiling') AND s.id NOT IN (SELECT study FROM runs)";
const CONFIGURATIONS: &str = "INSERT INTO configurations (id, study, ordinal, name, facts, ceilings) \
    SELECT {fresh}, s.id, c.ordinal, c.name, c.facts, c.ceilings FROM configurations c, studies s WHERE c.study = {study} AND s.id NOT IN (SELECT study FROM configurations)";
const POINTS: &str = "INSERT INTO points (id, study, configuration, ordinal, level, repeat, planned_requests, estimated_ms, state, started_ms, finished_ms, summary, certificate, judgement, made) \
    SELECT {fresh}, s.id, p.configuration, p.ordinal, p.level, p.repeat, p.planned_requests, p.estimated_ms, p.state, p.started_ms, p.finished_ms, p.summary, p.certificate, p.judgement, p.made \
    FROM points p, studies s WHERE p.study = {study} AND s.id NOT IN (SELECT study FROM points)";

/// Words that only one database understands.
struct Dialect {
    /// A fresh id for each row.
    fresh: &'static str,
    /// A table of the numbers below a count, as `n`.
    numbers: fn(u32) -> String,
    /// A literal id.
    literal: fn(Uuid) -> String,
}

const SQLITE: Dialect = Dialect {
    fresh: "randomblob(16)",
    numbers: |count| {
        format!(
            "(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {count}) SELECT n FROM c) numbers"
        )
    },
    literal: |id| format!("X'{}'", id.simple()),
};
const POSTGRES: Dialect = Dialect {
    fresh: "gen_random_uuid()",
    numbers: |count| format!("generate_series(1, {count}) AS numbers(n)"),
    literal: |id| format!("'{id}'::uuid"),
};

/// Fills a store with `count` studies of two configurations and eight rates, a hundredth of them with the tag `rare`; the ids of one
/// that was stored as any other.
pub async fn store_many(place: &Place, count: u32) -> anyhow::Result<Uuid> {
    let database = &place.database;
    let store = place.store().await?;
    let size = Size {
        configurations: 2,
        levels: 8,
        requests: 40,
    };
    let first = store_large(&store, size).await?;
    store.close().await;
    // Whoever lists a study makes its card, which is copied with it.
    let studio = place.studio().await?;
    studio
        .studies(&Actor::Owner, StudyFilter::default())
        .await?;
    // Its runs are worked out with its history, and copied as well.
    studio
        .history(&Actor::Owner, first, Default::default())
        .await?;
    studio.shutdown().await;
    let statements = statements(database, first, count.saturating_sub(1));
    match database {
        Database::Sqlite(path) => {
            let url = format!("sqlite://{}", path.display());
            let mut connection = sqlx::SqliteConnection::connect(&url).await?;
            for sql in statements {
                let sql = AssertSqlSafe(sql);
                sqlx::raw_sql(sql)
                    .execute(&mut connection)
                    .await
                    .context("a copy")?;
            }
            connection.close().await?;
        }
        Database::Postgres(url) => {
            let mut connection = sqlx::PgConnection::connect(url).await?;
            for sql in statements {
                let sql = AssertSqlSafe(sql);
                sqlx::raw_sql(sql)
                    .execute(&mut connection)
                    .await
                    .context("a copy")?;
            }
            connection.close().await?;
        }
    }
    Ok(first)
}

fn statements(database: &Database, first: Uuid, copies: u32) -> Vec<String> {
    let dialect = match database {
        Database::Sqlite(_) => SQLITE,
        Database::Postgres(_) => POSTGRES,
    };
    let filled = |sql: &str| {
        sql.replace("{study}", &(dialect.literal)(first))
            .replace("{fresh}", dialect.fresh)
            .replace("{id}", dialect.fresh)
            .replace("{numbers}", &(dialect.numbers)(copies))
            .replace("{n}", "n")
            .replace(
                "{state}",
                "CASE WHEN n % 50 = 0 THEN 'failed' ELSE 'finished' END",
            )
            .replace(
                "{tags}",
                "CASE WHEN n % 100 = 0 THEN '[\"rare\"]' ELSE '[\"nightly\"]' END",
            )
            .replace(
                "{engine}",
                "'vLLM 0.' || (n % 40) || '.0, llama-' || (n % 7) || 'b'",
            )
    };
    let mut all = vec![filled(STUDY)];
    for (kind, value) in [
        ("all", "''"),
        (
            "tag",
            "CASE WHEN tags LIKE '%rare%' THEN 'rare' ELSE 'nightly' END",
        ),
        ("engine", "substr(engine, 1, 11)"),
        ("model", "engine"),
        ("hardware", "'1x H100'"),
    ] {
        let sql = FACETS.replace("{value}", value);
        all.push(sql.replace("{kind}", &format!("'{kind}'")));
    }
    all.push("DELETE FROM facet_values".to_owned());
    all.push("INSERT INTO facet_values (kind, value, studies) SELECT kind, value, COUNT(*) FROM study_facets GROUP BY kind, value".to_owned());
    all.extend([WORDS, CONFIGURATIONS, POINTS, RUNS].map(filled));
    all
}
