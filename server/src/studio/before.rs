//! Latencies counted from the schedule that points lack which were stored before those were kept: found again from their requests
//! when a page shows them, and kept in memory. What is stored stays as it is.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use app::studio::{PointView, StudioError, StudyView};
use measure::quantile::Distribution;
use measure::score::{Score, decode};
use measure::slo::{Metric, Ready};
use measure::summary::Summary;
use uuid::Uuid;

use super::{LocalStudio, internal};

/// Points whose figures are kept; a few hundred bytes each.
const POINTS: usize = 20_000;

/// TTFA and E2E from the schedule.
type Figures = [Distribution; 2];

/// What was found again, by point. Measured points never change.
#[derive(Debug, Default)]
pub(super) struct FoundAgain(Mutex<HashMap<Uuid, Figures>>);

impl FoundAgain {
    fn of(&self, point: Uuid) -> Option<Figures> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&point).cloned()
    }

    fn keep(&self, point: Uuid, figures: Figures) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if POINTS <= all.len() {
            all.clear();
        }
        all.insert(point, figures);
    }
}

fn lacking(points: &mut [PointView]) -> impl Iterator<Item = (Uuid, &mut Summary)> {
    let summaries = points
        .iter_mut()
        .filter_map(|it| Some((it.id, it.summary.as_mut()?)));
    summaries.filter(|(_, summary)| summary.is_from_before())
}

fn figures(scores: &[Score]) -> Figures {
    let ready = Ready::of(scores);
    [Metric::ScheduledTtfa, Metric::ScheduledE2e].map(|metric| ready.distribution(metric))
}

/// Completes points whose requests are at hand.
pub(super) fn complete(points: &mut [PointView], scores: &HashMap<Uuid, Vec<Score>>) {
    for (point, summary) in lacking(points) {
        if let Some(scores) = scores.get(&point) {
            summary.completed_by(&Ready::of(scores));
        }
    }
}

impl LocalStudio {
    /// A study's view with all latencies that its requests tell.
    pub(super) async fn completed(&self, mut view: StudyView) -> Result<StudyView, StudioError> {
        for (point, summary) in lacking(&mut view.points) {
            let Some([ttfa, e2e]) = self.found_again(point).await? else {
                continue;
            };
            (summary.scheduled_ttfa, summary.scheduled_e2e) = (ttfa, e2e);
        }
        Ok(view)
    }

    async fn found_again(&self, point: Uuid) -> Result<Option<Figures>, StudioError> {
        if let Some(found) = self.found_again.of(point) {
            return Ok(Some(found));
        }
        let Some((_, bytes)) = self.store.scores(point).await.map_err(internal)? else {
            return Ok(None);
        };
        let work_out = move || decode(&bytes).map(|scores| figures(&scores));
        let found = tokio::task::spawn_blocking(work_out).await;
        let found = found.map_err(internal)?.map_err(internal)?;
        self.found_again.keep(point, found.clone());
        Ok(Some(found))
    }
}
