//! Studies whose points are given, not measured: for what is said of figures that a simulator would not give twice.

use anyhow::Context;
use app::studio::{Hold, LiveEvent, StudyState};
use load::Made;
use measure::certificate::certify;
use measure::evidence::{Evidence, Seen};
use measure::request::RequestRecord;
use measure::score::{Score, encode};
use measure::slo::judge;
use measure::summary::{Discipline, Failures, summarize};
use server::records::to_parquet;
use server::store::{BeginPoint, EndStudy, FinishPoint, Store, StoredPoint, now_ms};
use uuid::Uuid;

fn event(state: StudyState) -> LiveEvent {
    LiveEvent::State {
        state,
        problem: None,
        remaining_ms: None,
        hold: Hold::None,
    }
}

/// Gives each point of a queued study its requests, and ends the study.
pub async fn give(
    store: &Store,
    study: Uuid,
    of: impl Fn(&StoredPoint) -> Vec<RequestRecord>,
) -> anyhow::Result<()> {
    store.claim_next(Uuid::now_v7()).await?;
    for point in store.points(study).await? {
        give_point(store, study, &point, of(&point)).await?;
    }
    let events = [event(StudyState::Finished)];
    let end = EndStudy {
        study,
        state: StudyState::Finished,
        problem: None,
        events: &events,
    };
    store.end_study(&end).await?;
    Ok(())
}

async fn give_point(
    store: &Store,
    study: Uuid,
    point: &StoredPoint,
    records: Vec<RequestRecord>,
) -> anyhow::Result<()> {
    let event = event(StudyState::Running);
    let begin = BeginPoint {
        study,
        point: point.id,
        started_ms: now_ms(),
        event: &event,
    };
    store.begin_point(&begin).await?;
    let scores: Vec<Score> = records.iter().map(Score::from).collect();
    let summary = summarize(&records, Discipline::OpenLoop, Failures::AsInfinity);
    let (stored, _) = store.study(study).await?.context("a study")?;
    let finish = FinishPoint {
        study,
        configuration: point.configuration,
        point: point.id,
        started_ms: now_ms(),
        summary: &summary,
        certificate: &certify(&records, Default::default()),
        judgement: &judge(&scores, &summary, &stored.spec.slo),
        made: &Made::default(),
        scores: &encode(&scores),
        records: &to_parquet(&records)?,
        evidence: Some(&Evidence::of(&Seen::default(), &records, &[], None)),
        metrics: None,
        ceilings: &(None, None),
        event: &event,
    };
    store.finish_point(&finish).await?;
    Ok(())
}
