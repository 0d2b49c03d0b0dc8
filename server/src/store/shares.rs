//! Links to studies and to comparisons. Only the hash of a link's token is kept: who reads the database cannot open a link.

use app::studio::{ShareRow, ShareScope};
use measure::slo::Slo;
use sqlx::FromRow;
use uuid::Uuid;

use super::{Store, StoreError, changing, now_ms, reading, writing};

/// What a link opens.
#[derive(Clone, Debug, PartialEq)]
pub enum Opens {
    /// A study, whole.
    Study(Uuid),
    /// Some configurations side by side, and nothing else of their studies.
    Comparison {
        /// Each configuration with its study, in order; the first is the baseline.
        sides: Vec<(Uuid, Uuid)>,
        /// What judges them.
        slo: Slo,
    },
}

/// A link that is to be kept.
pub struct NewShare<'a> {
    /// SHA-256 of its token.
    pub token_hash: &'a [u8],
    /// Milliseconds since 1970 after which it no longer works.
    pub expires_ms: Option<i64>,
    /// What it shows.
    pub scope: ShareScope,
    /// Of what.
    pub opens: &'a Opens,
}

/// A link that works.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenShare {
    /// Its id.
    pub id: Uuid,
    /// What it shows.
    pub scope: ShareScope,
    /// Of what.
    pub opens: Opens,
}

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

fn slo_of(text: &str) -> Result<Slo, StoreError> {
    text.parse().map_err(|_| StoreError::UnknownValue {
        what: "SLO of a link",
        value: text.to_owned(),
    })
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
            configurations: Vec::new(),
        }
    }
}

impl Store {
    /// Keeps a new link; its row, without the path.
    pub async fn insert_share(&self, share: NewShare<'_>) -> Result<ShareRow, StoreError> {
        const SQL: &str = "INSERT INTO shares (id, study, token_hash, created_ms, expires_ms, scope, slo) VALUES ($1, $2, $3, $4, $5, $6, $7)";
        const SIDE: &str = "INSERT INTO share_configurations (share, ordinal, configuration, study) VALUES ($1, $2, $3, $4)";
        let NewShare {
            token_hash,
            expires_ms,
            scope,
            opens,
        } = share;
        let (id, created_ms) = (Uuid::now_v7(), now_ms());
        let (study, sides, slo) = match opens {
            Opens::Study(study) => (Some(*study), &[][..], None),
            Opens::Comparison { sides, slo } => (None, &sides[..], Some(slo.to_string())),
        };
        writing!(self, |tx| {
            let row = sqlx::query(SQL).bind(id).bind(study).bind(token_hash);
            let row = row.bind(created_ms).bind(expires_ms).bind(scope.name());
            row.bind(&slo).execute(&mut *tx).await?;
            for (ordinal, (configuration, study)) in (0_i64..).zip(sides) {
                let side = sqlx::query(SIDE).bind(id).bind(ordinal);
                let side = side.bind(configuration).bind(study);
                side.execute(&mut *tx).await?;
            }
        });
        Ok(ShareRow {
            id,
            path: None,
            created_ms,
            expires_ms,
            revoked: false,
            scope,
            configurations: sides.iter().map(|(it, _)| *it).collect(),
        })
    }

    /// Links that show a study or some of its configurations, newest first.
    pub async fn shares(&self, study: Uuid) -> Result<Vec<ShareRow>, StoreError> {
        const SQL: &str = "SELECT id, created_ms, expires_ms, revoked_ms, scope FROM shares \
                           WHERE study = $1 OR id IN (SELECT share FROM share_configurations WHERE study = $1) ORDER BY created_ms DESC, id DESC";
        const SIDES: &str = "SELECT share, configuration FROM share_configurations \
                             WHERE share IN (SELECT share FROM share_configurations WHERE study = $1) ORDER BY share, ordinal";
        let (rows, sides): (Vec<ShareColumns>, Vec<(Uuid, Uuid)>) = reading!(self, |pool| {
            let rows = sqlx::query_as(SQL).bind(study).fetch_all(pool).await?;
            let sides = sqlx::query_as(SIDES).bind(study).fetch_all(pool).await?;
            (rows, sides)
        });
        let mut rows: Vec<ShareRow> = rows.into_iter().map(Into::into).collect();
        for row in &mut rows {
            let own = sides.iter().filter(|(share, _)| *share == row.id);
            row.configurations = own.map(|(_, it)| *it).collect();
        }
        Ok(rows)
    }

    /// Revokes a link at once; whether it exists.
    pub async fn revoke_share(&self, id: Uuid) -> Result<bool, StoreError> {
        const SQL: &str = "UPDATE shares SET revoked_ms = COALESCE(revoked_ms, $2) WHERE id = $1";
        Ok(0 < changing!(self, sqlx::query(SQL).bind(id).bind(now_ms())))
    }

    /// A link that still works. One to a comparison works whatever became of its configurations' studies.
    pub async fn open_share(&self, token_hash: &[u8]) -> Result<Option<OpenShare>, StoreError> {
        const SQL: &str = "SELECT h.id, h.study, h.scope, h.slo FROM shares h LEFT JOIN studies s ON s.id = h.study \
                           WHERE h.token_hash = $1 AND h.revoked_ms IS NULL AND (h.expires_ms IS NULL OR $2 < h.expires_ms) AND s.deleted_ms IS NULL";
        const SIDES: &str = "SELECT configuration, study FROM share_configurations WHERE share = $1 ORDER BY ordinal";
        type Found = (Uuid, Option<Uuid>, String, Option<String>);
        let found: Option<Found> = reading!(self, |pool| sqlx::query_as(SQL)
            .bind(token_hash)
            .bind(now_ms())
            .fetch_optional(pool)
            .await?);
        let Some((id, study, scope, slo)) = found else {
            return Ok(None);
        };
        let opens = match study {
            Some(study) => Opens::Study(study),
            None => Opens::Comparison {
                sides: reading!(self, |pool| sqlx::query_as(SIDES)
                    .bind(id)
                    .fetch_all(pool)
                    .await?),
                slo: slo_of(&slo.unwrap_or_default())?,
            },
        };
        let scope = scope_of(&scope);
        Ok(Some(OpenShare { id, scope, opens }))
    }

    /// Forgets links to comparisons of which nothing is left.
    pub(super) async fn purge_shares(&self) -> Result<(), StoreError> {
        const SQL: &str = "DELETE FROM shares WHERE study IS NULL AND NOT EXISTS (SELECT 1 FROM share_configurations c \
                           JOIN configurations k ON k.id = c.configuration WHERE c.share = shares.id)";
        changing!(self, sqlx::query(SQL));
        Ok(())
    }
}
