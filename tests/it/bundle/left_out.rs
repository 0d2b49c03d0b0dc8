//! What a file tells of engines and people: keys never, addresses and words of engines only where everything was asked for.

use app::studio::{ShareScope, Studio, StudioError, StudyEdit};
use bytes::Bytes;
use measure::arrival::{Arrival, discipline};
use measure::certificate::certify;
use measure::evidence::{Evidence, Seen};
use measure::knobs::{Fact, Facts, Source};
use measure::request::{ErrorKind, Outcome};
use measure::score::{Score, encode};
use measure::slo::judge;
use measure::study::{Api, Endpoint, EngineSpec, StudySpec, Turn};
use measure::summary::{Failures, summarize};
use server::bundle::{Scope, check, unpack};
use server::records::{from_parquet, to_parquet};
use server::store::{
    BeginPoint, EndStudy, FactsChange, FinishPoint, NewStudy, Store, StoredPoint, now_ms,
};
use tests::bundles::Loose;
use tests::databases::on_each_database;
use tests::samples::{configuration, records, small_study};
use uuid::Uuid;

use super::{ME, add_start, exported, forget, opened};

/// Stands in everything that could lead to somebody.
const HOST: &str = "gpu7.secret.corp";

/// A study on an engine with an address, a key, headers, knobs that name places, and a person's words.
fn spec() -> StudySpec {
    let mut endpoint = Endpoint::new(format!("http://{HOST}:8000"), Api::OpenAiChat, "");
    endpoint.model = "/home/secret/m.gguf".into();
    endpoint.api_key_env = Some("NAMED_API_KEY".into());
    endpoint.headers.insert("x-team".into(), "secret".into());
    endpoint.connection.proxy = Some("http://proxy.secret.corp:3128".into());
    let mut spec = small_study();
    spec.name = format!("curves of {HOST}");
    spec.configurations = vec![
        configuration("off", &[("host", HOST), ("max-num-seqs", "64")]),
        configuration("on", &[("lora", "/mnt/secret/lora")]),
    ];
    spec.configurations[1].turn = Turn::OtherEndpoint(endpoint.clone());
    spec.engine = EngineSpec::Endpoint(endpoint);
    spec
}

async fn insert(store: &Store) -> anyhow::Result<Uuid> {
    let spec = spec();
    let study = NewStudy {
        id: Uuid::now_v7(),
        spec: &spec,
        plan: &spec.plan(),
        engine: &format!("vLLM at {HOST}"),
        search: HOST,
        simulated: false,
        engines: &[],
        dataset_sha256: None,
        tokenizer_sha256: None,
    };
    store.insert_study(&study).await?;
    let claimed = store.claim_next(Uuid::now_v7()).await?;
    anyhow::ensure!(claimed.is_some_and(|it| it.study == study.id));
    let event = super::state_event();
    let fact = |value: &str| Fact {
        value: value.to_owned(),
        source: Source::Engine,
    };
    let facts = Facts::from([
        ("engine".to_owned(), fact("vLLM")),
        ("host".to_owned(), fact(HOST)),
    ]);
    let change = FactsChange {
        study: study.id,
        configuration: 0,
        facts: &facts,
        cache_cold: None,
        named: None,
        event: &event,
    };
    store.record_facts(&change).await?;
    for point in store.points(study.id).await? {
        measure(store, &spec, study.id, &point).await?;
    }
    let end = EndStudy {
        study: study.id,
        state: app::studio::StudyState::Failed,
        problem: Some(&format!("{HOST} is gone")),
        events: &[],
    };
    store.end_study(&end).await?;
    add_start(store, study.id).await?;
    Ok(study.id)
}

/// A point one of whose requests failed with an address in its words.
async fn measure(
    store: &Store,
    spec: &StudySpec,
    study: Uuid,
    point: &StoredPoint,
) -> anyhow::Result<()> {
    let mut records = records(20, 30);
    records[3].outcome = Outcome::Error(ErrorKind::ConnectFailed);
    records[3].error_detail = Some(format!("no route to {HOST}"));
    records[4].text = Some("an answer of secret.corp".into());
    let discipline = discipline(Arrival::Poisson, point.level);
    let summary = summarize(&records, discipline, Failures::AsInfinity);
    let scores: Vec<Score> = records.iter().map(Score::from).collect();
    let mut certificate = certify(&records, Default::default());
    certificate.reasons.push(format!("{HOST} was far"));
    let mut evidence = Evidence::of(&Seen::default(), &records, &[], None);
    evidence.metrics_kept = true;
    evidence.statements.push(format!("{HOST} said nothing"));
    let event = super::state_event();
    let begin = BeginPoint {
        study,
        point: point.id,
        started_ms: now_ms(),
        event: &event,
    };
    store.begin_point(&begin).await?;
    let finish = FinishPoint {
        study,
        configuration: point.configuration,
        point: point.id,
        started_ms: now_ms(),
        summary: &summary,
        certificate: &certificate,
        judgement: &judge(&scores, &summary, &spec.slo),
        made: &Default::default(),
        scores: &encode(&scores),
        records: &to_parquet(&records)?,
        evidence: Some(&evidence),
        metrics: Some(HOST.as_bytes()),
        ceilings: &(None, None),
        event: &event,
    };
    store.finish_point(&finish).await?;
    Ok(())
}

/// All that can be read in a bundle, requests among it.
fn readable(loose: &Loose) -> anyhow::Result<String> {
    let mut text = String::from_utf8_lossy(&loose.everything()?).into_owned();
    for (name, bytes) in &loose.parts {
        if name.ends_with(".parquet") {
            let records = from_parquet(Bytes::copy_from_slice(bytes))?;
            text.push_str(&format!("{records:?}"));
        }
    }
    Ok(text)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_shows_what_a_link_shows_unless_everything_is_asked_for() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let store = place.store().await?;
        let id = insert(&store).await?;
        let edit = StudyEdit {
            note: Some("secret".into()),
            tags: Some(vec!["secret".into()]),
            ..StudyEdit::default()
        };
        studio.edit(&ME, id, edit).await?;
        let everything = Loose::of(&exported(&store, id, Scope::Everything).await?)?;
        let text = readable(&everything)?;
        for kept in [
            HOST,
            "/mnt/secret/lora",
            "no route to",
            "x-team",
            "an answer",
        ] {
            assert!(text.contains(kept), "everything lacks {kept:?}");
        }
        assert!(!text.contains("NAMED_API_KEY"), "no key, not even its name");
        let names = everything.names();
        assert!(names.contains_key("starts/0000.log.gz"), "{names:?}");
        assert!(names.contains_key("points/0000/metrics.txt.zst"));

        let bytes = exported(&store, id, Scope::Shown).await?;
        let shown = Loose::of(&bytes)?;
        let text = readable(&shown)?;
        for hidden in ["secret", "corp", "NAMED_API_KEY", "no route", "x-team"] {
            let at = text.find(hidden);
            let around = at.map(|at| &text[at.saturating_sub(80)..(at + 40).min(text.len())]);
            assert!(around.is_none(), "{hidden:?} is told: {around:?}");
        }
        for kept in ["curves of hidden", "max-num-seqs", "vLLM, m.gguf"] {
            assert!(text.contains(kept), "{kept:?} is not told");
        }
        let names = shown.names();
        assert!(
            !names
                .keys()
                .any(|it| it.contains("metrics") || it.contains("starts"))
        );

        forget(&store, id).await?;
        opened(&store, &bytes, &place.data_dir).await?;
        let view = studio.study(&ME, id).await?;
        assert!(!view.is_simulated());
        let said = "Addresses, paths, logs and notes were left out of it.";
        assert!(view.imported.contains(said), "{}", view.imported);
        let figures = check(&unpack(&bytes[..], &place.data_dir)?)?;
        assert_eq!((figures.points, figures.differences.len()), (4, 0));
        let share = studio
            .share(&ME, id, None, ShareScope::Requests)
            .await?
            .path
            .unwrap_or_default();
        let shared = studio.shared(share.trim_start_matches("/s/")).await?;
        assert!(shared.imported.starts_with("Imported, made by goodput"));
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_simulator_is_told_whatever_a_file_says() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let view = super::finished(&studio, small_study()).await?;
        let store = place.store().await?;
        let mut loose = Loose::of(&exported(&store, view.id, Scope::Shown).await?)?;
        forget(&store, view.id).await?;
        loose.manifest["study"]["simulated"] = false.into();
        loose.manifest["study"]["engine"] = "vLLM on an H100".into();
        opened(&store, &loose.packed()?, &place.data_dir).await?;
        let rows = studio.studies(&ME, Default::default()).await?;
        assert!(rows[0].simulated, "in the list");
        assert!(
            studio.study(&ME, view.id).await?.is_simulated(),
            "on its page"
        );
        let gone = studio.study(&ME, Uuid::nil()).await;
        assert!(matches!(gone, Err(StudioError::NotFound { .. })));
        Ok(())
    })
    .await;
}
