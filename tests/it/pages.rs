//! Pages as the server writes them: whatever people typed is text in them, and never markup.

use app::studio::{Actor, Studio, StudyEdit};
use serde_json::json;
use tests::edge::OnEdge;
use tests::samples::{configuration, small_study};

/// Ends whatever it stands in, runs, and leads away.
const HOSTILE: &str =
    r#"</title></script>"'><script>alert(1)</script><meta http-equiv=refresh content=0;url=/away>"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_are_text_on_every_page() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let mut spec = small_study();
    spec.name = HOSTILE.to_owned();
    spec.configurations = vec![
        configuration(HOSTILE, &[]),
        configuration("on", &[("enable-prefix-caching", "on")]),
    ];
    let study = edge.finished(spec).await?;
    let note = StudyEdit {
        note: Some(HOSTILE.to_owned()),
        tags: Some(vec![HOSTILE.chars().take(40).collect()]),
        ..StudyEdit::default()
    };
    edge.studio.edit(&Actor::Owner, study.id, note).await?;
    let id = study.id;
    let share = edge
        .json("POST", &format!("/api/v1/studies/{id}/shares"), &json!({}))
        .await
        .json();
    let ids = study.configurations.iter().map(|it| format!("c={}", it.id));
    for page in [
        "/".to_owned(),
        "/engines".to_owned(),
        format!("/studies/new?from={id}"),
        format!("/studies/{id}"),
        format!("/studies/{id}/history"),
        format!("/studies/{id}/points/{}", study.points[0].id),
        format!("/studies/{id}/share"),
        format!("/compare?{}&find=on", ids.collect::<Vec<_>>().join("&")),
        share["path"]
            .as_str()
            .unwrap_or_default()
            .replace("/s/", "/embed/"),
        format!("/studies/{id}/points/{}/requests/1", study.points[0].id),
        share["path"].as_str().unwrap_or_default().to_owned(),
    ] {
        let answer = edge.get(&page).await;
        assert_eq!(answer.status, 200, "{page}");
        for markup in ["<script>alert", "<meta http-equiv=refresh", "\"'><"] {
            assert!(!answer.text().contains(markup), "{page} has {markup}");
        }
        let text = answer.text();
        let behind = text.rsplit_once("</html>").map_or("", |(_, behind)| behind);
        assert!(!behind.contains("<script"), "{page} goes on behind its end");
    }
    Ok(())
}
