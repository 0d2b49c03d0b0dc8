//! What stands beside a study's curves, for the first answer: the map and the engine at the point that is chosen, and why, where
//! that is worked out fast. What would take long is left to be asked for later.

use app::drawn::iso;
use app::evidence::glance;
use app::studio::{Beside, PointView, StudioError, StudyView};
use app::url_state::ViewState;
use measure::score::decode;
use uuid::Uuid;

use super::{LocalStudio, internal, missing};

/// Maps of more requests are drawn once they are near the window.
const MOST_REQUESTS: u32 = 20_000;

impl LocalStudio {
    /// All of it.
    pub(super) async fn drawn_beside(
        &self,
        study: &StudyView,
        view: &ViewState,
    ) -> Result<Beside, StudioError> {
        let why = self.why_at_once(study.id).await?;
        let Some((place, point)) = iso::chosen(study, view.map) else {
            return Ok(Beside {
                told_why: why.is_some(),
                why: why.unwrap_or_default(),
                engine: glance::nothing().into_string(),
                ..Beside::default()
            });
        };
        Ok(Beside {
            plan: String::new(),
            told_why: why.is_some(),
            why: why.unwrap_or_default(),
            map: self.map_at_once(study, (place, point), view).await?,
            engine: self.engine_at(study, point).await?,
        })
    }

    async fn map_at_once(
        &self,
        study: &StudyView,
        (place, point): (usize, &PointView),
        view: &ViewState,
    ) -> Result<String, StudioError> {
        let requests = point.summary.as_ref().map_or(0, |it| it.scheduled);
        if MOST_REQUESTS < requests {
            return Ok(String::new());
        }
        let scores = decode(&self.scores(point.id).await?).map_err(internal)?;
        let slo = view.slo.clone().unwrap_or_else(|| study.spec.slo.clone());
        let study = study.clone();
        let draw = move || iso::map(&study, place, &scores, &slo).into_string();
        tokio::task::spawn_blocking(draw).await.map_err(internal)
    }

    async fn engine_at(&self, study: &StudyView, point: &PointView) -> Result<String, StudioError> {
        let evidence = self.store.evidence(point.id).await.map_err(internal)?;
        Ok(glance::glance(study, point, evidence.as_ref()).into_string())
    }

    /// What the engine showed at a measured point of a study.
    pub(crate) async fn engine_seen(
        &self,
        study: &StudyView,
        point: Uuid,
    ) -> Result<String, StudioError> {
        let mut points = study.points.iter();
        let found = points.find(|it| it.id == point && it.summary.is_some());
        let found = found.ok_or_else(|| missing("finished point"))?;
        self.engine_at(study, found).await
    }
}
