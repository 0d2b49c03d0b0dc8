//! A point's requests for its page: read once, and kept while somebody looks at them.

use std::sync::{Arc, Mutex, PoisonError};

use app::point::Absent;
use app::requests::{Given, Requests};
use app::studio::{PointState, StudioError};
use measure::arrival::discipline;
use measure::evidence::Evidence;
use measure::score;
use uuid::Uuid;

use super::views::Model;
use super::{LocalStudio, internal, missing};
use crate::records::from_parquet;
use crate::store::StoredPoint;

/// Points that are kept at most.
const POINTS: usize = 4;
/// Token-bearing events that are kept at most, of all points together: about 25 bytes each, with what pages make of them once.
const EVENTS: usize = 4_000_000;
/// Most output tokens of a point whose requests a page shows.
const MOST_TOKENS: u64 = 20_000_000;

/// Points that somebody looked at, the latest last. Measured points never change.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<Vec<Arc<Requests>>>);

impl Kept {
    fn find(&self, point: Uuid) -> Option<Arc<Requests>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = all.iter().position(|it| it.point == point)?;
        let found = all.remove(place);
        all.push(found.clone());
        Some(found)
    }

    fn keep(&self, requests: Arc<Requests>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|it| it.point != requests.point);
        all.push(requests);
        while POINTS < all.len() || EVENTS < all.iter().map(events).sum() {
            all.remove(0);
        }
    }
}

fn events(requests: &Arc<Requests>) -> usize {
    requests.records.iter().map(|it| it.chunks.len()).sum()
}

/// A point's requests, or why they are not shown.
pub type OfPoint = Result<Arc<Requests>, Absent>;

impl LocalStudio {
    /// The requests of a point of a study that was not deleted: of one that was measured, or of one that a person skipped as far as it was.
    pub async fn requests_of(&self, study: Uuid, point: Uuid) -> Result<OfPoint, StudioError> {
        self.stored(study).await?;
        if let Some(found) = self.kept.find(point) {
            let is_its = found.study == study;
            return is_its.then_some(Ok(found)).ok_or_else(|| missing("point"));
        }
        let model = self.model(study).await?;
        let stored = model.points.iter().find(|it| it.id == point);
        let skipped = stored.is_some_and(|it| it.state == PointState::Skipped);
        let stored = stored.filter(|it| it.summary.is_some() || skipped);
        let stored = stored.ok_or_else(|| missing("finished point"))?;
        if MOST_TOKENS < self.tokens(stored).await? {
            return Ok(Err(Absent::TooMany));
        }
        let records = self.store.records(point).await.map_err(internal)?;
        let Some(records) = records.filter(|it| !it.is_empty()) else {
            let why = if skipped {
                Absent::NotKept
            } else {
                Absent::LeftOut
            };
            return Ok(Err(why));
        };
        // The requests stand without what was seen beside them.
        let evidence = self.store.evidence(point).await.unwrap_or_default();
        let given = given(&model, stored, evidence);
        let read = move || Ok(Requests::new(given, from_parquet(records.into())?));
        let read = tokio::task::spawn_blocking(read).await.map_err(internal)?;
        let requests = Arc::new(read.map_err(|cause: crate::records::ReadError| internal(cause))?);
        if skipped && requests.records.is_empty() {
            return Ok(Err(Absent::NotKept));
        }
        self.kept.keep(requests.clone());
        Ok(Ok(requests))
    }

    /// Output tokens of a point. One that was skipped has no figures, but what remains of each request.
    async fn tokens(&self, stored: &StoredPoint) -> Result<u64, StudioError> {
        if let Some(summary) = &stored.summary {
            return Ok(summary.output_tokens);
        }
        let scores = self.store.scores(stored.id).await.map_err(internal)?;
        let scores = scores.and_then(|(_, scores)| score::decode(&scores).ok());
        let each = scores.iter().flatten().filter_map(|it| it.n);
        Ok(each.map(u64::from).sum())
    }
}

fn given(model: &Model, stored: &StoredPoint, evidence: Option<Evidence>) -> Given {
    let spec = &model.study.spec;
    Given {
        study: model.study.id,
        point: stored.id,
        slo: spec.slo.clone(),
        discipline: discipline(spec.arrival, stored.level),
        counted: stored.made.as_ref().and_then(|made| made.steady_ns),
        stored: stored.summary.clone().zip(stored.judgement.clone()),
        tracks: evidence.map(|it| it.tracks).unwrap_or_default(),
    }
}
