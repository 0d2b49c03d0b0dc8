//! A history over HTTP, on the command line and on its page.

use measure::slo::Metric;
use server::api::schema;
use server::store::{Database, Store};
use tests::edge::OnEdge;
use uuid::Uuid;

use super::super::bench::goodput;
use super::{days, one};

/// A studio with a series behind it: a run that passes, one that fails, and one that nobody can judge.
async fn edge() -> anyhow::Result<(OnEdge, [Uuid; 3])> {
    let edge = OnEdge::open().await?;
    let file = edge.dir.path().join("data/goodput.db");
    let store = Store::open(&Database::Sqlite(file)).await?;
    let first = days(&store, 1, 8, 100).await?;
    let pass = one(&store, 20, 101).await?;
    let fail = one(&store, 21, 150).await?;
    Ok((edge, [pass, fail, first[2]]))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_get_what_is_documented() -> anyhow::Result<()> {
    let (edge, [pass, fail, open]) = edge().await?;
    for (study, outcome) in [(pass, "pass"), (fail, "fail"), (open, "indeterminate")] {
        let path = format!("/api/v1/studies/{study}/history");
        let answer = edge.get(&path).await.json();
        super::super::api::fits::<schema::HistoryView>(&answer);
        assert_eq!(answer["outcome"], outcome, "{answer:#}");
    }
    let path = format!("/api/v1/studies/{fail}/history");
    let allowed = edge.get(&format!("{path}?allow=80%25")).await.json();
    assert_eq!(
        (&allowed["outcome"], &allowed["allowed"]),
        (&"pass".into(), &0.8.into())
    );
    assert_eq!(edge.get(&format!("{path}?allow=much")).await.status, 422);
    let nowhere = format!("/api/v1/studies/{}/history", Uuid::nil());
    assert_eq!(edge.get(&nowhere).await.status, 404);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_has_every_picture_its_table_and_its_words() -> anyhow::Result<()> {
    let (edge, [pass, fail, _]) = edge().await?;
    // Nobody has worked their runs out: a page waits for some of them alone, says so, and calls nothing a pass.
    let early = edge.get(&format!("/studies/{pass}/history")).await.text();
    assert!(early.contains("still being worked out"), "{early}");
    let first = "Indeterminate: runs of earlier studies are still being worked out.";
    assert!(early.contains(first), "{early}");
    let whole = edge.get(&format!("/api/v1/studies/{fail}/history")).await;
    assert_eq!(whole.json()["why"], serde_json::Value::Null, "it waits");
    let page = edge.get(&format!("/studies/{fail}/history")).await;
    assert_eq!(page.status, 200);
    let text = page.text();
    assert!(!text.contains("still being worked out"), "{text}");
    let pictures = text.matches("<svg class=\"run-series\"").count();
    assert!(4 <= pictures, "{pictures} pictures");
    assert_eq!(text.matches("<figcaption>").count(), pictures);
    for words in [
        "Fail: worse than runs of the same are at 2 of 2 operating points.",
        "TTFT p50",
        "against 9 runs",
        "As a table",
        "0.31.0",
        "details class=\"card operating-point\" open",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let study = edge.get(&format!("/studies/{pass}")).await.text();
    assert!(
        study.contains("pass: no worse than runs of the same are"),
        "{study}"
    );
    assert!(study.contains(&format!("/studies/{pass}/history")));
    let missing = edge.get(&format!("/studies/{}/history", Uuid::nil())).await;
    assert_eq!(missing.status, 404);
    assert_eq!(Metric::Ttft.to_string(), "ttft");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_exit_status_says_what_came_of_it() -> anyhow::Result<()> {
    let (edge, [pass, fail, open]) = edge().await?;
    let data = edge.dir.path().join("data").display().to_string();
    let check = |study: &str, more: &[&str]| {
        goodput(&[&["check", study, "--data-dir", &data][..], more].concat())
    };
    assert_eq!(check(&pass.to_string(), &[]), 0);
    assert_eq!(check(&format!("http://x/studies/{fail}"), &[]), 1);
    assert_eq!(check(&fail.to_string(), &["--allow", "80%"]), 0);
    assert_eq!(
        check(&pass.to_string(), &["--allow", "0.1"]),
        2,
        "could hide"
    );
    assert_eq!(check(&open.to_string(), &["--json"]), 2);
    assert_eq!(check(&open.to_string(), &["--allow", "much"]), 2);
    assert_eq!(check("no such study", &[]), 3);
    assert_eq!(goodput(&["check", "x", "--data-dir", "/nowhere/at/all"]), 3);
    Ok(())
}
