//! What diagnoses foretold of studies that were begun to try them, and what came.

use app::diagnosis::Foretold;
use measure::diagnose::Outcome;
use uuid::Uuid;

use super::rows::{from_json, optional, to_json};
use super::{Store, StoreError, reading, writing};

/// A prediction as it stands in the store.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredPrediction {
    /// The study that was begun to try it.
    pub study: Uuid,
    /// What was foretold.
    pub foretold: Foretold,
    /// What came, once that was judged.
    pub outcome: Option<Outcome>,
    /// Whether the study is still there, deleted or not.
    pub is_there: bool,
    /// When the study was deleted, if it was.
    pub deleted_ms: Option<i64>,
}

/// Study, prediction, outcome; the study where it is there, and when it was deleted.
type Columns = (Uuid, String, Option<String>, Option<Uuid>, Option<i64>);

fn read(
    (study, foretold, outcome, there, deleted_ms): Columns,
) -> Result<StoredPrediction, StoreError> {
    Ok(StoredPrediction {
        study,
        foretold: from_json("prediction", &foretold)?,
        outcome: optional("outcome", outcome.as_deref())?,
        is_there: there.is_some(),
        deleted_ms,
    })
}

/// What [`Columns`] are.
macro_rules! columns {
    () => {
        "SELECT p.study, p.foretold, p.outcome, s.id, s.deleted_ms FROM predictions p LEFT JOIN studies s ON s.id = p.study "
    };
}

impl Store {
    /// Keeps what a study was begun to try; an earlier one stays.
    pub async fn keep_prediction(
        &self,
        study: Uuid,
        foretold: &Foretold,
    ) -> Result<(), StoreError> {
        const SQL: &str = "INSERT INTO predictions (study, foretold) VALUES ($1, $2) ON CONFLICT (study) DO NOTHING";
        let text = to_json("prediction", foretold)?;
        writing!(self, |tx| {
            sqlx::query(SQL)
                .bind(study)
                .bind(&text)
                .execute(&mut *tx)
                .await?;
        });
        Ok(())
    }

    /// Keeps what came of it; what was kept before stays, since a finished study never changes.
    pub async fn keep_outcome(&self, study: Uuid, outcome: &Outcome) -> Result<(), StoreError> {
        const SQL: &str =
            "UPDATE predictions SET outcome = $2 WHERE study = $1 AND outcome IS NULL";
        let text = to_json("outcome", outcome)?;
        writing!(self, |tx| {
            sqlx::query(SQL)
                .bind(study)
                .bind(&text)
                .execute(&mut *tx)
                .await?;
        });
        Ok(())
    }

    /// What a study was begun to try.
    pub async fn prediction(&self, study: Uuid) -> Result<Option<StoredPrediction>, StoreError> {
        const SQL: &str = concat!(columns!(), "WHERE p.study = $1");
        let row: Option<Columns> = reading!(self, |pool| sqlx::query_as(SQL)
            .bind(study)
            .fetch_optional(pool)
            .await?);
        row.map(read).transpose()
    }

    /// All predictions that studies of this studio were begun to try, newest first, of studies too that were deleted or are gone. Those that
    /// came from elsewhere are not among them.
    pub async fn predictions(&self, limit: u32) -> Result<Vec<StoredPrediction>, StoreError> {
        const SQL: &str = concat!(columns!(), "WHERE p.own ORDER BY p.study DESC LIMIT $1");
        let rows: Vec<Columns> = reading!(self, |pool| sqlx::query_as(SQL)
            .bind(i64::from(limit))
            .fetch_all(pool)
            .await?);
        rows.into_iter().map(read).collect()
    }

    /// The same as the text of its column: what a bundle holds.
    pub async fn prediction_text(&self, study: Uuid) -> Result<Option<String>, StoreError> {
        const SQL: &str = "SELECT foretold FROM predictions WHERE study = $1";
        Ok(reading!(self, |pool| sqlx::query_scalar(SQL)
            .bind(study)
            .fetch_optional(pool)
            .await?))
    }
}
