//! A measured point by other tools' rules, from its records.

use app::studio::StudioError;
use measure::rules::{Table, Tool};
use measure::slo::Slo;
use measure::units::Nanos;
use uuid::Uuid;

use super::{LocalStudio, internal, missing};
use crate::records::from_parquet;
use crate::store::StoredPoint;

/// Most output tokens of a point that a page is kept waiting for: about a second's work.
const MOST_ON_A_PAGE: u64 = 2_000_000;

impl LocalStudio {
    /// The same for a page: nothing where there is so much that a page would be slow.
    pub(super) async fn rules_on_a_page(&self, point: Uuid) -> Result<Vec<Table>, StudioError> {
        let scores = self.scores(point).await?;
        let scores = measure::score::decode(&scores).map_err(internal)?;
        let tokens: u64 = scores.iter().filter_map(|it| it.n).map(u64::from).sum();
        if MOST_ON_A_PAGE < tokens {
            return Ok(Vec::new());
        }
        self.rules_of(point).await
    }

    /// A point by the rules of every tool that is known.
    pub async fn rules_of(&self, point: Uuid) -> Result<Vec<Table>, StudioError> {
        let study = self.store.study_of(point).await.map_err(internal)?;
        let model = self.model(study.ok_or_else(|| missing("point"))?).await?;
        let slo = model.study.spec.slo.clone();
        let stored = model.points.into_iter().find(|it| it.id == point);
        let stored = stored.ok_or_else(|| missing("point"))?;
        let records = self.records_parquet(point).await?;
        // A file of many requests takes a while to be read.
        let told = tokio::task::spawn_blocking(move || tables(&stored, &slo, records));
        told.await.map_err(internal)?
    }
}

fn tables(point: &StoredPoint, slo: &Slo, records: Vec<u8>) -> Result<Vec<Table>, StudioError> {
    let summary = point.summary.as_ref();
    let summary = summary.ok_or_else(|| missing("finished point"))?;
    let promise = point.judgement.as_ref().map(|judgement| (slo, judgement));
    let mut records = from_parquet(records.into()).map_err(internal)?;
    let steady = point.made.as_ref().and_then(|made| made.steady_ns);
    if let Some((from, to)) = steady {
        records.retain(|it| from <= it.scheduled && it.scheduled <= to);
    }
    let began = steady.map_or(Nanos::ZERO, |(from, _)| from);
    let tools = Tool::ALL.into_iter();
    Ok(tools
        .map(|tool| Table::of(tool, (&records, began), summary, promise))
        .collect())
}
