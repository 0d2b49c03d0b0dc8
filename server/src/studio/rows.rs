//! Studies as rows of a list.

use app::studio::{StudioError, StudyRow, is_insecure};

use super::{LocalStudio, internal, views};
use crate::store::StoredStudy;

impl LocalStudio {
    /// A study as a row of the start page.
    pub(super) async fn row(&self, study: StoredStudy) -> Result<StudyRow, StudioError> {
        let configurations = self
            .store
            .configurations(study.id)
            .await
            .map_err(internal)?;
        let (points_finished, points) =
            self.store.count_points(study.id).await.map_err(internal)?;
        let headline = |ceilings: &Option<String>| {
            ceilings
                .as_deref()
                .and_then(|text| serde_json::from_str::<views::Ceilings>(text).ok()?.0)
        };
        let names = study
            .spec
            .configurations
            .iter()
            .map(|spec| spec.name.clone());
        let ceilings = names
            .zip(configurations.iter().map(|it| headline(&it.ceilings)))
            .collect();
        let sessions = study.spec.workload.is_multi_turn();
        let configurations = configurations.iter().map(|it| it.id).collect();
        let StoredStudy {
            id,
            spec,
            state,
            tags,
            simulated,
            engine,
            created_ms,
            imported,
            ..
        } = study;
        Ok(StudyRow {
            id,
            insecure: is_insecure(&spec),
            name: spec.name,
            state,
            simulated,
            tags,
            engine,
            slo: spec.slo,
            configurations,
            ceilings,
            sessions,
            points_finished,
            points,
            created_ms,
            imported: imported.is_some(),
        })
    }
}
