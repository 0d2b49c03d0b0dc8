//! What goes wrong outside the studio: a full disk, an engine that refuses, a data set that is another now.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context, bail};
use app::studio::{PointState, ShareScope, Studio, StudyState, StudyView};
use axum::Router;
use axum::http::StatusCode;
use axum::routing::{get, post};
use measure::knobs::Comparability;
use measure::study::{EngineSpec, StudySpec};
use measure::workload::Workload;
use serde_json::json;
use server::store::Database;
use server::studio::LocalStudio;
use sqlx::Connection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use tests::databases::{Place, on_each_database, on_sqlite};
use tests::samples::{configuration, small_study};
use tests::served::serve;
use uuid::Uuid;

use super::run::{endpoint, slow_study, states};
use super::{ME, finished, until, until_state};

async fn until_failed(studio: &LocalStudio, id: Uuid) -> anyhow::Result<(StudyView, String)> {
    for _ in 0..600 {
        let view = studio.study(&ME, id).await?;
        if view.state == StudyState::Failed {
            let problem = view.problem.clone().context("a problem")?;
            return Ok((view, problem));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    bail!("not in time")
}

/// As a full disk does: the write fails, and SQLite ends the transaction by itself.
const FULL: [&str; 2] = [
    "CREATE TRIGGER no_data BEFORE INSERT ON point_data WHEN (SELECT COUNT(*) FROM point_data) = 1 \
     BEGIN SELECT RAISE(ROLLBACK, 'full'); END",
    "CREATE TRIGGER no_end BEFORE UPDATE OF state ON studies WHEN NEW.state = 'failed' \
     BEGIN SELECT RAISE(ROLLBACK, 'full'); END",
];
const FREED: [&str; 2] = ["DROP TRIGGER no_data", "DROP TRIGGER no_end"];

async fn change(place: &Place, statements: [&'static str; 2]) -> anyhow::Result<()> {
    let Database::Sqlite(path) = &place.database else {
        bail!("SQLite");
    };
    let options = SqliteConnectOptions::new().filename(path);
    let mut connection = SqliteConnection::connect_with(&options).await?;
    for statement in statements {
        sqlx::query(statement).execute(&mut connection).await?;
    }
    Ok(connection.close().await?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_was_full_leaves_finished_points_and_a_study_that_resumes() {
    on_sqlite(&async |place: &Place| {
        let studio = place.studio().await?;
        studio.start_supervisor().await?;
        change(place, FULL).await?;
        let id = studio.launch(&ME, small_study()).await?;
        // Its end cannot be stored either: the page says so all the same.
        let (before, problem) = until_failed(&studio, id).await?;
        assert!(problem.contains("then resume"), "{problem}");
        assert_eq!(states(&before)[0], PointState::Finished);
        studio.set_setting("other", Some("write")).await?;
        change(place, FREED).await?;
        let mut resumed = studio.resume(&ME, id).await;
        for _ in 0..200 {
            if resumed.is_ok() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
            resumed = studio.resume(&ME, id).await;
        }
        resumed?;
        let view = until_state(&studio, id, StudyState::Finished).await?;
        assert_eq!(
            view.points[0], before.points[0],
            "it was not measured again"
        );
        Ok(())
    })
    .await;
}

/// An engine of this owner that names a model and refuses every request for it.
async fn refusing(owner: &'static str) -> anyhow::Result<String> {
    let models =
        async move || axum::Json(json!({ "data": [{ "id": "sim-tiny", "owned_by": owner }] }));
    let refuse = async || (StatusCode::UNAUTHORIZED, "no such key");
    let router = Router::new()
        .route("/v1/models", get(models))
        .route("/v1/chat/completions", post(refuse));
    serve(router).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_refuses_everything_ends_the_study_with_the_reason() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        studio.start_supervisor().await?;
        let endpoint = endpoint(&refusing("vllm").await?);
        studio
            .save_engine(&ME, "mine".into(), endpoint.clone())
            .await?;
        let spec = StudySpec {
            engine: EngineSpec::Endpoint(endpoint),
            warmup: 0,
            ..small_study()
        };
        let id = studio.launch(&ME, spec).await?;
        let (view, problem) = until_failed(&studio, id).await?;
        for part in [
            "10 × http_status",
            "HTTP 401: no such key",
            "API key",
            "resume",
        ] {
            assert!(problem.contains(part), "{part}: {problem}");
        }
        assert_eq!(states(&view), [PointState::Finished, PointState::Planned]);
        let summary = view.points[0].summary.as_ref().context("kept")?;
        let first = summary
            .first_failures
            .values()
            .next()
            .context("a failure")?;
        assert_eq!(first.http_status, Some(401));
        let link = studio.share(&ME, id, None, ShareScope::Requests).await?;
        let path = link.path.context("shown once")?;
        let token = path.trim_start_matches("/s/");
        let shared = serde_json::to_string(&studio.shared(token).await?)?;
        assert!(
            !shared.contains("no such key"),
            "strangers read no engine's words"
        );
        studio.resume(&ME, id).await?;
        Ok(())
    })
    .await;
}

/// One that refuses every request, and is another release from the sixth on.
async fn exchanged() -> anyhow::Result<String> {
    let asked = Arc::new(AtomicU32::new(0));
    let counted = asked.clone();
    let models = async || axum::Json(json!({ "data": [{ "id": "sim-tiny", "owned_by": "vllm" }] }));
    let version = async move || {
        let is_later = 6 <= asked.load(Ordering::SeqCst);
        axum::Json(json!({ "version": if is_later { "0.9.5" } else { "0.9.0" } }))
    };
    let refuse = async move || {
        counted.fetch_add(1, Ordering::SeqCst);
        (StatusCode::UNAUTHORIZED, "no such key")
    };
    let router = Router::new()
        .route("/v1/models", get(models))
        .route("/version", get(version))
        .route("/v1/chat/completions", post(refuse));
    serve(router).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_is_exchanged_under_a_point_is_told_by_the_point_and_by_its_facts() {
    on_sqlite(&async |place: &Place| {
        let studio = place.studio().await?;
        studio.start_supervisor().await?;
        let endpoint = endpoint(&exchanged().await?);
        studio
            .save_engine(&ME, "mine".into(), endpoint.clone())
            .await?;
        let spec = StudySpec {
            engine: EngineSpec::Endpoint(endpoint),
            warmup: 0,
            ..small_study()
        };
        let id = studio.launch(&ME, spec).await?;
        let (view, _) = until_failed(&studio, id).await?;
        let certificate = view.points[0].certificate.as_ref().context("measured")?;
        let said = certificate.reasons.first().context("a reason")?;
        assert!(said.contains("version was 0.9.0 and is 0.9.5"), "{said}");
        let version = &view.configurations[0].facts["version"];
        assert_eq!(version.value, "0.9.0, then 0.9.5");
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_engine_that_refuses_is_noticed_before_any_load() {
    on_sqlite(&async |place: &Place| {
        let studio = place.studio().await?;
        studio.start_supervisor().await?;
        let endpoint = endpoint(&refusing("somebody").await?);
        studio
            .save_engine(&ME, "mine".into(), endpoint.clone())
            .await?;
        let spec = StudySpec {
            engine: EngineSpec::Endpoint(endpoint),
            ..small_study()
        };
        let id = studio.launch(&ME, spec).await?;
        let (view, problem) = until_failed(&studio, id).await?;
        for part in ["Every request would fail", "401 (no such key)", "API key"] {
            assert!(problem.contains(part), "{part}: {problem}");
        }
        assert_eq!(states(&view), [PointState::Planned, PointState::Planned]);
        Ok(())
    })
    .await;
}

/// Conversations enough, all of them about one word.
fn put_data_set(place: &Place, word: &str) -> anyhow::Result<()> {
    let said = [word; 12].join(" ");
    let turn = |from: &str| json!({ "from": from, "value": said });
    let rows: Vec<_> = (0..40)
        .map(|_| json!({ "conversations": [turn("human"), turn("gpt")] }))
        .collect();
    let file = place.data_dir.join("datasets/rep.json");
    Ok(std::fs::write(file, serde_json::to_string(&rows)?)?)
}

fn on_data_set(mut spec: StudySpec) -> StudySpec {
    spec.workload = Workload::ShareGptFile {
        file: "rep.json".into(),
        max_turns: 1,
        think_ms: 0,
        filter: Default::default(),
        output_tokens: None,
        answers: measure::workload::Answers::DataSet,
        repeats: false,
    };
    spec
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_data_set_of_the_same_name_confounds_a_comparison() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let mut other = on_data_set(small_study());
        other.configurations = vec![configuration("other", &[("max-num-seqs", "2")])];
        put_data_set(place, "rain")?;
        let one = finished(&studio, on_data_set(small_study())).await?;
        let same = studio.launch(&ME, other.clone()).await?;
        let same = until_state(&studio, same, StudyState::Finished).await?;
        put_data_set(place, "snow")?;
        let two = studio.launch(&ME, other).await?;
        let two = until_state(&studio, two, StudyState::Finished).await?;
        let first = |view: &StudyView| view.configurations[0].id;
        let ids = vec![first(&one), first(&same), first(&two)];
        let page = studio.compare(&ME, ids, None).await?;
        assert!(matches!(
            page.pairs[0].comparability,
            Comparability::OneVariable { .. }
        ));
        let Comparability::Confounded { differing } = &page.pairs[1].comparability else {
            panic!("{:?}", page.pairs[1].comparability)
        };
        let names: Vec<&str> = differing.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["data set", "knob:max-num-seqs"]);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_study_never_goes_on_with_another_data_set() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        studio.start_supervisor().await?;
        put_data_set(place, "rain")?;
        let id = studio.launch(&ME, on_data_set(slow_study())).await?;
        until(&studio, id, |view| states(view)[0] == PointState::Finished).await?;
        studio.stop(&ME, id).await?;
        until_state(&studio, id, StudyState::Stopped).await?;
        put_data_set(place, "snow")?;
        studio.resume(&ME, id).await?;
        let (view, problem) = until_failed(&studio, id).await?;
        assert!(
            problem.contains("\"rep.json\" is another than at the launch"),
            "{problem}"
        );
        assert_eq!(states(&view)[0], PointState::Finished);
        put_data_set(place, "rain")?;
        studio.resume(&ME, id).await?;
        until_state(&studio, id, StudyState::Finished).await?;
        Ok(())
    })
    .await;
}
