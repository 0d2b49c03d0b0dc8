//! The studio, end to end on the simulator: studies run, stop, wait, break and go on; views, links and comparisons.

mod compare;
mod files;
mod kill;
mod lengths;
mod run;
mod sample;
mod search;
mod share;
mod steer;
mod trouble;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use app::studio::{
    Actor, NamedSlo, Studio, StudioError, StudyEdit, StudyFilter, StudyState, StudyView,
};
use measure::knobs::Source;
use measure::study::StudySpec;
use server::studio::LocalStudio;
use tests::databases::on_each_database;
use tests::samples::small_study;
use uuid::Uuid;

/// The one who asks.
const ME: Actor = Actor::Owner;

/// Waits until a study is as it should be; fails early when it failed.
async fn until(
    studio: &LocalStudio,
    id: Uuid,
    what: impl Fn(&StudyView) -> bool,
) -> anyhow::Result<StudyView> {
    for _ in 0..600 {
        let view = studio.study(&ME, id).await?;
        if what(&view) {
            return Ok(view);
        }
        if view.state == StudyState::Failed {
            bail!("failed: {:?}", view.problem);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    bail!("not in time: {:?}", studio.study(&ME, id).await?.state)
}

pub async fn until_state(
    studio: &LocalStudio,
    id: Uuid,
    state: StudyState,
) -> anyhow::Result<StudyView> {
    until(studio, id, |view| view.state == state).await
}

/// A finished study.
async fn finished(studio: &Arc<LocalStudio>, spec: StudySpec) -> anyhow::Result<StudyView> {
    studio.start_supervisor().await?;
    let id = studio.launch(&ME, spec).await?;
    until_state(studio, id, StudyState::Finished)
        .await
        .context("finishes")
}

#[track_caller]
fn invalid_fields<T: std::fmt::Debug>(outcome: Result<T, StudioError>) -> Vec<String> {
    match outcome {
        Err(StudioError::Invalid { fields }) => {
            fields.into_iter().map(|error| error.field).collect()
        }
        other => panic!("expected an invalid field, got {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_tags_and_notes_can_be_changed_and_found() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let id = studio.launch(&ME, small_study()).await?;
        let edit = StudyEdit {
            name: Some(" Nightly ".into()),
            tags: Some(vec!["b".into(), "a".into(), "b".into()]),
            note: Some("n".into()),
            ..Default::default()
        };
        studio.edit(&ME, id, edit).await?;
        let view = studio.study(&ME, id).await?;
        assert_eq!(
            (view.spec.name.as_str(), view.note.as_str()),
            ("Nightly", "n")
        );
        assert_eq!(view.tags, ["a", "b"]);
        for search in ["nightly", "simulator tiny", "a b"] {
            let filter = StudyFilter {
                search: search.into(),
                ..Default::default()
            };
            let rows = studio.studies(&ME, filter).await?;
            assert_eq!(rows.len(), 1, "{search}");
            assert_eq!(rows[0].engine, "simulator tiny");
        }
        let empty = StudyEdit {
            name: Some(" ".into()),
            ..Default::default()
        };
        assert_eq!(invalid_fields(studio.edit(&ME, id, empty).await), ["name"]);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_engine_does_not_tell_can_be_typed_in_and_is_marked() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let mut spec = small_study();
        spec.configurations[0].declared = [("rack".to_owned(), "B 7".to_owned())].into();
        let id = finished(&studio, spec).await?.id;
        let declare = async |name: &str, value: &str| {
            let edit = StudyEdit {
                declared: [(name.to_owned(), value.to_owned())].into(),
                ..Default::default()
            };
            studio.edit(&ME, id, edit).await
        };
        declare("driver", " 580.65 ").await?;
        for (name, value) in [("version", "9"), ("Driver", "1"), ("driver", " ")] {
            let field = format!("declared.{name}");
            assert_eq!(invalid_fields(declare(name, value).await), [field]);
        }
        let facts = &studio.study(&ME, id).await?.configurations[0].facts;
        let told = |name: &str| (facts[name].value.as_str(), facts[name].source);
        assert_eq!(told("driver"), ("580.65", Source::Declared));
        assert_eq!(told("rack"), ("B 7", Source::Declared));
        assert_eq!(told("hardware"), ("none: simulated", Source::Engine));
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_study_is_gone_and_comes_back() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let id = studio.launch(&ME, small_study()).await?;
        studio.delete(&ME, id).await?;
        assert!(matches!(
            studio.study(&ME, id).await,
            Err(StudioError::NotFound { .. })
        ));
        assert!(
            studio
                .studies(&ME, StudyFilter::default())
                .await?
                .is_empty()
        );
        studio.undelete(&ME, id).await?;
        assert_eq!(
            studio.study(&ME, id).await?.state,
            StudyState::Stopped,
            "it left the queue"
        );
        assert!(studio.delete(&ME, Uuid::nil()).await.is_err());
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_studys_points_are_gone_as_well() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let view = finished(&studio, small_study()).await?;
        let point = view.points[0].id;
        assert!(studio.scores(point).await.is_ok());
        studio.delete(&ME, view.id).await?;
        assert!(studio.scores(point).await.is_err());
        assert!(studio.records_parquet(point).await.is_err());
        assert!(studio.evidence_of(point).await.is_err());
        studio.undelete(&ME, view.id).await?;
        assert!(studio.records_parquet(point).await.is_ok());
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_study_that_cannot_run_says_why_at_each_field() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let mut spec = small_study();
        spec.name = String::new();
        assert_eq!(invalid_fields(studio.launch(&ME, spec).await), ["name"]);
        let mut spec = small_study();
        spec.engine = measure::study::EngineSpec::Simulator {
            preset: "none".into(),
        };
        assert_eq!(
            invalid_fields(studio.launch(&ME, spec).await),
            ["engine.preset"]
        );
        let mut spec = small_study();
        spec.configurations[0]
            .knobs
            .insert("max-num-seqs".into(), "-1".into());
        assert_eq!(
            invalid_fields(studio.launch(&ME, spec).await),
            ["configurations[0].knobs.max-num-seqs"]
        );
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn load_goes_only_to_engines_that_were_added() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let endpoint = run::endpoint("http://127.0.0.1:9/v1");
        let mut spec = small_study();
        spec.engine = measure::study::EngineSpec::Endpoint(endpoint.clone());
        assert_eq!(
            invalid_fields(studio.launch(&ME, spec.clone()).await),
            ["engine"]
        );
        let row = studio
            .save_engine(&ME, "mine".into(), run::endpoint("http://127.0.0.1:9"))
            .await?;
        assert_eq!(row.probe, None, "nothing answers there");
        studio.launch(&ME, spec.clone()).await?;
        studio.delete_engine(&ME, row.id).await?;
        assert_eq!(invalid_fields(studio.launch(&ME, spec).await), ["engine"]);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_sets_are_files_of_one_folder() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        std::fs::write(place.data_dir.join("datasets/empty.json"), "[]")?;
        let rows = studio.datasets(&ME).await?;
        assert_eq!(
            rows.iter().map(|row| row.file.as_str()).collect::<Vec<_>>(),
            ["empty.json"]
        );
        for (file, field) in [
            ("../goodput.sqlite", "workload.file"),
            ("none.json", "workload.file"),
            ("empty.json", "workload"),
        ] {
            let mut spec = small_study();
            spec.workload = measure::workload::Workload::ShareGptFile {
                file: file.into(),
                max_turns: 1,
                think_ms: 0,
                filter: Default::default(),
                output_tokens: None,
                answers: measure::workload::Answers::DataSet,
                repeats: false,
            };
            assert_eq!(
                invalid_fields(studio.launch(&ME, spec).await),
                [field],
                "{file}"
            );
        }
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_a_person_saved_is_a_named_slo() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        assert_eq!(studio.slos(&ME).await?, []);
        let named = |name: &str, slo: &str| -> anyhow::Result<NamedSlo> {
            let (name, slo) = (name.to_owned(), slo.parse()?);
            Ok(NamedSlo { name, slo })
        };
        let mut slos = vec![named("a", "ttft:p95<1s")?, named("b", "e2e:p95<9s")?];
        for slo in &slos {
            studio.save_slo(&ME, slo.clone()).await?;
        }
        slos[0].slo = "ttft:p50<1s".parse()?;
        studio.save_slo(&ME, slos[0].clone()).await?;
        assert_eq!(studio.slos(&ME).await?, slos);
        studio.delete_slo(&ME, slos[0].name.clone()).await?;
        assert_eq!(studio.slos(&ME).await?, slos[1..]);
        assert!(studio.delete_slo(&ME, "none".into()).await.is_err());
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_data_directory_has_one_server() {
    on_each_database(async |place| {
        let first = place.studio().await?;
        let refused = LocalStudio::open(place.settings())
            .await
            .err()
            .context("refused")?;
        assert!(
            refused.to_string().contains("another goodput server"),
            "{refused}"
        );
        drop(first);
        place.studio().await?;
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_data_directory_that_cannot_be_written_says_so() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let settings = server::studio::Settings {
        database: server::store::Database::Sqlite(file.path().join("x")),
        data_dir: file.path().join("data"),
        resume_interrupted: false,
        registry: Default::default(),
        may_start_engines: true,
        exporters: Vec::new(),
    };
    let refused = LocalStudio::open(settings).await.err().expect("refused");
    assert!(
        refused
            .to_string()
            .starts_with("cannot write to the data directory"),
        "{refused}"
    );
}
