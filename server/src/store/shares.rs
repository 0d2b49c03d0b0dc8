//! Links to studies. Only the hash of a link's token is kept: who reads the database cannot open a link.

use app::studio::{ShareRow, ShareScope};
use sqlx::FromRow;
use uuid::Uuid;

use super::{Store, StoreError, changing, now_ms, reading};

#[derive(FromRow)]
struct ShareColumns {
    id: Uuid,
    created_ms: i64,
    expires_ms: Option<i64>,
    revoked_ms: Option<i64>,
    scope: String,
}

/// A scope as it is stored. What is unknown shows the least.
fn scope_of(text: &str) -> ShareScope {
    let mut all = ShareScope::EACH.into_iter();
    all.find(|it| it.name() == text)
        .unwrap_or(ShareScope::Aggregates)
}

impl From<ShareColumns> for ShareRow {
    fn from(row: ShareColumns) -> Self {
        let ShareColumns {
            id,
            created_ms,
            expires_ms,
            revoked_ms,
            scope,
        } = row;
        Self {
            id,
            path: None,
            created_ms,
            expires_ms,
            revoked: revoked_ms.is_some(),
            scope: scope_of(&scope),
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
        scope: ShareScope,
    ) -> Result<ShareRow, StoreError> {
        const SQL: &str = "INSERT INTO shares (id, study, token_hash, created_ms, expires_ms, scope) VALUES ($1, $2, $3, $4, $5, $6)";
        let (id, created_ms) = (Uuid::now_v7(), now_ms());
        changing!(
            self,
            sqlx::query(SQL)
                .bind(id)
                .bind(study)
                .bind(token_hash)
                .bind(created_ms)
                .bind(expires_ms)
                .bind(scope.name())
        );
        Ok(ShareRow {
            id,
            path: None,
            created_ms,
            expires_ms,
            revoked: false,
            scope,
        })
    }

    /// A study's links, newest first.
    pub async fn shares(&self, study: Uuid) -> Result<Vec<ShareRow>, StoreError> {
        const SQL: &str = "SELECT id, created_ms, expires_ms, revoked_ms, scope FROM shares WHERE study = $1 ORDER BY created_ms DESC, id DESC";
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

    /// The study behind a link that still works, and what the link shows.
    pub async fn shared_study(
        &self,
        token_hash: &[u8],
    ) -> Result<Option<(Uuid, ShareScope)>, StoreError> {
        const SQL: &str = "SELECT h.study, h.scope FROM shares h JOIN studies s ON s.id = h.study WHERE h.token_hash = $1 AND h.revoked_ms IS NULL \
                           AND (h.expires_ms IS NULL OR $2 < h.expires_ms) AND s.deleted_ms IS NULL";
        let found: Option<(Uuid, String)> = reading!(self, |pool| sqlx::query_as(SQL)
            .bind(token_hash)
            .bind(now_ms())
            .fetch_optional(pool)
            .await?);
        Ok(found.map(|(study, scope)| (study, scope_of(&scope))))
    }
}
