//! Studies of a made-up engine, stored as if they had been measured: for what earlier runs say of a new one.

use std::collections::BTreeMap;

use app::studio::{Hold, LiveEvent, StudyState};
use load::Made;
use measure::arrival::discipline;
use measure::certificate::certify;
use measure::knobs::{Fact, Source};
use measure::request::RequestRecord;
use measure::score::{Score, encode};
use measure::slo::judge;
use measure::study::{Api, Endpoint, EngineSpec, StudySpec};
use measure::summary::{Failures, summarize};
use server::records::to_parquet;
use server::store::{BeginPoint, EndStudy, FactsChange, FinishPoint, NewStudy, Store, StoredPoint};
use uuid::Uuid;

use crate::samples::{records, small_study};

/// A study of an engine at a URL: two rates, one configuration.
pub fn watched_study() -> StudySpec {
    StudySpec {
        name: "nightly".into(),
        engine: EngineSpec::Endpoint(Endpoint::new("http://gpu7:8000", Api::OpenAiChat, "m")),
        ..small_study()
    }
}

/// What an engine of a version tells.
pub fn facts(version: &str) -> BTreeMap<String, Fact> {
    let told = [
        ("engine", "vLLM"),
        ("model", "m"),
        ("version", version),
        ("knob:max-num-seqs", "64"),
    ];
    let fact = |value: &str, source| Fact {
        value: value.to_owned(),
        source,
    };
    let told = told.map(|(name, value)| (name.to_owned(), fact(value, Source::Engine)));
    let unknown = ["hardware", "quantization"];
    let unknown = unknown.map(|name| (name.to_owned(), fact("unknown", Source::Unknown)));
    told.into_iter().chain(unknown).collect()
}

/// A run: on which day, after how many milliseconds first tokens came, and which version told so.
#[derive(Clone, Copy, Debug)]
pub struct Day<'a> {
    /// Days since 1970.
    pub day: i64,
    /// Median time to first token, about.
    pub ttft_ms: u64,
    /// The engine's version.
    pub version: &'a str,
}

/// Forty requests whose first tokens come after about so long.
fn requests(ttft_ms: u64) -> Vec<RequestRecord> {
    let one = |index: u32| records(index + 1, ttft_ms + u64::from(index * 7 % 5)).pop();
    (0..40).filter_map(one).collect()
}

fn event(state: StudyState) -> LiveEvent {
    LiveEvent::State {
        state,
        problem: None,
        remaining_ms: None,
        hold: Hold::None,
    }
}

/// Stores a study as if it had been measured on that day.
pub async fn measured(store: &Store, spec: &StudySpec, on: Day<'_>) -> anyhow::Result<Uuid> {
    let study = NewStudy {
        id: Uuid::now_v7(),
        spec,
        plan: &spec.plan(),
        engine: "vLLM",
        search: "nightly",
        simulated: false,
        engines: &["gpu7:8000".to_owned()],
        dataset_sha256: None,
        tokenizer_sha256: None,
    };
    store.insert_study(&study).await?;
    let id = study.id;
    anyhow::ensure!(store.claim_next(Uuid::now_v7()).await?.is_some(), "claimed");
    for configuration in 0..spec.configurations.len() as u32 {
        let change = FactsChange {
            study: id,
            configuration,
            facts: &facts(on.version),
            cache_cold: Some(true),
            named: None,
            event: &event(StudyState::Running),
        };
        store.record_facts(&change).await?;
    }
    for point in store.points(id).await? {
        measure(store, spec, (id, &point), on).await?;
    }
    let end = EndStudy {
        study: id,
        state: StudyState::Finished,
        problem: None,
        events: &[event(StudyState::Finished)],
    };
    store.end_study(&end).await?;
    Ok(id)
}

async fn measure(
    store: &Store,
    spec: &StudySpec,
    (study, point): (Uuid, &StoredPoint),
    on: Day<'_>,
) -> anyhow::Result<()> {
    let started_ms = on.day * 86_400_000 + i64::from(point.ordinal) * 1000;
    let begin = BeginPoint {
        study,
        point: point.id,
        started_ms,
        event: &event(StudyState::Running),
    };
    store.begin_point(&begin).await?;
    let records = requests(on.ttft_ms);
    let scores: Vec<Score> = records.iter().map(Score::from).collect();
    let discipline = discipline(spec.arrival, point.level);
    let summary = summarize(&records, discipline, Failures::AsInfinity);
    let finish = FinishPoint {
        study,
        configuration: point.configuration,
        point: point.id,
        started_ms,
        summary: &summary,
        certificate: &certify(&records, Default::default()),
        judgement: &judge(&scores, &summary, &spec.slo),
        made: &Made::default(),
        scores: &encode(&scores),
        records: &to_parquet(&records)?,
        evidence: None,
        metrics: None,
        ceilings: &(None, None),
        event: &event(StudyState::Running),
    };
    store.finish_point(&finish).await?;
    Ok(())
}
