//! What a link shows: as much as its maker chose, until it is revoked or expires, and a curve for other people's pages.

use app::studio::{Actor, ShareScope, Studio, StudyEdit, StudyView};
use axum::body::Body;
use serde_json::{Value, json};
use server::store::now_ms;
use tests::edge::{OnEdge, TOKEN};
use tests::samples::{configuration, small_study};
use uuid::Uuid;

mod comparisons; // links to configurations of any studies

async fn measured(edge: &OnEdge) -> anyhow::Result<StudyView> {
    let study = edge.finished(small_study()).await?;
    let note = StudyEdit {
        note: Some("rack 7, asked by Ada".into()),
        tags: Some(vec!["nightly".into()]),
        ..StudyEdit::default()
    };
    edge.studio.edit(&Actor::Owner, study.id, note).await?;
    Ok(study)
}

/// A link made as the page makes it; its token.
async fn token(edge: &OnEdge, study: &StudyView, body: Value) -> String {
    let path = format!("/api/v1/studies/{}/shares", study.id);
    let made = edge.json("POST", &path, &body).await;
    assert_eq!(made.status, 201, "{}", made.text());
    let path = made.json()["path"].as_str().unwrap_or_default().to_owned();
    path.trim_start_matches("/s/").to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_shows_what_its_maker_chose() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let study = measured(&edge).await?;
    let point = study.points[0].id;
    for (scope, scores, note) in [
        ("aggregates", 404, false),
        ("requests", 200, false),
        ("all", 200, true),
    ] {
        let token = token(&edge, &study, json!({ "scope": scope })).await;
        let asked = edge.get(&format!("/s/{token}/points/{point}/scores")).await;
        assert_eq!(asked.status, scores, "{scope}");
        let page = edge.get(&format!("/s/{token}")).await;
        assert_eq!(page.status, 200, "{scope}");
        assert_eq!(page.text().contains("rack 7"), note, "{scope}");
        assert_eq!(page.text().contains("nightly"), note, "{scope}");
        let fixed = page.text().contains("<fieldset disabled");
        assert_eq!(fixed, scope == "aggregates", "{scope}");
    }
    let unsaid = token(&edge, &study, json!({})).await;
    let scores = edge
        .get(&format!("/s/{unsaid}/points/{point}/scores"))
        .await;
    assert_eq!(scores.status, 200, "as links always did");
    let path = format!("/api/v1/studies/{}/shares", study.id);
    let wrong = edge
        .json("POST", &path, &json!({ "scope": "everything" }))
        .await;
    assert!((400..500).contains(&wrong.status), "{}", wrong.text());
    let listed = edge.get(&path).await.json();
    let scopes: Vec<&str> = listed
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|it| it["scope"].as_str())
        .collect();
    assert_eq!(
        scopes,
        ["requests", "all", "requests", "aggregates"],
        "newest first"
    );
    let days = listed[0]["expires_ms"].as_i64().unwrap_or_default() - now_ms();
    let days = days as f64 / 86_400_000.0;
    assert!(
        (29.9..=30.0).contains(&days),
        "unless a time is asked for: {days}"
    );
    Ok(())
}

/// A study of two configurations that differ in one knob, and hold what no stranger may read.
async fn compared(edge: &OnEdge) -> anyhow::Result<StudyView> {
    let mut spec = small_study();
    let knobs = [("max-num-seqs", "2")];
    spec.configurations.push(configuration("fewer", &knobs));
    edge.finished(spec).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_shows_what_differs_and_what_that_did() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let study = compared(&edge).await?;
    for scope in ["aggregates", "requests", "all"] {
        let token = token(&edge, &study, json!({ "scope": scope })).await;
        let page = edge.get(&format!("/s/{token}")).await.text();
        for needed in ["Turning max-num-seqs from ", "What differs", "/compare?c="] {
            assert!(page.contains(needed), "{scope}: {needed}");
        }
        let why = page.contains("<h2>Why</h2>");
        assert_eq!(why, scope == "all", "what limits them: {scope}");
        let tried = format!("/s/{token}?slo=ttft%3Ap95%3C60s");
        let tried = edge.get(&tried).await.text();
        assert!(
            !tried.contains("<h2>Why</h2>"),
            "it is of the study's own SLO: {scope}"
        );
        let led = page.contains("Every cause at this point") || page.contains("/studies/new");
        assert!(!led, "a guest has no such page: {scope}");
        let path = format!("/s/{token}/compare");
        let whole = edge.get(&path).await;
        assert_eq!(whole.status, 200, "{scope}");
        let whole = whole.text();
        for needed in [
            "Turning max-num-seqs from ",
            "What differs",
            "At equal rate",
            "At equal ",
            "TPOT p95",
        ] {
            assert!(whole.contains(needed), "{scope}: {needed}");
        }
        // Nothing in it leads to what only its owner may see.
        for absent in ["/studies", "/engines", "name=\"find\"", "/share", "/api/"] {
            assert!(!whole.contains(absent), "{scope}: {absent}");
        }
        let fixed = !whole.contains("name=\"slo\"");
        assert_eq!(fixed, scope == "aggregates", "{scope}");
        for ending in ["svg", "png", "csv"] {
            let file = edge.get(&format!("{path}/export.{ending}")).await;
            assert_eq!(file.status, 200, "{scope} {ending}");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shared_comparison_is_of_its_own_study_and_under_its_own_slo() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let (study, other) = (compared(&edge).await?, measured(&edge).await?);
    let ids: Vec<String> = study
        .configurations
        .iter()
        .map(|it| format!("c={}", it.id))
        .collect();
    let foreign = format!("c={}", other.configurations[0].id);
    let link = token(&edge, &study, json!({ "scope": "aggregates" })).await;
    let path = |rest: &str| format!("/s/{link}/compare?{rest}");
    let turned = path(&format!("{}&{}&baseline={}", ids[0], ids[1], &ids[1][2..]));
    let turned = edge.get(&turned).await.text();
    assert!(
        turned.contains("max-num-seqs from 2 to "),
        "the baseline of the address: {turned}"
    );
    for foreign in [
        format!("{}&{foreign}", ids[0]),
        format!("{foreign}&{}", ids[0]),
    ] {
        let asked = edge.get(&path(&foreign)).await;
        assert_eq!(asked.status, 404, "another study's is not shown");
        assert!(
            !asked.text().contains("/engines"),
            "nor a way to anything else"
        );
    }
    // Judged by another SLO, the figures would tell of each request.
    let tried = edge
        .get(&path("slo=e2e:p95%3C1ms+attain%3E%3D95%25"))
        .await
        .text();
    assert!(
        tried.contains("Another SLO cannot be tried here"),
        "{tried}"
    );
    assert!(!tried.contains("e2e:p95"), "{tried}");
    let scores = edge.get(&format!("/s/{link}/scores")).await;
    assert_eq!(scores.status, 404, "figures alone");
    assert!(
        scores.text().contains("figures of points alone"),
        "{}",
        scores.text()
    );
    let revoked = edge.studio.shares(&Actor::Owner, study.id).await?;
    edge.studio.revoke(&Actor::Owner, revoked[0].id).await?;
    for rest in ["", "/export.csv", "/export.svg", "/export.png"] {
        let gone = edge.get(&format!("/s/{link}/compare{rest}")).await;
        assert_eq!(gone.status, 404, "{rest}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shared_comparison_hides_what_its_link_hides() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let mut spec = small_study();
    let declared = [("site", "rack7.corp"), ("hardware", "gpu7.corp:9000")];
    for (index, mut one) in [configuration("one", &[]), configuration("two", &[])]
        .into_iter()
        .enumerate()
    {
        for (name, value) in declared {
            one.declared.insert(name.into(), format!("{value}{index}"));
        }
        spec.configurations.push(one);
    }
    spec.configurations.remove(0);
    let study = edge.finished(spec).await?;
    for scope in ["aggregates", "requests", "all"] {
        let link = token(&edge, &study, json!({ "scope": scope })).await;
        let files = ["", "/export.svg", "/export.csv"].map(|it| format!("/s/{link}/compare{it}"));
        for path in files.into_iter().chain([format!("/s/{link}")]) {
            let text = edge.get(&path).await.text();
            assert!(scope == "all" || !text.contains(".corp"), "{scope} {path}");
        }
        let page = edge.get(&format!("/s/{link}/compare")).await.text();
        let word = if scope == "all" {
            "rack7.corp1"
        } else {
            "hidden (2 of "
        };
        assert!(page.contains(word), "what it differs by is kept: {page}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_configuration_that_is_gone_is_told_and_the_others_are_compared() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let (study, other) = (compared(&edge).await?, measured(&edge).await?);
    let [one, two] = [0, 1].map(|index| study.configurations[index].id);
    let (gone, nobody) = (other.configurations[0].id, Uuid::nil());
    edge.studio.delete(&Actor::Owner, other.id).await?;
    let path = format!("/compare?c={gone}&c={one}&c={two}&c={nobody}&baseline={two}");
    let page = edge.get(&path).await;
    assert_eq!(page.status, 200, "{}", page.text());
    let page = page.text();
    for id in [gone, nobody] {
        assert!(
            page.contains(&format!("c={id} is no configuration here")),
            "{page}"
        );
    }
    assert!(page.contains("Turning max-num-seqs from 2 to "), "{page}");
    let alone = edge.get(&format!("/compare?c={gone}&c={nobody}")).await;
    assert_eq!(alone.status, 404);
    Ok(())
}

/// Whatever a link opens.
const OPENED: [&str; 5] = [
    "/s/{}",
    "/embed/{}",
    "/s/{}/preview.png",
    "/s/{}/curve.svg",
    "/s/{}/curve.csv",
];

async fn statuses(edge: &OnEdge, token: &str) -> Vec<u16> {
    let mut found = Vec::new();
    for path in OPENED {
        found.push(edge.get(&path.replace("{}", token)).await.status);
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_that_ended_opens_nothing() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let study = measured(&edge).await?;
    let owner = &Actor::Owner;
    let share = edge
        .studio
        .share(owner, study.id, None, ShareScope::Aggregates)
        .await?;
    let revoked = share.path.unwrap_or_default().replace("/s/", "");
    assert_eq!(statuses(&edge, &revoked).await, [200; 5]);
    let gone = edge
        .json(
            "DELETE",
            &format!("/api/v1/shares/{}", share.id),
            &json!({}),
        )
        .await;
    assert_eq!(gone.status, 204);
    assert_eq!(statuses(&edge, &revoked).await, [404; 5]);
    let frame = edge.get(&format!("/embed/{revoked}")).await.text();
    assert!(
        frame.contains("no longer shared") && !frame.contains("<svg"),
        "{frame}"
    );
    let soon = Some(now_ms() + 200);
    let short = edge
        .studio
        .share(owner, study.id, soon, ShareScope::All)
        .await?;
    let short = short.path.unwrap_or_default().replace("/s/", "");
    tokio::time::sleep(std::time::Duration::from_millis(250)).await;
    assert_eq!(statuses(&edge, &short).await, [404; 5]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frame_stands_in_any_page_and_nothing_else_does() -> anyhow::Result<()> {
    let edge = OnEdge::behind_token().await?;
    let study = measured(&edge).await?;
    let share = edge
        .studio
        .share(&Actor::Owner, study.id, None, ShareScope::Aggregates)
        .await?;
    let token = share.path.unwrap_or_default().replace("/s/", "");
    let frame = edge.get(&format!("/embed/{token}")).await;
    assert_eq!(frame.status, 200, "without signing in");
    for site in ["same-origin", "same-site", "cross-site"] {
        let headers = [
            ("sec-fetch-site", site),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "iframe"),
        ];
        let path = format!("/embed/{token}");
        let framed = edge.send("GET", &path, &headers, Body::empty()).await;
        assert_eq!(framed.status, 200, "{site}");
        assert_eq!(framed.header("x-frame-options"), "", "{site}");
    }
    let policy = frame.header("content-security-policy");
    assert!(
        policy.contains("frame-ancestors *") && policy.contains("default-src 'none'"),
        "{policy}"
    );
    for absent in ["x-frame-options", "set-cookie"] {
        assert_eq!(frame.header(absent), "", "{absent}");
    }
    let text = frame.text();
    assert!(
        !text.contains("<script") && !text.contains("src="),
        "{text}"
    );
    assert!(
        text.contains("<svg") && text.contains("simulated") && text.contains("light-dark"),
        "{text}"
    );
    // A token in the address is no way in, and leaves no cookie.
    let asked = edge.get(&format!("/embed/{token}?token={TOKEN}")).await;
    assert_eq!((asked.status, asked.header("set-cookie")), (200, ""));
    for path in [
        format!("/s/{token}"),
        "/login".into(),
        format!("/s/{token}/curve.svg"),
    ] {
        let other = edge.get(&path).await;
        assert_eq!(other.header("x-frame-options"), "DENY", "{path}");
        assert!(
            other
                .header("content-security-policy")
                .contains("frame-ancestors 'none'"),
            "{path}"
        );
    }
    let owner = edge.get(&format!("/studies/{}/curve.svg", study.id)).await;
    assert_eq!(owner.status, 401, "files of studies are their owner's");
    let sent = edge
        .send("POST", &format!("/embed/{token}"), &[], Body::empty())
        .await;
    assert_eq!(sent.status, 405);
    Ok(())
}
