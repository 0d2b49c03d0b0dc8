//! What lists show of a study: worked out once from its points, kept beside it, and worked out anew where something that it follows from
//! changed.

use app::drawn::start::{Sketch, sketch};
use app::studio::{
    PointState, ShareRow, StudioError, StudyFilter, StudyRow, StudyView, is_insecure,
};
use measure::certificate::Innocence;
use measure::curve::Ceiling;
use measure::knobs::{AUTHOR, Facts, Source};
use measure::slo::Slo;
use measure::study::EngineSpec;
use serde::{Deserialize, Serialize};
use tracing::error;
use uuid::Uuid;

use super::compare::is_confounded;
use super::engines::engine_words;
use super::views::{self, Model};
use super::{LocalStudio, internal};
use crate::store::{FacetValue, KeepCard, ListedStudy, Store, StoreError};

/// The rules by which cards are worked out; one more whenever what they make of a study changes.
const RULES: i64 = 1;
/// Rows of a list, when nobody says how many.
const ROWS: u32 = 50;
const MOST_ROWS: u32 = 500;
/// Cards that whoever asks for a list waits for; the rest follow by themselves.
const AT_ONCE: u32 = 50;

/// A card.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Card {
    slo: Slo,
    /// Id, name and headline ceiling of each configuration.
    configurations: Vec<(Uuid, String, Option<Ceiling>)>,
    sessions: bool,
    insecure: bool,
    points_finished: u32,
    points: u32,
    engines: Vec<String>,
    models: Vec<String>,
    hardware: Vec<String>,
    author: Option<String>,
    void_points: u32,
    confounded: bool,
    toy: bool,
    sketch: Sketch,
}

impl Card {
    /// Works it out.
    fn of(model: &Model) -> Self {
        let view = model.view();
        let told = |name: &str| told(model, name);
        let configurations = view.configurations.iter();
        let configurations = configurations.map(|it| (it.id, it.spec.name.clone(), it.ceiling));
        let finished = |it: &&app::studio::PointView| it.state == PointState::Finished;
        let is_void = |it: &&app::studio::PointView| {
            let certificate = it.certificate.as_ref();
            certificate.is_some_and(|it| it.innocence == Innocence::Void)
        };
        Self {
            slo: view.spec.slo.clone(),
            configurations: configurations.collect(),
            sessions: view.spec.workload.is_multi_turn(),
            insecure: is_insecure(&view.spec),
            points_finished: count(view.points.iter().filter(finished).count()),
            points: count(view.points.len()),
            engines: engines(model),
            models: models(model, &view),
            hardware: told("hardware")
                .into_iter()
                .filter(|it| !it.starts_with("none:"))
                .collect(),
            author: told(AUTHOR).into_iter().next(),
            void_points: count(view.points.iter().filter(is_void).count()),
            confounded: is_confounded(model),
            toy: view.is_toy_model(),
            sketch: sketch(&view),
        }
    }

    /// What the study is told apart by, tags aside.
    fn facets(&self) -> Vec<(&'static str, String)> {
        let each = |kind: &'static str, values: &[String]| {
            let values = values.iter().map(move |it| (kind, it.clone()));
            values.collect::<Vec<_>>()
        };
        let author: Vec<String> = self.author.iter().cloned().collect();
        [
            each("engine", &self.engines),
            each("model", &self.models),
            each("hardware", &self.hardware),
            each("author", &author),
        ]
        .concat()
    }

    /// The row of a list.
    fn row(self, study: ListedStudy) -> StudyRow {
        let ListedStudy {
            id,
            name,
            state,
            tags,
            simulated,
            engine,
            created_ms,
            imported,
            ..
        } = study;
        let ids = self.configurations.iter().map(|it| it.0).collect();
        let ceilings = self.configurations.into_iter().map(|it| (it.1, it.2));
        StudyRow {
            id,
            name,
            state,
            simulated,
            insecure: self.insecure,
            tags,
            engine,
            slo: self.slo,
            configurations: ids,
            ceilings: ceilings.collect(),
            sessions: self.sessions,
            points_finished: self.points_finished,
            points: self.points,
            created_ms,
            imported,
            engines: self.engines,
            models: self.models,
            hardware: self.hardware,
            author: self.author,
            void_points: self.void_points,
            confounded: self.confounded,
            toy: self.toy,
            sketch: self.sketch,
        }
    }
}

impl LocalStudio {
    /// The values of a kind that studies have, those of most studies first.
    pub(crate) async fn facet_values(&self, kind: &str) -> Result<Vec<FacetValue>, StudioError> {
        self.store.facet_values(kind).await.map_err(internal)
    }

    /// How many studies a filter finds on all pages, where that is known without looking: of all, and of one value.
    pub(crate) async fn total(&self, filter: &StudyFilter) -> Result<Option<u32>, StudioError> {
        let facets = filter.facets();
        let set = facets.iter().filter(|it| !it.1.is_empty());
        let set: Vec<_> = set.collect();
        let other = !filter.search.trim().is_empty()
            || filter.state.is_some()
            || filter.from_ms.is_some()
            || filter.to_ms.is_some();
        let count = match set[..] {
            _ if other => return Ok(None),
            [] => self.store.study_count().await,
            [(kind, value)] => self.store.facet_count(kind, value).await,
            _ => return Ok(None),
        };
        count.map(Some).map_err(internal)
    }

    /// Name and links of a study that is deleted and can be brought back.
    pub(crate) async fn deleted(
        &self,
        id: Uuid,
    ) -> Result<Option<(String, Vec<ShareRow>)>, StudioError> {
        let Some((study, Some(_))) = self.store.study(id).await.map_err(internal)? else {
            return Ok(None);
        };
        let links = self.store.shares(id).await.map_err(internal)?;
        Ok(Some((study.spec.name, links)))
    }
}

/// Studies as rows of a list.
pub(super) async fn rows(store: &Store, filter: &StudyFilter) -> Result<Vec<StudyRow>, StoreError> {
    let limit = match filter.limit {
        0 => ROWS,
        limit => limit.min(MOST_ROWS),
    };
    // What has no card yet is found by no value.
    for study in store.studies_without_card(RULES, AT_ONCE).await? {
        refresh_or_log(store, study).await;
    }
    let mut rows = Vec::new();
    for study in store.studies(filter, limit).await? {
        rows.extend(row(store, study).await?);
    }
    Ok(rows)
}

/// None where the study is gone, or cannot be read by this build: the others are shown all the same.
async fn row(store: &Store, study: ListedStudy) -> Result<Option<StudyRow>, StoreError> {
    let kept = study
        .card
        .as_deref()
        .filter(|_| study.card_by == Some(RULES));
    if let Some(card) = kept.and_then(|text| serde_json::from_str::<Card>(text).ok()) {
        return Ok(Some(card.row(study)));
    }
    let model = match Model::load(store, study.id).await {
        Ok(model) => model,
        Err(cause) => {
            log(study.id, &cause);
            return Ok(None);
        }
    };
    let Some(model) = model else { return Ok(None) };
    keep(store, &model).await?;
    Ok(Some(Card::of(&model).row(study)))
}

/// A study from elsewhere that is not opened, with the ceilings that its file tells. `counts` are its points, finished and all.
pub(super) fn row_from_elsewhere(model: &Model, counts: (u32, u32)) -> StudyRow {
    let mut card = Card::of(model);
    (card.points_finished, card.points) = counts;
    for (shown, stored) in card.configurations.iter_mut().zip(&model.configurations) {
        let told = stored.ceilings.as_deref();
        shown.2 = told.and_then(|text| serde_json::from_str::<views::Ceilings>(text).ok()?.0);
    }
    let study = &model.study;
    card.row(ListedStudy {
        id: study.id,
        name: study.spec.name.clone(),
        state: study.state,
        tags: study.tags.clone(),
        simulated: study.simulated,
        engine: study.engine.clone(),
        created_ms: study.created_ms,
        imported: true,
        card: None,
        card_by: None,
    })
}

/// Works the cards of all studies out that lack them.
pub(crate) async fn catch_up(store: &Store) {
    loop {
        let lacking = match store.studies_without_card(RULES, AT_ONCE).await {
            Ok(lacking) => lacking,
            Err(cause) => return log(Uuid::nil(), &cause),
        };
        let mut kept = 0;
        for study in &lacking {
            kept += u32::from(refresh_or_log(store, *study).await);
        }
        if kept == 0 {
            return;
        }
    }
}

/// Whether a card was kept.
async fn refresh_or_log(store: &Store, study: Uuid) -> bool {
    let refreshed = async {
        match Model::load(store, study).await? {
            Some(model) => keep(store, &model).await,
            None => Ok(false),
        }
    };
    match refreshed.await {
        Ok(kept) => kept,
        Err(cause) => {
            log(study, &cause);
            give_up(store, study).await.unwrap_or(false)
        }
    }
}

/// What this build cannot read is told once, and tried again when it changes or when the rules do.
async fn give_up(store: &Store, study: Uuid) -> Result<bool, StoreError> {
    let Some(stamp) = store.stamp(study).await? else {
        return Ok(false);
    };
    let keep = KeepCard {
        study,
        stamp,
        rules: RULES,
        card: "null",
        facets: &[],
    };
    store.keep_card(&keep).await
}

/// Keeps the card of a study as it stands in memory. Whoever has no card has one made when a list is asked for.
pub(crate) async fn keep_or_log(store: &Store, model: &Model) {
    if let Err(cause) = keep(store, model).await {
        log(model.study.id, &cause);
    }
}

async fn keep(store: &Store, model: &Model) -> Result<bool, StoreError> {
    let study = model.study.id;
    let Some(stamp) = store.stamp(study).await? else {
        return Ok(false);
    };
    let card = Card::of(model);
    let text = serde_json::to_string(&card);
    let text = text.map_err(|cause| StoreError::Unwritable {
        what: "card",
        cause,
    })?;
    let keep = KeepCard {
        study,
        stamp,
        rules: RULES,
        card: &text,
        facets: &card.facets(),
    };
    store.keep_card(&keep).await
}

fn log(study: Uuid, cause: &StoreError) {
    let cause = cause as &dyn std::error::Error;
    error!(%study, cause, "cannot make the card of a study");
}

/// What is known by a name of the configurations, each value once, in their order.
fn told(model: &Model, name: &str) -> Vec<String> {
    let known = model.configurations.iter().filter_map(|it| {
        let fact = it.facts.get(name)?;
        let value = fact.value.trim();
        let known = fact.source != Source::Unknown && !value.is_empty();
        (known && !value.starts_with(super::share::plain::HIDDEN)).then(|| value.to_owned())
    });
    once(known)
}

fn once(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut all = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

/// Every engine in words: `vLLM 0.32.0`, `simulator small-fast`, else as the study says.
fn engines(model: &Model) -> Vec<String> {
    if let EngineSpec::Simulator { .. } = model.study.spec.engine {
        return vec![engine_words(&model.study.spec, &Facts::new())];
    }
    let known = model.configurations.iter().filter_map(|it| {
        let fact = |name: &str| {
            let fact = it.facts.get(name)?;
            let known = fact.source != Source::Unknown
                && !fact.value.starts_with(super::share::plain::HIDDEN);
            known.then_some(fact.value.as_str())
        };
        let version = fact("version").map_or_else(String::new, |it| format!(" {it}"));
        Some(format!("{}{version}", fact("engine")?))
    });
    let known = once(known);
    if known.is_empty() && !model.study.engine.is_empty() {
        return vec![model.study.engine.clone()];
    }
    known
}

/// The models as the engines told them; before that, as they were stated.
fn models(model: &Model, view: &StudyView) -> Vec<String> {
    let known = told(model, "model");
    if !known.is_empty() {
        return known;
    }
    let stated = super::engines::endpoints(&view.spec);
    once(
        stated
            .into_iter()
            .map(|(_, it)| it.model.clone())
            .filter(|it| !it.is_empty()),
    )
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
