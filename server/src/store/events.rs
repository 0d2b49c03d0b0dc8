//! What a browser that was away has missed: the numbered events of a study, the latest few thousand of them.

use app::studio::LiveEvent;
use uuid::Uuid;

use super::rows::from_json;
use super::{Store, StoreError, append_event, reading, writing};

/// Events kept for each study. A study of most points, resumed several times, stays below it.
pub(super) const KEPT: i64 = 4000;

/// Most events read at one time.
const PAGE: i64 = 500;

impl Store {
    /// Events of a study after a number, in order; at most a page of them.
    pub async fn events_after(
        &self,
        study: Uuid,
        after: u64,
    ) -> Result<Vec<(u64, LiveEvent)>, StoreError> {
        const SQL: &str = "SELECT number, event FROM events WHERE study = $1 AND $2 < number ORDER BY number LIMIT $3";
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        let rows: Vec<(i64, String)> = reading!(self, |pool| sqlx::query_as(SQL)
            .bind(study)
            .bind(after)
            .bind(PAGE)
            .fetch_all(pool)
            .await?);
        rows.into_iter()
            .map(|(number, event)| Ok((number.unsigned_abs(), from_json("event", &event)?)))
            .collect()
    }

    /// Keeps an event that comes with no other change; its number.
    pub async fn append_event(&self, study: Uuid, event: &LiveEvent) -> Result<u64, StoreError> {
        Ok(writing!(self, |tx| append_event!(tx, study, event)))
    }
}
