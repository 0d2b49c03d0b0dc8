//! Links to studies. Only the hash of a link's token is kept: who reads the database cannot open a link.

use app::studio::ShareRow;
use sqlx::FromRow;
use uuid::Uuid;

use super::{Store, StoreError, changing, now_ms, reading};

#[derive(FromRow)]
struct ShareColumns {
    id: Uuid,
    created_ms: i64,
    expires_ms: Option<i64>,
    revoked_ms: Option<i64>,
}

impl From<ShareColumns> for ShareRow {
    fn from(row: ShareColumns) -> Self {
        let ShareColumns {
            id,
            created_ms,
            expires_ms,
            revoked_ms,
        } = row;
        Self {
            id,
            path: None,
            created_ms,
            expires_ms,
            revoked: revoked_ms.is_some(),
        }
    }
}

impl Store {
    /// Keeps a new link; its row, without the path.
    pub async fn insert_share(
        &self,
        study: Uuid,
        token_hash: &[u8],
        expires_ms: Option<i64>,
    ) -> Result<ShareRow, StoreError> {
        const SQL: &str = "INSERT INTO shares (id, study, token_hash, created_ms, expires_ms) VALUES ($1, $2, $3, $4, $5)";
        let (id, created_ms) = (Uuid::now_v7(), now_ms());
        changing!(
            self,
            sqlx::query(SQL)
                .bind(id)
                .bind(study)
                .bind(token_hash)
                .bind(created_ms)
                .bind(expires_ms)
        );
        Ok(ShareRow {
            id,
            path: None,
            created_ms,
            expires_ms,
            revoked: false,
        })
    }

    /// A study's links, newest first.
    pub async fn shares(&self, study: Uuid) -> Result<Vec<ShareRow>, StoreError> {
        const SQL: &str = "SELECT id, created_ms, expires_ms, revoked_ms FROM shares WHERE study = $1 ORDER BY created_ms DESC, id DESC";
        let rows: Vec<ShareColumns> = reading!(self, |pool| sqlx::query_as(SQL)
            .bind(study)
            .fetch_all(pool)
            .await?);
        Ok(rows.into_iter().map(Into::into).collect())
    }

    /// Revokes a link at once; whether it exists.
    pub async fn revoke_share(&self, id: Uuid) -> Result<bool, StoreError> {
        const SQL: &str = "UPDATE shares SET revoked_ms = COALESCE(revoked_ms, $2) WHERE id = $1";
        Ok(0 < changing!(self, sqlx::query(SQL).bind(id).bind(now_ms())))
    }

    /// The study behind a link that still works.
    pub async fn shared_study(&self, token_hash: &[u8]) -> Result<Option<Uuid>, StoreError> {
        const SQL: &str = "SELECT h.study FROM shares h JOIN studies s ON s.id = h.study WHERE h.token_hash = $1 AND h.revoked_ms IS NULL \
                           AND (h.expires_ms IS NULL OR $2 < h.expires_ms) AND s.deleted_ms IS NULL";
        Ok(reading!(self, |pool| sqlx::query_scalar(SQL)
            .bind(token_hash)
            .bind(now_ms())
            .fetch_optional(pool)
            .await?))
    }
}
