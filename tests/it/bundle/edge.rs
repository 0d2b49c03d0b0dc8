//! Bundles over HTTP and on the command line.

use std::path::Path;

use measure::study::StudySpec;
use serde_json::Value;
use server::config::{Config, StoreConfig};
use server::serving::Serving;
use tests::bundles::Loose;
use tests::edge::OnEdge;
use tests::samples::small_study;

use super::super::bench::goodput;
use super::two_curves;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_study_goes_from_one_studio_to_another() -> anyhow::Result<()> {
    let (here, there) = (OnEdge::open().await?, OnEdge::open().await?);
    let view = here.finished(two_curves()).await?;
    let path = format!("/api/v1/studies/{}", view.id);
    let bundle = here.get(&format!("{path}/bundle?everything=true")).await;
    assert_eq!(bundle.status, 200, "{}", bundle.text());
    assert_eq!(bundle.header("content-type"), "application/zstd");
    let name = "attachment; filename=\"small.goodput\"";
    assert_eq!(bundle.header("content-disposition"), name);
    assert_eq!(
        bundle.header("content-length"),
        bundle.body.len().to_string()
    );

    let open = "/api/v1/bundles?file=small.goodput";
    let opened = there.send("POST", open, &[], bundle.body.clone()).await;
    assert_eq!(opened.status, 201, "{}", opened.text());
    assert_eq!(opened.header("location"), path);
    assert_eq!(opened.json()["id"], view.id.to_string());
    let again = there.send("POST", open, &[], bundle.body.clone()).await;
    assert_eq!(
        (again.status, &again.json()["already_here"]),
        (200, &Value::Bool(true))
    );

    let mut shown = there.get(&path).await.json();
    let origin = shown["imported"].take();
    let origin = origin.as_str().unwrap_or_default();
    assert!(
        origin.starts_with("Imported from small.goodput, made by"),
        "{origin}"
    );
    let mut before = here.get(&path).await.json();
    for study in [&mut shown, &mut before] {
        let study = study.as_object_mut().expect("a study");
        study.remove("imported");
        study.remove("last_event");
    }
    assert_eq!(shown, before, "the same figures");
    for point in &view.points {
        for what in ["scores", "records.parquet", "evidence", "metrics"] {
            let path = format!("/api/v1/points/{}/{what}", point.id);
            let (one, other) = (here.get(&path).await, there.get(&path).await);
            assert_eq!((one.status, one.body), (200, other.body), "{what}");
        }
    }
    let page = there.get(&format!("/studies/{}", view.id)).await.text();
    for word in [
        "Imported from small.goodput",
        "simulated",
        "Export",
        "finished",
    ] {
        assert!(page.contains(word), "the page lacks {word:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_done_has_its_status() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let spec = serde_json::to_value(small_study())?;
    let queued = edge.json("POST", "/api/v1/studies", &spec).await.json();
    let queued = queued["id"].as_str().unwrap_or_default().to_owned();
    for (method, path, body, status, word) in [
        (
            "POST",
            "/api/v1/bundles".to_owned(),
            "x",
            400,
            "no study bundle",
        ),
        (
            "GET",
            format!("/api/v1/studies/{queued}/bundle"),
            "",
            409,
            "has not ended",
        ),
        (
            "GET",
            format!("/api/v1/studies/{}/bundle", uuid::Uuid::nil()),
            "",
            404,
            "study",
        ),
        (
            "POST",
            "/api/v1/examples/none".to_owned(),
            "",
            404,
            "no such example",
        ),
    ] {
        let answer = edge.send(method, &path, &[], body).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
        let message = answer.json()["message"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        assert!(message.contains(word), "{path}: {message}");
    }
    let form = [("content-type", "multipart/form-data; boundary=x")];
    let foreign = edge.send("POST", "/api/v1/bundles", &form, "x").await;
    assert_eq!(
        foreign.status, 415,
        "no form of another site opens anything"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bundle_needs_the_token_like_everything() -> anyhow::Result<()> {
    let edge = OnEdge::behind_token().await?;
    for (method, path) in [
        ("POST", "/api/v1/bundles"),
        ("GET", "/api/v1/examples"),
        ("POST", "/api/v1/examples/x"),
        ("GET", "/examples/x"),
    ] {
        assert_eq!(edge.send(method, path, &[], "").await.status, 401, "{path}");
    }
    Ok(())
}

/// A data directory with one finished study.
async fn data_of(folder: &Path, spec: StudySpec) -> anyhow::Result<String> {
    let config = Config::loopback(0, StoreConfig::in_folder(folder.to_owned()));
    let serving = Serving::start(&config).await?;
    let view = super::measured(&serving.studio, spec).await?;
    serving.shutdown().await;
    Ok(view.id.to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_line_does_it_without_a_server() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let place = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    let (here, there, file) = (place("here"), place("there"), place("s.goodput"));
    let id = data_of(Path::new(&here), small_study()).await?;
    let page = format!("http://127.0.0.1:7878/studies/{id}?x=1");
    assert_eq!(
        goodput(&["export", &page, "-o", &file, "--data-dir", &here]),
        0
    );
    assert_eq!(
        goodput(&["export", "small", "-o", &file, "--data-dir", &here]),
        0
    );
    assert_eq!(goodput(&["import", &file, "--check"]), 0);
    assert_eq!(goodput(&["import", &file, "--data-dir", &there]), 0);
    assert_eq!(
        goodput(&["import", &file, "--data-dir", &there]),
        0,
        "again"
    );
    let config = StoreConfig::in_folder(there.clone().into());
    let serving = Serving::start(&Config::loopback(0, config)).await?;
    let shown = reqwest::get(format!("{}/studies/{id}", serving.url())).await?;
    assert!(shown.text().await?.contains("Imported from s.goodput"));
    // A studio that runs is no hindrance.
    assert_eq!(
        goodput(&["export", &id, "-o", &file, "--data-dir", &there]),
        0
    );
    assert_eq!(goodput(&["import", &file, "--data-dir", &there]), 0);
    serving.shutdown().await;

    for (args, status) in [
        (&["export", "none", "-o", &file, "--data-dir", &here][..], 1),
        (
            &["export", "small", "-o", "/nowhere/x", "--data-dir", &here],
            1,
        ),
        (&["export", "small", "--data-dir", &place("mistyped")], 1),
        (&["import", "/nowhere/x", "--data-dir", &there], 1),
        (&["import", "--data-dir", &there], 2),
        (&["import", "--example", "none", "--data-dir", &there], 2),
        (&["import", "--examples"], 0),
    ] {
        assert_eq!(goodput(args), status, "{args:?}");
    }
    assert!(!Path::new(&place("mistyped")).exists());
    let mut forged = Loose::of(&std::fs::read(&file)?)?;
    let other = forged.part("points/0000/records.parquet")?.to_vec();
    forged.set("points/0001/records.parquet", &other);
    std::fs::write(&file, forged.packed()?)?;
    assert_eq!(goodput(&["import", &file, "--check"]), 1, "does not follow");
    Ok(())
}
