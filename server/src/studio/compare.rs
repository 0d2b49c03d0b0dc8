//! Configurations side by side: gathers what is stored, and lets `measure` say what differs and by how much.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use app::studio::{CompareView, ComparedConfiguration, PointView, StudioError};
use measure::knobs::{Comparability, Fact, Facts, Source, comparability};
use measure::score::{self, Score};
use measure::slo::{Slo, judge};
use measure::study::StudySpec;
use uuid::Uuid;

mod pairs; // each candidate against the baseline
mod said; // what was found, in words

use super::views::{Model, ceilings, point_view};
use super::{internal, invalid, missing};
use crate::store::Store;

/// Configurations on one page at most.
const MOST: usize = 8;

/// One configuration with everything the comparison needs.
struct Side {
    view: ComparedConfiguration,
    spec: StudySpec,
    scores: HashMap<Uuid, Vec<Score>>,
}

/// The compare page; the first configuration is the baseline.
pub(crate) async fn compare(
    store: &Store,
    ids: &[Uuid],
    slo: Option<Slo>,
) -> Result<CompareView, StudioError> {
    if ids.len() < 2 || MOST < ids.len() {
        return Err(invalid(
            "c",
            format!("choose two to {MOST} configurations; the first is the baseline"),
        ));
    }
    let mut seen = HashSet::new();
    if !ids.iter().all(|id| seen.insert(id)) {
        return Err(invalid(
            "c",
            "a configuration stands here twice; a comparison needs different ones",
        ));
    }
    let mut models: HashMap<Uuid, Arc<Model>> = HashMap::new();
    let mut sides = Vec::new();
    for id in ids {
        sides.push(side(store, *id, &mut models).await?);
    }
    let slo = slo.unwrap_or_else(|| sides[0].spec.slo.clone());
    let made = tokio::task::spawn_blocking(move || page(sides, slo)).await;
    made.map_err(internal)
}

async fn side(
    store: &Store,
    id: Uuid,
    models: &mut HashMap<Uuid, Arc<Model>>,
) -> Result<Side, StudioError> {
    let configuration = store
        .configuration(id)
        .await
        .map_err(internal)?
        .ok_or_else(|| missing("configuration"))?;
    let model = match models.get(&configuration.study) {
        Some(model) => model.clone(),
        None => {
            let model = Model::load(store, configuration.study)
                .await
                .map_err(internal)?;
            let model = Arc::new(
                model
                    .filter(|it| it.deleted_ms.is_none())
                    .ok_or_else(|| missing("configuration"))?,
            );
            models.insert(configuration.study, model.clone());
            model
        }
    };
    let points: Vec<PointView> = model
        .points
        .iter()
        .filter(|it| it.configuration == configuration.ordinal)
        .map(point_view)
        .collect();
    let scores = read_scores(store, &points).await?;
    let view = ComparedConfiguration {
        study: model.study.id,
        study_name: model.study.spec.name.clone(),
        simulated: model.study.simulated,
        configuration: model.configuration_view(&configuration),
        points,
    };
    Ok(Side {
        view,
        spec: model.study.spec.clone(),
        scores,
    })
}

async fn read_scores(
    store: &Store,
    points: &[PointView],
) -> Result<HashMap<Uuid, Vec<Score>>, StudioError> {
    let mut scores = HashMap::new();
    for point in points.iter().filter(|point| point.summary.is_some()) {
        let Some((_, bytes)) = store.scores(point.id).await.map_err(internal)? else {
            continue;
        };
        scores.insert(point.id, score::decode(&bytes).map_err(internal)?);
    }
    Ok(scores)
}

fn page(mut sides: Vec<Side>, slo: Slo) -> CompareView {
    for side in &mut sides {
        side.judge_again(&slo);
    }
    let pairs = pairs::pairs(&sides, &slo);
    CompareView {
        slo,
        configurations: sides.into_iter().map(|side| side.view).collect(),
        pairs,
    }
}

impl Side {
    /// Judges each point by the page's SLO, which may not be its study's.
    fn judge_again(&mut self, slo: &Slo) {
        let ComparedConfiguration {
            points,
            configuration,
            ..
        } = &mut self.view;
        if self.spec.slo != *slo {
            for point in points.iter_mut() {
                let scored = self.scores.get(&point.id).zip(point.summary.as_ref());
                point.judgement = scored.map(|(scores, summary)| judge(scores, summary, slo));
            }
        }
        (configuration.ceiling, configuration.ceiling_by_percentile) = ceilings(points, &self.spec);
    }

    /// Everything that could make its curve differ: what is known of the engine, and what the study asked of it.
    fn facts(&self) -> Facts {
        let StudySpec {
            workload,
            arrival,
            length,
            warmup,
            seed,
            idle_timeout_ms,
            drain_ms,
            ramp_in_ms,
            ..
        } = &self.spec;
        let mut facts = self.view.configuration.facts.clone();
        let asked = [
            (
                "workload",
                format!(
                    "{workload} ({})",
                    serde_json::to_string(workload).unwrap_or_default()
                ),
            ),
            (
                "arrival",
                serde_json::to_string(arrival).unwrap_or_default(),
            ),
            ("seed", seed.0.to_string()),
            ("warm-up requests", warmup.to_string()),
            ("ramp-in", format!("{ramp_in_ms} ms")),
            (
                "requests a point",
                format!(
                    "{} to {} in {} s",
                    length.min_requests, length.max_requests, length.seconds
                ),
            ),
            (
                "time limits",
                format!("idle {idle_timeout_ms} ms, drain {drain_ms} ms"),
            ),
        ];
        facts.extend(asked.map(|(name, value)| {
            (
                name.to_owned(),
                Fact {
                    value,
                    source: Source::Engine,
                },
            )
        }));
        facts
    }
}

/// What differs. A cache that was cold on one side only is a difference; where nobody can tell, pages say so themselves.
fn comparability_of(baseline: &Side, candidate: &Side) -> Comparability {
    let (mut one, mut other) = (baseline.facts(), candidate.facts());
    let cold = |side: &Side| side.view.configuration.cache_cold;
    if let (Some(cold_one), Some(cold_other)) = (cold(baseline), cold(candidate)) {
        for (facts, cold) in [(&mut one, cold_one), (&mut other, cold_other)] {
            let value = if cold { "yes" } else { "no" }.to_owned();
            let fact = Fact {
                value,
                source: Source::Engine,
            };
            facts.insert("cache reset before each point".into(), fact);
        }
    }
    comparability(&one, &other)
}
