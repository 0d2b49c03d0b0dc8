//! The same engine again and again, over the wire; then it is slower, and tells nothing that differs.

use std::sync::Arc;
use std::time::Duration;

use app::history::{HistoryView, Outcome};
use app::studio::{Studio, StudyState};
use measure::study::{Api, Endpoint, EngineSpec};
use server::studio::LocalStudio;
use tests::databases::on_sqlite;
use tests::samples::small_study;
use uuid::Uuid;

use super::ME;

/// A simulator whose steps take so long, far more than a busy machine adds; it says the same of itself whatever that is.
fn engine(step_ms: f64) -> anyhow::Result<sim::Running> {
    let mut config = sim::Config::preset("tiny", &Default::default())?;
    config.cost.gap_ns = step_ms * 1e6;
    Ok(sim::start(config)?)
}

async fn run(studio: &Arc<LocalStudio>, engine: &sim::Running) -> anyhow::Result<Uuid> {
    let endpoint = Endpoint::new(&engine.url, Api::OpenAiChat, &engine.model);
    studio
        .save_engine(&ME, "mine".into(), endpoint.clone())
        .await?;
    let mut spec = small_study();
    spec.engine = EngineSpec::Endpoint(endpoint);
    let id = studio.launch(&ME, spec).await?;
    for _ in 0..1200 {
        let view = studio.study(&ME, id).await?;
        match view.state {
            StudyState::Finished => return Ok(id),
            StudyState::Failed => anyhow::bail!("failed: {:?}", view.problem),
            _ => tokio::time::sleep(Duration::from_millis(25)).await,
        }
    }
    anyhow::bail!("not in time")
}

/// Some figure has a baseline of more runs than are needed.
fn enough(view: &HistoryView) -> bool {
    let points = view.configurations.iter().flat_map(|it| &it.points);
    let mut figures = points.flat_map(|it| &it.figures);
    figures.any(|it| 6 <= it.counted && it.baseline.is_some())
}

/// It has a value, or a reason that is worse than any, at some rate.
fn is_measured(view: &HistoryView) -> bool {
    let points = view.configurations.iter().flat_map(|it| &it.points);
    points
        .flat_map(|it| &it.figures)
        .any(|it| it.outcome != Outcome::LeftOut)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slowdown_that_no_fact_tells_is_found() {
    on_sqlite(&async |place: &tests::databases::Place| {
        let studio = place.studio().await?;
        studio.start_supervisor().await?;
        let usual = engine(10.0)?;
        // Twice as slow as usual is no news on a build machine.
        let allowed = Some(1.0);
        let mut same = None;
        // Runs that the client disturbed are none: until there are enough.
        for _ in 0..16 {
            let last = run(&studio, &usual).await?;
            let view = studio.history(&ME, last, allowed.into()).await?;
            assert_ne!(view.outcome, Outcome::Fail, "{view:#?}");
            let is_judged = enough(&view);
            same = Some(view);
            if is_judged {
                break;
            }
        }
        assert!(same.is_some_and(|it| enough(&it)));
        let slow = engine(80.0)?;
        // A run that the client disturbed is none, here as above.
        let mut found = false;
        for _ in 0..4 {
            let last = run(&studio, &slow).await?;
            let view = studio.history(&ME, last, allowed.into()).await?;
            if is_measured(&view) {
                assert_eq!(view.outcome, Outcome::Fail, "{view:#?}");
                found = true;
                break;
            }
        }
        assert!(found, "the client disturbed every run");
        studio.shutdown().await;
        Ok(())
    })
    .await;
}
