//! A study in memory, and the views made from it. The supervisor keeps one while it measures; pages get theirs from
//! the store. No number is computed here: `measure` does that.

use app::studio::{ConfigurationView, Hold, PointView, StudioError, StudyState, StudyView};
use measure::curve::{By, Ceiling, CurvePoint, ceiling};
use measure::knobs::{Fact, Source};
use measure::study::{ConfigurationSpec, StudySpec};
use uuid::Uuid;

use super::bundles::origin_words;
use super::left::left;
use super::search::{budget_left, probed, why_ended};
use super::{LocalStudio, internal, missing};
use crate::store::{Store, StoreError, StoredConfiguration, StoredPoint, StoredStudy, now_ms};

/// Ceilings of one curve: by attainment, by percentile. None before its first point.
pub type Ceilings = (Option<Ceiling>, Option<Ceiling>);

/// A study with all that is stored of it, data apart.
#[derive(Clone, Debug)]
pub struct Model {
    /// The study.
    pub study: StoredStudy,
    /// When it was deleted.
    pub deleted_ms: Option<i64>,
    /// Its configurations.
    pub configurations: Vec<StoredConfiguration>,
    /// Its points, in the order they run.
    pub points: Vec<StoredPoint>,
}

impl Model {
    /// Reads a study. Its last event is read first: what happens meanwhile is told again, never lost.
    pub async fn load(store: &Store, id: Uuid) -> Result<Option<Self>, StoreError> {
        let Some((study, deleted_ms)) = store.study(id).await? else {
            return Ok(None);
        };
        let configurations = store.configurations(id).await?;
        let points = store.points(id).await?;
        Ok(Some(Self {
            study,
            deleted_ms,
            configurations,
            points,
        }))
    }

    /// The whole view.
    pub fn view(&self) -> StudyView {
        let StoredStudy {
            id,
            spec,
            state,
            problem,
            tags,
            note,
            created_ms,
            last_event,
            imported,
            pause_requested,
            ..
        } = self.study.clone();
        let configurations = self
            .configurations
            .iter()
            .map(|it| self.configuration_view(it))
            .collect();
        let points = self.points.iter().map(point_view).collect();
        let remaining_ms = self.remaining_ms();
        StudyView {
            id,
            spec,
            state,
            problem,
            tags,
            note,
            configurations,
            points,
            remaining_ms,
            hold: Hold::of(state, pause_requested),
            underway: None,
            created_ms,
            last_event,
            imported: imported.map_or_else(String::new, |it| origin_words(&it)),
            starts: String::new(),
            compared: String::new(),
            differences: Vec::new(),
            apart: Vec::new(),
            aggregates_only: false,
        }
    }

    /// One configuration's view.
    pub fn configuration_view(&self, stored: &StoredConfiguration) -> ConfigurationView {
        let StoredConfiguration {
            id,
            ordinal,
            mut facts,
            cache_cold,
            ..
        } = stored.clone();
        facts.extend(self.files());
        let (ceiling, ceiling_by_percentile) = self.ceilings(ordinal);
        ConfigurationView {
            id,
            spec: self.spec_of(ordinal),
            facts,
            cache_cold,
            ceiling,
            ceiling_by_percentile,
            search_ended: self.why_ended(ordinal),
        }
    }

    /// Why the search for a configuration's ceiling ended, in words.
    fn why_ended(&self, ordinal: u32) -> Option<String> {
        let of = |point: &&StoredPoint| point.configuration == ordinal;
        let points: Vec<&StoredPoint> = self.points.iter().filter(of).collect();
        why_ended(&self.study.spec, &points).map(str::to_owned)
    }

    /// Which files it was made from: two files of one name are two workloads.
    fn files(&self) -> impl Iterator<Item = (String, Fact)> {
        let StoredStudy {
            dataset_sha256,
            tokenizer_sha256,
            ..
        } = &self.study;
        let files = [
            ("data set", dataset_sha256),
            ("tokenizer", tokenizer_sha256),
        ];
        files.into_iter().filter_map(|(name, digest)| {
            let digest = digest.as_deref()?;
            let value = format!("SHA-256 {}", digest.get(..16).unwrap_or(digest));
            let source = Source::Engine;
            Some((name.to_owned(), Fact { value, source }))
        })
    }

    /// The configuration as it was stated.
    pub fn spec_of(&self, ordinal: u32) -> ConfigurationSpec {
        self.study
            .spec
            .configurations
            .get(ordinal as usize)
            .cloned()
            .unwrap_or_default()
    }

    /// A configuration's ceilings under the study's SLO: by attainment, by percentile.
    pub fn ceilings(&self, ordinal: u32) -> Ceilings {
        let views: Vec<PointView> = self
            .points
            .iter()
            .filter(|point| point.configuration == ordinal)
            .map(point_view)
            .collect();
        ceilings(&views, &self.study.spec)
    }

    /// Estimated milliseconds until it is done ([`left`]); of a sweep that finds the ceiling, at most.
    pub fn remaining_ms(&self) -> Option<u64> {
        matches!(self.study.state, StudyState::Queued | StudyState::Running).then(|| {
            match self.study.spec.search() {
                Some(search) => budget_left(&self.study.spec, &search, &self.points),
                None => left(&self.points, now_ms()) as u64,
            }
        })
    }
}

/// A point's view.
pub fn point_view(stored: &StoredPoint) -> PointView {
    let StoredPoint {
        id,
        configuration,
        level,
        repeat,
        planned_requests,
        state,
        started_ms,
        summary,
        certificate,
        judgement,
        made,
        problem,
        ..
    } = stored.clone();
    PointView {
        id,
        configuration,
        level,
        repeat,
        state,
        planned_requests,
        summary,
        certificate,
        judgement,
        started_ms,
        problem,
        notes: made.map(|made| made.notes()).unwrap_or_default(),
    }
}

/// The ceilings of one curve. That by attainment of an adaptive sweep rests on what its looks decided.
pub fn ceilings(points: &[PointView], spec: &StudySpec) -> Ceilings {
    let curve = points.iter().filter_map(|it| it.on_curve(spec.arrival));
    let curve: Vec<CurvePoint<'_>> = curve.collect();
    // A closed loop offers no rate of its own.
    if !curve.iter().any(|it| it.level.is_open()) {
        return (None, None);
    }
    let by_attainment = match spec.search() {
        Some(search) => search.ceiling(&points.iter().filter_map(probed).collect::<Vec<_>>()),
        None => ceiling(&curve, By::Attainment),
    };
    (Some(by_attainment), Some(ceiling(&curve, By::Percentile)))
}

impl LocalStudio {
    /// A study that was not deleted.
    pub(super) async fn stored(&self, id: Uuid) -> Result<StoredStudy, StudioError> {
        match self.store.study(id).await.map_err(internal)? {
            Some((study, None)) => Ok(study),
            _ => Err(missing("study")),
        }
    }

    /// A study that was not deleted, whole.
    pub(super) async fn model(&self, id: Uuid) -> Result<Model, StudioError> {
        let model = Model::load(&self.store, id).await.map_err(internal)?;
        model
            .filter(|model| model.deleted_ms.is_none())
            .ok_or_else(|| missing("study"))
    }
}
