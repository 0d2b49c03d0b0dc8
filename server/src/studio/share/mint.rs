//! Links are made and taken back.

use app::studio::{NewComparison, ShareRow, ShareScope, StudioError};
use rand::TryRng;
use rand::rngs::SysRng;
use uuid::Uuid;

use super::super::{LocalStudio, compare, conflict, internal, invalid, missing};
use super::hash;
use crate::store::{NewShare, Opens, now_ms};

/// Links of one study at most, revoked ones included, and those to comparisons with a configuration of it.
const SHARES: usize = 200;

const DAY_MS: i64 = 24 * 3600 * 1000;

/// A link lives so long, unless it is asked to live shorter or longer: most are looked at within days, and are forgotten then.
const LIFETIME_MS: i64 = 30 * DAY_MS;

/// A link lives a year at the longest.
const LONGEST_MS: i64 = 365 * DAY_MS;

impl LocalStudio {
    /// Mints a link to a study.
    pub(in crate::studio) async fn mint_share(
        &self,
        study: Uuid,
        expires_ms: Option<i64>,
        scope: ShareScope,
    ) -> Result<ShareRow, StudioError> {
        self.stored(study).await?;
        self.mint(&Opens::Study(study), expires_ms, scope).await
    }

    /// Mints a link to a comparison.
    pub(in crate::studio) async fn mint_comparison(
        &self,
        asked: NewComparison,
    ) -> Result<ShareRow, StudioError> {
        let NewComparison {
            configurations,
            slo,
            expires_ms,
            scope,
        } = asked;
        compare::check("configurations", &configurations)?;
        let (mut sides, mut own) = (Vec::new(), None);
        for id in configurations {
            let found = self.store.configuration(id).await.map_err(internal)?;
            let study = found.ok_or_else(|| missing("configuration"))?.study;
            let study = self.stored(study).await;
            let study = study.map_err(|_| missing("configuration"))?;
            own.get_or_insert(study.spec.slo);
            sides.push((id, study.id));
        }
        let slo = slo.or(own).ok_or_else(|| missing("configuration"))?;
        let opens = Opens::Comparison { sides, slo };
        self.mint(&opens, expires_ms, scope).await
    }

    /// Mints a link: 256 random bits, of which only the hash is kept.
    async fn mint(
        &self,
        opens: &Opens,
        expires_ms: Option<i64>,
        scope: ShareScope,
    ) -> Result<ShareRow, StudioError> {
        let expires_ms = ends(expires_ms)?;
        for study in studies(opens) {
            if SHARES <= self.store.shares(study).await.map_err(internal)?.len() {
                return Err(conflict(format!("a study has at most {SHARES} links")));
            }
        }
        let mut random = [0; 32];
        SysRng.try_fill_bytes(&mut random).map_err(internal)?;
        let token = hex(&random);
        let share = NewShare {
            token_hash: &hash(&token),
            expires_ms: Some(expires_ms),
            scope,
            opens,
        };
        let row = self.store.insert_share(share).await.map_err(internal)?;
        let place = match opens {
            Opens::Study(_) => "",
            Opens::Comparison { .. } => "/compare",
        };
        Ok(ShareRow {
            path: Some(format!("/s/{token}{place}")),
            ..row
        })
    }

    /// Takes a link back.
    pub(in crate::studio) async fn revoke_share(&self, share: Uuid) -> Result<(), StudioError> {
        let revoked = self.store.revoke_share(share).await.map_err(internal)?;
        revoked.then_some(()).ok_or_else(|| missing("link"))
    }
}

/// When a link ends that is asked to live until then.
fn ends(asked: Option<i64>) -> Result<i64, StudioError> {
    let ends = asked.unwrap_or(now_ms() + LIFETIME_MS);
    let ends = ends.min(now_ms() + LONGEST_MS);
    if ends <= now_ms() {
        return Err(invalid("expires_ms", "choose a time in the future"));
    }
    Ok(ends)
}

/// Each study that a link shows something of, once.
fn studies(opens: &Opens) -> Vec<Uuid> {
    let mut studies = match opens {
        Opens::Study(study) => vec![*study],
        Opens::Comparison { sides, .. } => sides.iter().map(|(_, study)| *study).collect(),
    };
    studies.sort_unstable();
    studies.dedup();
    studies
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_hex() {
        assert_eq!(hex(&[0, 15, 255]), "000fff");
    }
}
