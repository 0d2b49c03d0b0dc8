//! What a measured point left, for programs: scores, records, and what was seen beside its requests.

use app::studio::StudioError;
use measure::evidence::Evidence;
use measure::score::push_frame;
use uuid::Uuid;

use super::{LocalStudio, internal, missing};

/// Scores of many points are answered in bodies of so many bytes.
const MOST_SCORES: usize = 4 << 20;

impl LocalStudio {
    /// A point's scores: the versioned block of columns that browsers read.
    pub async fn scores(&self, point: Uuid) -> Result<Vec<u8>, StudioError> {
        self.is_there(point).await?;
        let found = self.store.scores(point).await.map_err(internal)?;
        found
            .map(|(_, scores)| scores)
            .ok_or_else(|| missing("finished point"))
    }

    /// The scores of a study's points, those behind one of them where it is named: as many as fit [`MOST_SCORES`], one at
    /// least, each behind its point's id and its length (`measure::score::frames`). Empty where there are no more.
    pub async fn study_scores(
        &self,
        study: Uuid,
        after: Option<Uuid>,
    ) -> Result<Vec<u8>, StudioError> {
        let (mut body, mut last) = (Vec::new(), after);
        while let Some((point, scores)) = self
            .store
            .scores_after(study, last)
            .await
            .map_err(internal)?
        {
            if !body.is_empty() && MOST_SCORES < body.len() + scores.len() {
                break;
            }
            push_frame(&mut body, point.as_u128(), &scores);
            last = Some(point);
        }
        Ok(body)
    }

    /// A point's records, as the Parquet file that is stored.
    pub async fn records_parquet(&self, point: Uuid) -> Result<Vec<u8>, StudioError> {
        self.is_there(point).await?;
        self.store
            .records(point)
            .await
            .map_err(internal)?
            .ok_or_else(|| missing("finished point"))
    }

    /// What was seen beside a point's requests.
    pub async fn evidence_of(&self, point: Uuid) -> Result<Evidence, StudioError> {
        self.is_there(point).await?;
        let found = self.store.evidence(point).await.map_err(internal)?;
        found.ok_or_else(|| missing("evidence of that point"))
    }

    /// The text of a point's metrics pages, compressed.
    pub async fn metrics_text(&self, point: Uuid) -> Result<Vec<u8>, StudioError> {
        self.is_there(point).await?;
        let found = self.store.metrics(point).await.map_err(internal)?;
        found.ok_or_else(|| missing("metrics text of that point"))
    }

    /// Nothing of a deleted study's points is handed out, not even to those who know a point's id.
    async fn is_there(&self, point: Uuid) -> Result<(), StudioError> {
        let study = self.store.study_of(point).await.map_err(internal)?;
        study.map(drop).ok_or_else(|| missing("finished point"))
    }
}
