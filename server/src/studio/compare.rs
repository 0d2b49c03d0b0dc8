//! Configurations side by side: gathers what is stored, and lets `measure` say what differs and by how much.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use app::pages::compare::MOST;
use app::studio::{CompareView, ComparedConfiguration, PointView, StudioError};
use measure::knobs::{Comparability, Facts, comparability};
use measure::score::{self, Score};
use measure::slo::{Slo, judge};
use measure::study::StudySpec;
use uuid::Uuid;

mod noise; // what earlier runs differ by
mod outputs; // whether both did the same work
mod pairs; // each candidate against the baseline
mod reached; // where an engine was asked, and how
mod said; // what was found, in words

use super::asked::{asked, cache};
use super::before::complete;
use super::history::{Known, of_side};
use super::views::{Model, ceilings, point_view};
use super::{LocalStudio, internal, invalid, missing};
use crate::store::{Store, StoredConfiguration};
use crate::supervisor::DIALECT;

/// One configuration with everything the comparison needs.
struct Side {
    view: ComparedConfiguration,
    spec: StudySpec,
    scores: HashMap<Uuid, Vec<Score>>,
    /// What is known of the noise between its runs.
    noise: Vec<Known>,
}

/// The compare page; the first configuration is the baseline.
pub(crate) async fn compare(
    store: &Store,
    ids: &[Uuid],
    slo: Option<Slo>,
) -> Result<CompareView, StudioError> {
    check("c", ids)?;
    let mut models: HashMap<Uuid, Arc<Model>> = HashMap::new();
    let mut sides = Vec::new();
    for id in ids {
        sides.push(side(store, *id, &mut models).await?);
    }
    learn(store, &mut sides, &models).await?;
    let slo = slo.unwrap_or_else(|| sides[0].spec.slo.clone());
    let made = tokio::task::spawn_blocking(move || page(sides, slo)).await;
    made.map_err(internal)
}

/// Whether so many can be compared, each once. `field` is where they were named.
pub(crate) fn check(field: &str, ids: &[Uuid]) -> Result<(), StudioError> {
    if ids.len() < 2 || MOST < ids.len() {
        return Err(invalid(
            field,
            format!("choose two to {MOST} configurations; the first is the baseline"),
        ));
    }
    let mut seen = HashSet::new();
    if !ids.iter().all(|id| seen.insert(id)) {
        return Err(invalid(
            field,
            "a configuration stands here twice; a comparison needs different ones",
        ));
    }
    Ok(())
}

/// Lets each side know what its earlier runs differ by. Runs that are compared, and later ones, are not among them: the page says
/// the same for ever.
async fn learn(
    store: &Store,
    sides: &mut [Side],
    models: &HashMap<Uuid, Arc<Model>>,
) -> Result<(), StudioError> {
    let studies: Vec<Uuid> = models.keys().copied().collect();
    let points = sides.iter().flat_map(|side| &side.view.points);
    let latest = points.filter_map(|point| point.started_ms).max();
    let before_ms = latest.unwrap_or_default();
    for side in sides {
        let Some(model) = models.get(&side.view.study) else {
            continue;
        };
        let id = side.view.configuration.id;
        let stored = model.configurations.iter().find(|it| it.id == id);
        if let Some(stored) = stored {
            let known = of_side(store, (model, stored), (&studies, before_ms)).await;
            side.noise = known.map_err(internal)?;
        }
    }
    Ok(())
}

impl LocalStudio {
    /// Whether a configuration is there, its study not deleted.
    pub(crate) async fn has_configuration(&self, id: Uuid) -> Result<bool, StudioError> {
        let found = self.store.configuration(id).await.map_err(internal)?;
        let Some(configuration) = found else {
            return Ok(false);
        };
        let study = self.store.study(configuration.study).await;
        Ok(matches!(study.map_err(internal)?, Some((_, None))))
    }
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
    let mut points: Vec<PointView> = model
        .points
        .iter()
        .filter(|it| it.configuration == configuration.ordinal)
        .map(point_view)
        .collect();
    let scores = read_scores(store, &points).await?;
    complete(&mut points, &scores);
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
        noise: Vec::new(),
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

/// Whether some configuration of a study differs from its baseline in more than one thing, as far as both were measured.
pub(crate) fn is_confounded(model: &Model) -> bool {
    let measured = model.configurations.iter().filter(|stored| {
        let of = |it: &&crate::store::StoredPoint| it.configuration == stored.ordinal;
        model
            .points
            .iter()
            .filter(of)
            .any(|it| it.summary.is_some())
    });
    let sides: Vec<Side> = measured.map(|stored| bare(model, stored)).collect();
    let Some((baseline, others)) = sides.split_first() else {
        return false;
    };
    let confounded = |it: &Side| {
        matches!(
            comparability_of(baseline, it),
            Comparability::Confounded { .. }
        )
    };
    others.iter().any(confounded)
}

/// A configuration without its points.
fn bare(model: &Model, stored: &StoredConfiguration) -> Side {
    Side {
        view: ComparedConfiguration {
            study: model.study.id,
            study_name: String::new(),
            simulated: model.study.simulated,
            configuration: model.configuration_view(stored),
            points: Vec::new(),
        },
        spec: model.study.spec.clone(),
        scores: HashMap::new(),
        noise: Vec::new(),
    }
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
        let mut facts = self.view.configuration.facts.clone();
        if let Some(dialect) = reached::dialect(&self.spec, &self.view.configuration.spec) {
            facts.entry(DIALECT.to_owned()).or_insert(dialect);
        }
        facts.extend(asked(&self.spec));
        facts
    }
}

/// What differs. A cache that was cold on one side only is a difference; where nobody can tell, pages say so themselves.
fn comparability_of(baseline: &Side, candidate: &Side) -> Comparability {
    let (mut one, mut other) = (baseline.facts(), candidate.facts());
    let cold = |side: &Side| side.view.configuration.cache_cold;
    if let (Some(cold_one), Some(cold_other)) = (cold(baseline), cold(candidate)) {
        one.extend([cache(cold_one)]);
        other.extend([cache(cold_other)]);
    }
    let found = comparability(&one, &other);
    let places = [baseline, candidate].map(|side| {
        let ComparedConfiguration {
            study,
            configuration,
            ..
        } = &side.view;
        reached::place(*study, &side.spec, &configuration.spec)
    });
    reached::doubted(found, [&one, &other], &places)
}
