//! REST, assets and pages, as programs and browsers see them.

mod datasets;

use std::time::Duration;

use app::studio::{Actor, Studio};
use futures_util::StreamExt;
use serde_json::{Value, json};
use server::api::schema;
use server::config::{Config, StoreConfig};
use server::serving::Serving;
use tests::edge::OnEdge;
use tests::samples::{configuration, small_study};
use uuid::Uuid;

#[test]
fn the_document_is_what_was_agreed() {
    insta::assert_snapshot!("openapi", server::api::document());
}

#[test]
fn every_operation_has_a_name_of_its_own() {
    let document: Value = serde_json::from_str(&server::api::document()).expect("json");
    let paths = document["paths"].as_object().expect("paths").values();
    let operations = paths.flat_map(|path| path.as_object().expect("a path").values());
    let mut names: Vec<&str> = operations
        .filter_map(|it| it["operationId"].as_str())
        .collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// What is sent fits the documented shape, and nothing is lost in it.
#[track_caller]
pub fn fits<T: serde::de::DeserializeOwned + serde::Serialize>(sent: &Value) {
    let read: T =
        serde_json::from_value(sent.clone()).unwrap_or_else(|error| panic!("{error}: {sent:#}"));
    assert_eq!(&serde_json::to_value(read).expect("json"), sent);
}

/// What a study's ceilings mean for a demand, and its part of the page.
async fn capacity(edge: &OnEdge, path: &str, id: Uuid) {
    let capacity = format!("{path}/capacity");
    let asked = edge
        .get(&format!("{capacity}?demand=50&headroom=10&price=2"))
        .await
        .json();
    fits::<schema::StudyPlan>(&asked);
    assert_eq!(
        (&asked["need"]["headroom"], &asked["unit"]),
        (&json!(0.1), &json!("req/s"))
    );
    assert_eq!(asked["configurations"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        edge.get(&format!("{capacity}?demand=none")).await.status,
        422
    );
    let page = edge.get(&format!("/studies/{}?demand=50", id)).await;
    assert!(
        page.text().contains(r#"id="capacity" open"#),
        "{}",
        page.text()
    );
}

/// Everything that is kept of a point.
async fn of_point(edge: &OnEdge, study: Uuid, point: Uuid) -> anyhow::Result<()> {
    let scores = edge.get(&format!("/api/v1/points/{point}/scores")).await;
    assert_eq!(measure::score::decode(&scores.body)?.len(), 10);
    assert_eq!(scores.header("content-type"), "application/octet-stream");
    assert!(scores.header("cache-control").contains("immutable"));
    let all = format!("/api/v1/studies/{study}/scores");
    let both = edge.get(&all).await;
    let frames = measure::score::frames(&both.body)?;
    assert_eq!(frames.len(), 4);
    let of = |place: usize| Uuid::from_u128(frames[place].0);
    let one = frames.iter().find(|(id, _)| *id == point.as_u128());
    assert_eq!(one.map(|(_, block)| *block), Some(&scores.body[..]));
    let behind = edge.get(&format!("{all}?after={}", of(0))).await;
    assert_eq!(measure::score::frames(&behind.body)?, frames[1..]);
    let none = edge.get(&format!("{all}?after={}", of(3))).await;
    assert_eq!((none.status, none.body.len()), (200, 0));
    let records = edge
        .get(&format!("/api/v1/points/{point}/records.parquet"))
        .await;
    assert!(
        records.body.starts_with(b"PAR1")
            && records.header("content-disposition").contains("attachment")
    );
    let evidence = edge.get(&format!("/api/v1/points/{point}/evidence")).await;
    fits::<schema::Evidence>(&evidence.json());
    let pages = edge.get(&format!("/api/v1/points/{point}/metrics")).await;
    assert_eq!(pages.header("content-type"), "application/zstd");
    let zstandard = [0x28, 0xb5, 0x2f, 0xfd];
    assert!(pages.body.starts_with(&zstandard), "{:?}", pages.status);
    let rules = edge
        .get(&format!("/api/v1/points/{point}/rules"))
        .await
        .json();
    fits::<Vec<schema::RulesTable>>(&rules);
    assert_eq!(rules[0]["tool"], "vllm");
    assert_eq!(rules[0]["rows"][4]["theirs"], 10.0, "completed: {rules}");
    let nowhere = format!("/api/v1/points/{}/rules", Uuid::nil());
    assert_eq!(edge.get(&nowhere).await.status, 404);
    let page = edge
        .get(&format!("/studies/{}/points/{point}", study))
        .await;
    assert!(page.text().contains("What the engine said meanwhile"));
    assert!(page.text().contains("Under other tools' rules"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_study_from_launch_to_raw_data() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let mut spec = small_study();
    spec.configurations
        .push(configuration("two", &[("max-num-seqs", "2")]));
    fits::<schema::StudySpec>(&serde_json::to_value(&spec)?);
    let view = edge.finished(spec).await?;
    let path = format!("/api/v1/studies/{}", view.id);

    let shown = edge.get(&path).await;
    assert_eq!(
        (shown.status, shown.json()),
        (200, serde_json::to_value(&view)?)
    );
    fits::<schema::StudyView>(&shown.json());
    capacity(&edge, &path, view.id).await;
    let rows = edge
        .get("/api/v1/studies?search=small&limit=5")
        .await
        .json();
    fits::<Vec<schema::StudyRow>>(&rows);

    let point = view.points[0].id;
    of_point(&edge, view.id, point).await?;

    let ids: Vec<String> = view
        .configurations
        .iter()
        .map(|it| format!("c={}", it.id))
        .collect();
    let compared = edge
        .get(&format!("/api/v1/compare?{}", ids.join("&")))
        .await;
    assert_eq!(compared.status, 200, "{}", compared.text());
    fits::<schema::CompareView>(&compared.json());
    Ok(())
}

#[tokio::test]
async fn a_study_is_launched_changed_and_deleted() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let launched = edge
        .json(
            "POST",
            "/api/v1/studies",
            &serde_json::to_value(small_study())?,
        )
        .await;
    assert_eq!(launched.status, 201, "{}", launched.text());
    let path = format!(
        "/api/v1/studies/{}",
        launched.json()["id"].as_str().unwrap_or_default()
    );
    assert_eq!(launched.header("location"), path);
    assert_eq!(
        edge.json("PATCH", &path, &json!({ "name": "renamed", "tags": ["t"] }))
            .await
            .status,
        204
    );
    assert_eq!(edge.get(&path).await.json()["spec"]["name"], "renamed");
    assert_eq!(
        edge.send("POST", &format!("{path}/stop"), &[], "")
            .await
            .status,
        202
    );
    assert_eq!(
        edge.send("POST", &format!("{path}/stop"), &[], "")
            .await
            .status,
        409
    );
    assert_eq!(
        edge.send("POST", &format!("{path}/resume"), &[], "")
            .await
            .status,
        202
    );
    assert_eq!(
        edge.send("POST", &format!("{path}/proceed"), &[], "")
            .await
            .status,
        409
    );
    assert_eq!(edge.send("DELETE", &path, &[], "").await.status, 204);
    assert_eq!(edge.get(&path).await.status, 404);
    assert_eq!(
        edge.send("POST", &format!("{path}/undelete"), &[], "")
            .await
            .status,
        204
    );
    assert_eq!(edge.get(&path).await.status, 200);
    Ok(())
}

#[tokio::test]
async fn errors_stand_at_their_fields() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let field = async |change: &dyn Fn(&mut Value)| {
        let mut spec = serde_json::to_value(small_study()).expect("json");
        change(&mut spec);
        let answer = edge.json("POST", "/api/v1/studies", &spec).await;
        assert_eq!(answer.status, 422, "{}", answer.text());
        answer.json()["fields"][0]["field"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(
        field(&|spec| spec["levels"] = json!([1, 0])).await,
        "levels[1]"
    );
    assert_eq!(
        field(&|spec| spec["levels"] = json!([-1])).await,
        "levels[0]"
    );
    assert_eq!(field(&|spec| spec["slo"] = json!("ttft<x")).await, "slo");
    assert_eq!(
        field(&|spec| spec["engine"]["preset"] = json!("warp")).await,
        "engine.preset"
    );
    assert_eq!(field(&|spec| spec["name"] = json!("")).await, "name");
    assert_eq!(
        edge.send("POST", "/api/v1/studies", &[], "{").await.status,
        400
    );
    let huge = format!("\"{}\"", "x".repeat(2 << 20));
    assert_eq!(
        edge.send("POST", "/api/v1/studies", &[], huge).await.status,
        413
    );
    Ok(())
}

#[tokio::test]
async fn named_slos_and_engines_are_kept() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let slo = json!({ "slo": "ttft:p95<500ms attain>=95%" });
    assert_eq!(
        edge.json("PUT", "/api/v1/slos/chat", &slo).await.status,
        204
    );
    let slos = edge.get("/api/v1/slos").await.json();
    fits::<Vec<schema::NamedSlo>>(&slos);
    let is_ours = |slo: &Value| {
        slo["name"] == "chat"
            && slo["slo"]
                .as_str()
                .is_some_and(|text| text.starts_with("ttft"))
    };
    assert!(
        slos.as_array().is_some_and(|slos| slos.iter().any(is_ours)),
        "{slos}"
    );
    assert_eq!(
        edge.json("PUT", "/api/v1/slos/chat", &json!({ "slo": "ttft:-5" }))
            .await
            .status,
        422
    );
    assert_eq!(
        edge.send("DELETE", "/api/v1/slos/chat", &[], "")
            .await
            .status,
        204
    );
    assert_eq!(
        edge.send("DELETE", "/api/v1/slos/chat", &[], "")
            .await
            .status,
        404
    );

    let engine = sim::start(sim::Config::preset("tiny", &measure::knobs::Knobs::new())?)?;
    let probe = json!({ "url": engine.url, "api": "openai.chat", "api_key_env": null });
    let report = edge.json("POST", "/api/v1/probe", &probe).await;
    assert_eq!(report.status, 200, "{}", report.text());
    fits::<schema::ProbeReport>(&report.json());
    let endpoint =
        json!({ "url": engine.url, "api": "openai.chat", "model": report.json()["models"][0] });
    let saved = edge
        .json(
            "POST",
            "/api/v1/engines",
            &json!({ "name": "mine", "endpoint": endpoint }),
        )
        .await;
    assert_eq!(saved.status, 201, "{}", saved.text());
    let engines = edge.get("/api/v1/engines").await.json();
    fits::<Vec<schema::EngineRow>>(&engines);
    let path = format!(
        "/api/v1/engines/{}",
        engines[0]["id"].as_str().unwrap_or_default()
    );
    assert_eq!(edge.send("DELETE", &path, &[], "").await.status, 204);
    Ok(())
}

#[tokio::test]
async fn an_engine_that_is_not_there_is_the_engines_fault() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let gone = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let probe =
        json!({ "url": format!("http://{gone}"), "api": "openai.chat", "api_key_env": null });
    let answer = edge.json("POST", "/api/v1/probe", &probe).await;
    assert_eq!(
        (answer.status, answer.json()["error"].as_str()),
        (502, Some("engine")),
        "{}",
        answer.text()
    );
    let metadata =
        json!({ "url": "http://169.254.169.254/v1", "api": "openai.chat", "api_key_env": null });
    let refused = edge.json("POST", "/api/v1/probe", &metadata).await;
    assert!(
        refused.text().contains("169.254.169.254") && 400 <= refused.status,
        "{}",
        refused.text()
    );
    Ok(())
}

#[tokio::test]
async fn an_unknown_asset_is_never_a_page() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    for path in [
        "/assets/nothing.js",
        "/assets/frontend.99.js",
        "/assets/a/b.js",
    ] {
        let answer = edge.get(path).await;
        assert_eq!(
            (answer.status, answer.text().as_str()),
            (404, "no such asset\n"),
            "{path}"
        );
        assert!(
            answer.header("content-type").starts_with("text/plain"),
            "{path}"
        );
    }
    assert_eq!(edge.get("/assets/../manifest.json").await.status, 400);
    Ok(())
}

#[tokio::test]
async fn an_asset_is_immutable_and_compressed_beforehand() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let answer = edge
        .send(
            "GET",
            "/assets/frontend.22.wasm",
            &[("accept-encoding", "gzip, br")],
            "",
        )
        .await;
    assert_eq!((answer.status, answer.text().as_str()), (200, "brotli"));
    assert_eq!(
        (
            answer.header("content-encoding"),
            answer.header("content-type")
        ),
        ("br", "application/wasm")
    );
    assert_eq!(
        answer.header("cache-control"),
        "public, max-age=31536000, immutable"
    );
    assert_eq!(edge.get("/assets/frontend.22.wasm").await.text(), "wasm");
    Ok(())
}

#[tokio::test]
async fn deep_links_are_pages_and_what_is_not_there_is_a_404() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let id = edge.studio.launch(&Actor::Owner, small_study()).await?;
    for path in [
        "/".to_owned(),
        "/studies/new".to_owned(),
        format!("/studies/{id}"),
    ] {
        let answer = edge.get(&path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.header("content-type").starts_with("text/html"));
        assert!(
            answer.text().contains("/assets/app.33.css"),
            "{path} names its style sheet"
        );
    }
    let nobody = Uuid::nil();
    for path in [
        format!("/studies/{nobody}"),
        format!("/studies/{id}/points/{nobody}"),
        "/nowhere".into(),
        "/s/wrong".into(),
    ] {
        let answer = edge.get(&path).await;
        assert_eq!(answer.status, 404, "{path}");
        assert!(
            answer.header("content-type").starts_with("text/html"),
            "{path}"
        );
    }
    let answer = edge.get("/api/v1/nowhere").await;
    assert_eq!(
        (answer.status, answer.json()["error"].as_str()),
        (404, Some("not_found"))
    );
    let answer = edge.get("/api/v1/studies/7").await;
    assert_eq!(
        (answer.status, answer.json()["error"].as_str()),
        (404, Some("not_found"))
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shared_study_has_a_picture_and_its_latencies_and_no_more() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let view = edge.finished(small_study()).await?;
    let share = edge
        .json(
            "POST",
            &format!("/api/v1/studies/{}/shares", view.id),
            &json!({}),
        )
        .await;
    assert_eq!(share.status, 201);
    fits::<schema::ShareRow>(&share.json());
    let path = share.json()["path"].as_str().unwrap_or_default().to_owned();
    let picture = edge.get(&format!("{path}/preview.png")).await;
    assert_eq!(
        (picture.status, picture.header("content-type")),
        (200, "image/png")
    );
    assert!(picture.body.starts_with(b"\x89PNG") && 2000 < picture.body.len());
    let scores = edge
        .get(&format!("{path}/points/{}/scores", view.points[0].id))
        .await;
    assert_eq!(measure::score::decode(&scores.body)?.len(), 10);
    let all = edge.get(&format!("{path}/scores")).await;
    let frames = measure::score::frames(&all.body)?;
    assert_eq!(frames[0].0, view.points[0].id.as_u128());
    assert_eq!(edge.get("/s/none/scores").await.status, 404);
    let other = edge.studio.launch(&Actor::Owner, small_study()).await?;
    let other = edge.studio.study(&Actor::Owner, other).await?;
    assert_eq!(
        edge.get(&format!("{path}/points/{}/scores", other.points[0].id))
            .await
            .status,
        404
    );
    let row = edge
        .get(&format!("/api/v1/studies/{}/shares", view.id))
        .await
        .json();
    assert_eq!(row[0]["path"], Value::Null, "told once");
    let revoke = format!(
        "/api/v1/shares/{}",
        share.json()["id"].as_str().unwrap_or_default()
    );
    assert_eq!(edge.send("DELETE", &revoke, &[], "").await.status, 204);
    for path in [path.clone(), format!("{path}/preview.png")] {
        assert_eq!(edge.get(&path).await.status, 404, "revoked at once");
    }
    Ok(())
}

/// Reads server-sent events until `enough` numbered ones have come.
async fn numbers(url: &str, last: Option<&str>, enough: usize) -> anyhow::Result<Vec<u64>> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut request = reqwest::Client::builder().no_proxy().build()?.get(url);
    if let Some(last) = last {
        request = request.header("last-event-id", last);
    }
    let response = request
        .header("accept-encoding", "gzip, br")
        .send()
        .await?
        .error_for_status()?;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert!(
        response.headers().get("content-encoding").is_none(),
        "events are never compressed"
    );
    let (mut stream, mut text) = (response.bytes_stream(), String::new());
    let ids = |text: &str| {
        text.lines()
            .filter_map(|line| line.strip_prefix("id:")?.trim().parse().ok())
            .collect::<Vec<u64>>()
    };
    while ids(&text).len() < enough {
        let next = tokio::time::timeout(Duration::from_secs(20), stream.next()).await?;
        let Some(chunk) = next else { break };
        text.push_str(&String::from_utf8_lossy(&chunk?));
    }
    Ok(ids(&text))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_takes_up_where_it_left_off_and_shutdown_does_not_wait_for_it()
-> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let serving = Serving::start(&Config::loopback(
        0,
        StoreConfig::in_folder(dir.path().to_owned()),
    ))
    .await?;
    let id = serving.studio.launch(&Actor::Owner, small_study()).await?;
    let url = format!("{}/api/v1/studies/{id}/events", serving.url());
    // Running, two points begun and ended, facts, finished.
    let all = numbers(&url, None, 5).await?;
    assert!(all.is_sorted() && 5 <= all.len(), "{all:?}");
    assert_eq!(numbers(&url, Some("2"), 2).await?[0], 3);
    assert_eq!(numbers(&format!("{url}?after=3"), None, 1).await?[0], 4);
    let next = serving.studio.launch(&Actor::Owner, small_study()).await?;
    let next = format!("{}/api/v1/studies/{next}/events", serving.url());
    let beyond = numbers(&next, Some("999999"), 1).await?;
    assert_eq!(beyond.len(), 1, "a number that is not there yet hides none");
    let reader = tokio::spawn(async move { numbers(&url, None, usize::MAX).await });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let before = std::time::Instant::now();
    serving.shutdown().await;
    assert!(
        before.elapsed() < Duration::from_secs(4),
        "{:?}",
        before.elapsed()
    );
    let _ = reader.await?;
    Ok(())
}

#[tokio::test]
async fn events_of_no_study_are_a_404() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    assert_eq!(
        edge.get(&format!("/api/v1/studies/{}/events", Uuid::nil()))
            .await
            .status,
        404
    );
    Ok(())
}
