//! Why a point is slow, and what a study that turns the advised knob is said to show: through the interface, on both databases, in bundles.

use std::io::Read;
use std::sync::Arc;

use app::studio::{Actor, Studio, StudioError, StudyView};
use measure::study::{ConfigurationSpec, StudySpec};
use serde_json::{Value, json};
use server::api::schema;
use server::bundle::{self, Scope, Worked};
use server::store::Store;
use server::studio::LocalStudio;
use tests::databases::{Place, on_each_database};
use tests::edge::OnEdge;
use tests::measured::give;
use tests::samples::{configuration, held_up, records, small_study};
use uuid::Uuid;

const ME: Actor = Actor::Owner;
const KNOB: &str = "long-prefill-token-threshold";

/// A study whose points are held up by long prompts.
async fn slow(studio: &Arc<LocalStudio>, store: &Store) -> anyhow::Result<StudyView> {
    let id = studio.launch(&ME, small_study()).await?;
    give(store, id, |_| held_up()).await?;
    Ok(studio.study(&ME, id).await?)
}

/// What the diagnosis of a slow study's points advises, as a study that tries it.
fn trying() -> StudySpec {
    let mut spec = small_study();
    spec.configurations.push(capped("128"));
    spec
}

fn capped(tokens: &str) -> ConfigurationSpec {
    configuration("capped", &[(KNOB, tokens)])
}

/// As documented, and nothing is lost in it.
#[track_caller]
fn fits<T: serde::de::DeserializeOwned + serde::Serialize>(sent: &Value) {
    let read: T =
        serde_json::from_value(sent.clone()).unwrap_or_else(|error| panic!("{error}: {sent:#}"));
    assert_eq!(&serde_json::to_value(read).expect("json"), sent);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_diagnosis_is_told_of_a_point_and_of_a_study() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let view = slow(&edge.studio, &edge.store().await?).await?;
    let point = view.points[0].id;
    let told = edge.get(&format!("/api/v1/points/{point}/diagnosis")).await;
    let told = told.json();
    fits::<schema::Diagnosis>(&told);
    assert_eq!(
        told["answer"],
        json!({"kind": "named", "cause": "long_prefills"})
    );
    let link = format!("/studies/new?from={}.{point}&flip=0:{KNOB}=128", view.id);
    assert_eq!(told["flag"]["link"], link.as_str());
    let nowhere = format!("/api/v1/points/{}/diagnosis", Uuid::nil());
    assert_eq!(edge.get(&nowhere).await.status, 404);

    let study = edge
        .get(&format!("/api/v1/studies/{}/diagnosis", view.id))
        .await
        .json();
    fits::<schema::StudyDiagnosis>(&study);
    let one = &study["configurations"][0];
    assert_eq!(one["name"], "baseline");
    assert_eq!(one["diagnosis"]["answer"], told["answer"]);
    assert_eq!(study["tried"], Value::Null);

    let form = edge.get(&link).await;
    let text = form.text();
    assert_eq!(form.status, 200);
    assert!(text.contains(KNOB), "{text}");
    Ok(())
}

/// What is said of a study's prediction.
async fn tried(studio: &LocalStudio, study: Uuid) -> anyhow::Result<Value> {
    let why = studio.diagnoses_of(study).await?;
    Ok(serde_json::to_value(why.tried)?)
}

async fn record(studio: &LocalStudio) -> anyhow::Result<Value> {
    Ok(serde_json::to_value(studio.rule_records().await?)?)
}

/// Launches what tries a prediction, its second configuration mended or not.
async fn try_out(
    (studio, store): (&Arc<LocalStudio>, &Store),
    slow: &StudyView,
    is_mended: bool,
) -> anyhow::Result<Uuid> {
    let id = studio.launch_trying(trying(), slow.points[0].id).await?;
    assert_eq!(tried(studio, id).await?["verdict"], Value::Null, "open");
    give(store, id, |point| match point.configuration {
        1 if is_mended => records(1000, 20),
        _ => held_up(),
    })
    .await?;
    Ok(id)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prediction_is_kept_judged_and_counted() {
    on_each_database(async |place| {
        let (studio, store) = (place.studio().await?, place.store().await?);
        let slow = slow(&studio, &store).await?;
        let open = studio.launch_trying(trying(), slow.points[0].id).await?;
        let said = tried(&studio, open).await?;
        assert_eq!(
            (&said["study"], &said["point"]),
            (&json!(slow.id), &json!(slow.points[0].id))
        );
        assert_eq!(
            (&said["knob"], &said["value"], &said["outcome"]),
            (&json!(KNOB), &json!("128"), &Value::Null)
        );
        assert_eq!(said["prediction"]["change"], json!({"falls_by": 0.3}));
        studio.stop(&ME, open).await?;

        let it = (&studio, &store);
        let came = try_out(it, &slow, true).await?;
        let failed = try_out(it, &slow, false).await?;
        let came = tried(&studio, came).await?;
        assert_eq!(came["verdict"], "true", "{came:#}");
        assert_eq!(came["outcome"]["after"], 20_000_000);
        assert_eq!(tried(&studio, failed).await?["verdict"], "false");
        let expected = json!([{"cause": "long_prefills", "title": "long prefills", "said": 3, "came_true": 1,
            "did_not": 1, "cannot_tell": 0, "open": 1}]);
        assert_eq!(record(&studio).await?, expected);
        // The record is not made better by deleting what failed.
        studio.delete(&ME, failed).await?;
        assert_eq!(record(&studio).await?, expected);
        fits::<Vec<schema::RuleRecord>>(&expected);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_study_that_does_something_else_tries_nothing() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let studio = &edge.studio;
    let slow = slow(studio, &edge.store().await?).await?;
    let changes: [fn(&mut StudySpec); 4] = [
        |spec| spec.configurations[1] = capped("512"),
        |spec| spec.configurations.truncate(1),
        |spec| spec.levels.retain(|it| it.rate() != Some(20.0)),
        |spec| spec.arrival = measure::arrival::Arrival::Constant,
    ];
    for change in changes {
        let mut spec = trying();
        change(&mut spec);
        let id = studio.launch_trying(spec, slow.points[0].id).await?;
        assert_eq!(tried(studio, id).await?, Value::Null);
    }
    let refused = studio.launch_trying(trying(), Uuid::nil()).await;
    let Err(StudioError::Invalid { fields }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(fields[0].field, "tries");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_form_behind_an_advice_is_remembered_until_its_study_is_launched() -> anyhow::Result<()>
{
    let edge = OnEdge::open().await?;
    let studio = &edge.studio;
    let slow = slow(studio, &edge.store().await?).await?;
    let before = studio.launch(&ME, trying()).await?;
    assert_eq!(tried(studio, before).await?, Value::Null, "nobody asked");
    let view = studio.diagnosis_of(slow.points[1].id).await?;
    let link = view.flag.and_then(|it| it.link).unwrap_or_default();
    assert_eq!(edge.get(&link).await.status, 200, "{link}");
    let other = studio.launch(&ME, small_study()).await?;
    assert_eq!(tried(studio, other).await?, Value::Null);
    let after = studio.launch(&ME, trying()).await?;
    let said = tried(studio, after).await?;
    assert_eq!(said["point"], json!(slow.points[1].id), "{said:#}");

    let path = format!("/api/v1/studies?tries={}", slow.points[0].id);
    let launched = edge
        .json("POST", &path, &serde_json::to_value(trying())?)
        .await;
    let id = launched.json()["id"].as_str().unwrap_or_default().parse()?;
    assert_eq!(tried(studio, id).await?["point"], json!(slow.points[0].id));
    Ok(())
}

async fn exported(store: &Store, id: Uuid, place: &Place) -> anyhow::Result<Vec<u8>> {
    let how = (Scope::Shown, Worked::Then);
    let mut packed = bundle::export(store, id, how, &place.data_dir).await?;
    let mut bytes = Vec::new();
    packed.file.read_to_end(&mut bytes)?;
    assert_eq!(packed.manifest.version, 2);
    Ok(bytes)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bundle_carries_its_prediction_and_its_outcome_is_worked_out_anew() {
    on_each_database(async |place| {
        let (studio, store) = (place.studio().await?, place.store().await?);
        let slow = slow(&studio, &store).await?;
        let id = try_out((&studio, &store), &slow, true).await?;
        let before = tried(&studio, id).await?;
        let bytes = exported(&store, id, place).await?;
        store.set_deleted(id, Some(1)).await?;
        assert_eq!(store.purge_deleted(2).await?, 1);
        let kept = record(&studio).await?;
        assert_eq!(kept[0]["came_true"], 1, "a record outlives its studies");

        let (elsewhere, folder) = fresh().await?;
        for (studio, store, record_of) in
            [(&studio, &store, kept), (&elsewhere, &folder.1, json!([]))]
        {
            let unpacked = bundle::unpack(&bytes[..], &place.data_dir)?;
            let opened = bundle::import(store, unpacked, "study.goodput").await?;
            assert_eq!(opened.id, id);
            assert_eq!(tried(studio, id).await?, before);
            assert_eq!(
                record(studio).await?,
                record_of,
                "of what was measured here"
            );
        }
        Ok(())
    })
    .await;
}

/// Another studio, with its store.
async fn fresh() -> anyhow::Result<(Arc<LocalStudio>, (OnEdge, Store))> {
    let edge = OnEdge::open().await?;
    let store = edge.store().await?;
    Ok((edge.studio.clone(), (edge, store)))
}
