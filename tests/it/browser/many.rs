//! What pages cost the server on a store of ten thousand studies: rows of `cargo xtask bench --browser`.

use std::time::Instant;

use server::store::Database;
use tests::databases::{Place, on_each_database};
use tests::many::store_many;
use tests::process::StudioProcess;

use super::bench::row;

/// Until everything of a page is there, on loopback.
const MOST_MS: f64 = 200.0;
const STUDIES: u32 = 10_000;
const TRIES: usize = 11;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a bench: cargo xtask bench --browser"]
async fn statistics_browser_pages_of_ten_thousand_studies() {
    on_each_database(ten_thousand).await;
}

async fn ten_thousand(place: &Place) -> anyhow::Result<()> {
    let study = store_many(place, STUDIES).await?;
    let (name, extra) = match &place.database {
        // The studio looks for it under this name.
        Database::Sqlite(path) => {
            std::fs::rename(path, place.data_dir.join("goodput.db"))?;
            ("SQLite", Vec::new())
        }
        Database::Postgres(url) => ("PostgreSQL", vec!["--database", url.as_str()]),
    };
    let studio = StudioProcess::start(&place.data_dir, &extra)?;
    let view = studio.study(&study.to_string()).await?;
    let ids = [0, 1].map(|index| {
        view["configurations"][index]["id"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    });
    let pages = [
        "/".to_owned(),
        "/list".to_owned(),
        "/?q=llama-3b".to_owned(),
        "/?q=nowhere-to-be-found".to_owned(),
        "/?tag=rare".to_owned(),
        "/?tag=nightly&hardware=1x+H100&q=0.7.0&state=failed".to_owned(),
        "/?from=2020-01-01&to=2020-02-01".to_owned(),
        "/?before=1700000000000".to_owned(),
        format!("/studies/{study}"),
        format!("/compare?c={}&c={}", ids[0], ids[1]),
    ];
    for page in pages {
        let shown = page.replace(&study.to_string(), "{id}");
        let shown = shown.split("?c=").next().unwrap_or_default();
        let times = times(&format!("{}{page}", studio.url)).await?;
        row(
            &format!("{name}, 10,000 studies: {shown}, ms"),
            &times,
            Some(MOST_MS),
            None,
        );
    }
    Ok(())
}

async fn times(url: &str) -> anyhow::Result<Vec<f64>> {
    let client = reqwest::Client::new();
    let mut times = Vec::new();
    for _ in 0..TRIES {
        let began = Instant::now();
        let answer = client.get(url).send().await?.error_for_status()?;
        answer.bytes().await?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times)
}
