//! Links, and what each of them shows.

use super::*;

/// What a link shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShareScope {
    /// The figures of points: no other SLO can be tried.
    Aggregates,
    /// The times of each request as well.
    #[default]
    Requests,
    /// Whatever was recorded, but for addresses and keys: note, tags, every setting, why points failed.
    All,
}

impl ShareScope {
    /// All, the closest first.
    pub const EACH: [Self; 3] = [Self::Aggregates, Self::Requests, Self::All];

    /// In the interface and in the store.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aggregates => "aggregates",
            Self::Requests => "requests",
            Self::All => "all",
        }
    }
}

/// A link to a comparison, as it is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewComparison {
    /// Two or more, of any studies; the first is the baseline.
    pub configurations: Vec<Uuid>,
    /// What judges them; the baseline study's own where nothing is said.
    pub slo: Option<Slo>,
    /// Milliseconds since 1970 after which it no longer works.
    pub expires_ms: Option<i64>,
    /// What it shows.
    pub scope: ShareScope,
}

/// A link: to a study, or to a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShareRow {
    /// For revoking.
    pub id: Uuid,
    /// The link's path, `/s/TOKEN`, of a comparison `/s/TOKEN/compare`; only right after it was made, since only its hash is kept.
    pub path: Option<String>,
    /// Milliseconds since 1970.
    pub created_ms: i64,
    /// Milliseconds since 1970 after which it no longer works.
    pub expires_ms: Option<i64>,
    /// Revoked.
    pub revoked: bool,
    /// What it shows.
    #[serde(default)]
    pub scope: ShareScope,
    /// What it compares, the baseline first; none of a link to a study.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configurations: Vec<Uuid>,
}
