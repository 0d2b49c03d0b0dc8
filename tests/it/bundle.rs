//! Studies as files: what goes out comes in, and nothing else does.

mod damaged; // what is refused, and in which words
mod edge; // over HTTP and on the command line
mod examples; // those that come with the studio
mod left_out; // what a file tells of engines and people

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use app::studio::{Actor, Hold, LiveEvent, Studio, StudioError, StudyEdit, StudyState, StudyView};
use measure::study::StudySpec;
use server::bundle::{self, BundleError, ExportError, Opened, Scope, Worked};
use server::store::{EndStart, Store, StoredStart, now_ms};
use server::studio::LocalStudio;
use tests::bundles::Loose;
use tests::databases::on_each_database;
use tests::samples::{configuration, small_study};
use uuid::Uuid;

const ME: Actor = Actor::Owner;

/// Two configurations, so that there is something to compare.
fn two_curves() -> StudySpec {
    let mut spec = small_study();
    spec.configurations = vec![
        configuration("off", &[]),
        configuration("on", &[("enable-prefix-caching", "on")]),
    ];
    spec
}

/// A finished study of a studio that does not run yet.
async fn finished(studio: &Arc<LocalStudio>, spec: StudySpec) -> anyhow::Result<StudyView> {
    studio.start_supervisor().await?;
    measured(studio, spec).await
}

/// A finished study of a studio that runs.
async fn measured(studio: &Arc<LocalStudio>, spec: StudySpec) -> anyhow::Result<StudyView> {
    let id = studio.launch(&ME, spec).await?;
    for _ in 0..600 {
        let view = studio.study(&ME, id).await?;
        if view.state == StudyState::Finished {
            return Ok(view);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    anyhow::bail!("not in time: {:?}", studio.study(&ME, id).await?.state)
}

/// A study as a file's bytes.
async fn exported(store: &Store, id: Uuid, scope: Scope) -> anyhow::Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let mut packed = bundle::export(store, id, (scope, Worked::Then), folder.path()).await?;
    let mut bytes = Vec::new();
    packed.file.read_to_end(&mut bytes)?;
    assert_eq!(bytes.len() as u64, packed.bytes);
    Ok(bytes)
}

/// Opens a file's bytes.
async fn opened(store: &Store, bytes: &[u8], folder: &Path) -> Result<Opened, BundleError> {
    let unpacked = bundle::unpack(bytes, folder)?;
    bundle::import(store, unpacked, "somewhere/study.goodput").await
}

/// Removes a study for ever.
async fn forget(store: &Store, id: Uuid) -> anyhow::Result<()> {
    store.set_deleted(id, Some(now_ms() - 1)).await?;
    assert_eq!(store.purge_deleted(now_ms()).await?, 1);
    Ok(())
}

/// A start of an engine with a log, as a managed study has them.
async fn add_start(store: &Store, study: Uuid) -> anyhow::Result<()> {
    let start = StoredStart {
        id: Uuid::now_v7(),
        configuration: 1,
        command: "vllm\nserve".into(),
        started_ms: now_ms(),
        startup_ms: Some(4_000),
        ended_ms: None,
        ending: None,
    };
    store.insert_start(study, &start).await?;
    let end = EndStart {
        id: start.id,
        ended_ms: now_ms(),
        ending: "stopped",
        log: "INFO ready\n",
    };
    Ok(store.end_start(&end).await?)
}

/// Everything that is stored of a study, as it stands in the columns.
async fn stored(store: &Store, id: Uuid) -> anyhow::Result<String> {
    let study = store.study_text(id).await?.context("a study")?;
    let configurations = store.configuration_texts(id).await?;
    let points = store.point_texts(id).await?;
    let starts = store.start_texts(id).await?;
    let mut data = Vec::new();
    for point in &points {
        data.push(store.point_data(point.id).await?);
    }
    Ok(format!(
        "{study:#?}{configurations:#?}{points:#?}{starts:#?}{data:#?}"
    ))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_study_comes_back_to_the_last_byte() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let view = finished(&studio, two_curves()).await?;
        let edit = StudyEdit {
            tags: Some(vec!["mine".into()]),
            note: Some("a note".into()),
            ..StudyEdit::default()
        };
        studio.edit(&ME, view.id, edit).await?;
        let store = place.store().await?;
        add_start(&store, view.id).await?;
        let (view, before) = (
            studio.study(&ME, view.id).await?,
            stored(&store, view.id).await?,
        );
        let records = studio.records_parquet(view.points[0].id).await?;
        let bytes = exported(&store, view.id, Scope::Everything).await?;
        let part = Loose::of(&bytes)?;
        assert_eq!(part.part("points/0000/records.parquet")?, records);

        forget(&store, view.id).await?;
        let opened = opened(&store, &bytes, &place.data_dir).await?;
        assert_eq!((opened.id, opened.already_here), (view.id, false));
        assert_eq!(stored(&store, view.id).await?, before);
        assert_eq!(studio.records_parquet(view.points[0].id).await?, records);
        let again = studio.study(&ME, view.id).await?;
        let expected = StudyView {
            last_event: 0,
            imported: again.imported.clone(),
            ..view
        };
        assert_eq!(again, expected);
        let origin = "Imported from study.goodput, made by goodput ";
        assert!(again.imported.starts_with(origin), "{}", again.imported);
        assert!(again.is_simulated());
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_study_that_is_here_is_told_and_stays() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let view = finished(&studio, small_study()).await?;
        let store = place.store().await?;
        let bytes = exported(&store, view.id, Scope::Shown).await?;
        let before = stored(&store, view.id).await?;
        let there = opened(&store, &bytes, &place.data_dir).await?;
        assert_eq!((there.id, there.already_here), (view.id, true));
        assert_eq!(stored(&store, view.id).await?, before);
        let rows = studio.studies(&ME, Default::default()).await?;
        assert!(!rows[0].imported, "it was measured here");
        studio.delete(&ME, view.id).await?;
        let back = opened(&store, &bytes, &place.data_dir).await?;
        assert!(back.already_here, "a deleted study is brought back");
        assert_eq!(stored(&store, view.id).await?, before);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_imported_study_never_changes_and_never_runs() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let mut spec = small_study();
        spec.length.min_requests = 400;
        spec.length.max_requests = 400;
        studio.start_supervisor().await?;
        let id = studio.launch(&ME, spec).await?;
        let store = place.store().await?;
        let running = exported(&store, id, Scope::Shown).await;
        let why = running.err().context("refused")?;
        let why = why.downcast_ref::<ExportError>().context("an export")?;
        assert!(matches!(why, ExportError::Unfinished), "{why}");
        let stopped = async || {
            let _ = studio.stop(&ME, id).await;
            tokio::time::sleep(Duration::from_millis(100)).await;
            studio.study(&ME, id).await.map(|view| view.state)
        };
        while stopped().await? != StudyState::Stopped {}
        let bytes = exported(&store, id, Scope::Shown).await?;
        forget(&store, id).await?;
        opened(&store, &bytes, &place.data_dir).await?;
        let view = studio.study(&ME, id).await?;
        assert_eq!((view.state, view.points.len()), (StudyState::Finished, 0));
        let lacking = "It was stopped; 2 points were never measured.";
        assert!(view.imported.ends_with(lacking), "{}", view.imported);
        let resumed = studio.resume(&ME, id).await;
        let clone = "clone it to measure an engine of yours the same way";
        assert!(
            matches!(&resumed, Err(StudioError::Conflict { message }) if message.contains(clone)),
            "{resumed:?}"
        );
        let declared = StudyEdit {
            declared: [("hardware".to_owned(), "H100".to_owned())].into(),
            ..StudyEdit::default()
        };
        assert!(studio.edit(&ME, id, declared).await.is_err());
        let renamed = StudyEdit {
            name: Some("mine now".into()),
            ..StudyEdit::default()
        };
        studio.edit(&ME, id, renamed).await?;
        assert_eq!(studio.study(&ME, id).await?.spec.name, "mine now");
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_study_measured_after_one_from_the_future_can_still_be_stored() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let view = finished(&studio, small_study()).await?;
        let store = place.store().await?;
        let mut loose = Loose::of(&exported(&store, view.id, Scope::Shown).await?)?;
        forget(&store, view.id).await?;
        loose.manifest["study"]["created_ms"] = 253_402_300_799_999_i64.into();
        opened(&store, &loose.packed()?, &place.data_dir).await?;
        assert!(studio.study(&ME, view.id).await?.created_ms <= now_ms());
        studio.launch(&ME, small_study()).await?;
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ids_that_belong_to_another_study_are_refused_and_nothing_is_stored() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let view = finished(&studio, small_study()).await?;
        let store = place.store().await?;
        let mut loose = Loose::of(&exported(&store, view.id, Scope::Shown).await?)?;
        let other = Uuid::now_v7();
        loose.manifest["study"]["id"] = other.to_string().into();
        let refused = opened(&store, &loose.packed()?, &place.data_dir).await;
        assert!(matches!(refused, Err(BundleError::Taken)), "{refused:?}");
        assert!(store.study_text(other).await?.is_none());
        assert!(store.study_text(view.id).await?.is_some());
        Ok(())
    })
    .await;
}

fn state_event() -> LiveEvent {
    LiveEvent::State {
        state: StudyState::Running,
        problem: None,
        remaining_ms: None,
        hold: Hold::None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn figures_of_another_goodput_can_be_worked_out_anew() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let view = finished(&studio, small_study()).await?;
        let store = place.store().await?;
        let mut loose = Loose::of(&exported(&store, view.id, Scope::Shown).await?)?;
        forget(&store, view.id).await?;
        let name = "points/0001/figures.json";
        let text = String::from_utf8(loose.part(name)?.to_vec())?;
        let other = text.replacen("\"completed\":10", "\"completed\":11", 1);
        loose.set(name, other.as_bytes());
        opened(&store, &loose.packed()?, &place.data_dir).await?;
        let differences = async |worked| -> anyhow::Result<usize> {
            let scope = (Scope::Everything, worked);
            let packed = bundle::export(&store, view.id, scope, &place.data_dir).await?;
            let unpacked = bundle::unpack(packed.file, &place.data_dir)?;
            Ok(bundle::check(&unpacked)?.differences.len())
        };
        assert_eq!(differences(Worked::Then).await?, 1);
        assert_eq!(differences(Worked::Anew).await?, 0);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ceilings_of_a_bundle_are_those_of_its_points() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let view = finished(&studio, small_study()).await?;
        let store = place.store().await?;
        let mut loose = Loose::of(&exported(&store, view.id, Scope::Shown).await?)?;
        forget(&store, view.id).await?;
        let forged = serde_json::json!([{"kind": "at_least", "lo": 9999.0}, null]);
        loose.manifest["configurations"][0]["ceilings"] = forged;
        opened(&store, &loose.packed()?, &place.data_dir).await?;
        let ceilings = async |worked| -> anyhow::Result<serde_json::Value> {
            let scope = (Scope::Everything, worked);
            let packed = bundle::export(&store, view.id, scope, &place.data_dir).await?;
            let found = &packed.manifest.configurations[0].ceilings;
            Ok(serde_json::from_str(
                found.as_ref().context("ceilings")?.get(),
            )?)
        };
        let found = &view.configurations[0];
        let expected = serde_json::to_value((found.ceiling, found.ceiling_by_percentile))?;
        assert_eq!(ceilings(Worked::Then).await?, expected);
        assert_eq!(ceilings(Worked::Anew).await?, expected);
        Ok(())
    })
    .await;
}
