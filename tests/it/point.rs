//! A point's page: its requests over time and one by one, and what a window on them changes.

use app::studio::{Actor, Studio, StudyView};
use measure::request::RequestRecord;
use serde_json::json;
use tests::edge::{OnEdge, TOKEN};
use tests::measured::give;
use tests::samples::{held_up, records, small_study};

/// A studio with a study whose points have these requests.
async fn with(records: fn() -> Vec<RequestRecord>) -> anyhow::Result<(OnEdge, StudyView)> {
    let edge = OnEdge::open().await?;
    let id = edge.studio.launch(&Actor::Owner, small_study()).await?;
    give(&edge.store().await?, id, |_| records()).await?;
    let view = edge.studio.study(&Actor::Owner, id).await?;
    Ok((edge, view))
}

fn page_of(view: &StudyView) -> String {
    format!("/studies/{}/points/{}", view.id, view.points[0].id)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_recomputes_every_figure_and_leaves_the_judgement() -> anyhow::Result<()> {
    let (edge, view) = with(held_up).await?;
    let page = page_of(&view);
    let whole = edge.get(&page).await;
    assert_eq!(whole.status, 200);
    for part in [
        "All 1,000 requests",
        "id=\"over-time\"",
        "id=\"distributions\"",
        "id=\"failures\"",
        "Was the client innocent?",
        "Where the time before the first token went",
        "Under other tools",
    ] {
        assert!(whole.text().contains(part), "{part}");
    }
    // One request every 50 ms.
    let part = edge.get(&format!("{page}?from=10&to=20")).await.text();
    for words in [
        "In the window 10 s to 20 s: 200 of 1,000 requests",
        "The stored judgement stays as it is, of 1000 requests",
        "value=\"10\"",
    ] {
        assert!(part.contains(words), "{words}");
    }
    let fragment = edge.get(&format!("{page}/requests?from=10&to=20")).await;
    assert!(part.contains(&fragment.text()), "the page has the fragment");
    let tried = edge
        .get(&format!("{page}?slo=ttft%3C30ms%20attain%3E%3D90%25"))
        .await;
    assert!(
        tried.text().contains("840 kept the SLO"),
        "160 of 1,000 wait longer"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_window_is_said_and_the_rest_is_shown() -> anyhow::Result<()> {
    let (edge, view) = with(held_up).await?;
    let page = page_of(&view);
    for (query, words) in [
        ("from=20&to=10", "A window ends after it begins"),
        ("from=%3Cb%3E", "not &quot;&lt;b&gt;&quot;"),
        ("slo=fast", "own SLO is shown"),
        ("from=900", "No request was sent in this window"),
    ] {
        let answer = edge.get(&format!("{page}?{query}")).await;
        assert_eq!(answer.status, 200, "{query}");
        assert!(answer.text().contains(words), "{query}: {}", answer.text());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_come_in_blocks_and_each_request_has_its_page() -> anyhow::Result<()> {
    let (edge, view) = with(held_up).await?;
    let page = page_of(&view);
    let rows = |text: String| text.matches("<li>").count();
    for (query, count) in [
        ("first=100&last=200", 100),
        ("first=0&last=1000", 200),
        ("first=990&last=1090&from=0", 10),
        ("first=5&last=2", 0),
    ] {
        let some = edge.get(&format!("{page}/requests/rows?{query}")).await;
        assert_eq!(rows(some.text()), count, "{query}");
    }
    let one = edge.get(&format!("{page}/requests/11?from=0&to=9")).await;
    assert_eq!(one.status, 200);
    for part in [
        "Request 11 of 1000",
        "/requests/12?from=0&amp;to=9",
        "5000 tokens by the engine, 16 planned",
        "id=\"ruler\"",
    ] {
        assert!(one.text().contains(part), "{part}: {}", one.text());
    }
    for wrong in ["0", "1001", "abc", "-1"] {
        let answer = edge.get(&format!("{page}/requests/{wrong}")).await;
        assert_eq!(answer.status, 404, "{wrong}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_requests_stay_small() -> anyhow::Result<()> {
    let (edge, view) = with(|| records(10_000, 20)).await?;
    let page = edge.get(&page_of(&view)).await.text();
    assert!(page.contains("All 10,000 requests"));
    assert!(
        page.contains("height:240000px"),
        "all rows have their height"
    );
    assert_eq!(page.matches("<ol class=\"rows-block\"").count(), 1);
    assert!(page.len() < 400_000, "{} bytes", page.len());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_else_sees_them() -> anyhow::Result<()> {
    let (edge, view) = with(held_up).await?;
    let page = page_of(&view);
    let path = format!("/api/v1/studies/{}/shares", view.id);
    let share = edge.json("POST", &path, &json!({})).await.json();
    let shared = share["path"].as_str().unwrap_or_default();
    for below in ["requests", "requests/rows", "requests/1"] {
        let path = format!("{shared}/points/{}/{below}", view.points[0].id);
        assert_eq!(edge.get(&path).await.status, 404, "{path}");
        // Another study's point is none of this one's.
        let other = format!(
            "/studies/{}/points/{}/{below}",
            uuid::Uuid::nil(),
            view.points[0].id
        );
        assert_eq!(edge.get(&other).await.status, 404, "{other}");
    }
    assert_eq!(edge.get(&format!("{page}/requests")).await.status, 200);
    let path = format!("/api/v1/studies/{}", view.id);
    assert_eq!(edge.send("DELETE", &path, &[], "").await.status, 204);
    for below in ["", "/requests", "/requests/rows", "/requests/1"] {
        let answer = edge.get(&format!("{page}{below}")).await;
        assert_eq!(answer.status, 404, "{below} of a deleted study");
    }
    let closed = OnEdge::behind_token().await?;
    let answer = closed.get(&format!("{page}/requests")).await;
    assert!(
        matches!(answer.status, 302 | 303 | 401),
        "{}",
        answer.status
    );
    let token = format!("Bearer {TOKEN}");
    let known = closed
        .send("GET", &page, &[("authorization", &token)], "")
        .await;
    assert_eq!(known.status, 404, "it has no such study");
    Ok(())
}
