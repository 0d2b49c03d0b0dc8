//! Links, as programs read them.

use super::*;

shapes! {
    /// A link to a study, or to a comparison.
    struct ShareRow {
        pub id: Uuid,
        /// `/s/TOKEN`, of a comparison `/s/TOKEN/compare`; told once when it is minted.
        pub path: Option<String>,
        pub created_ms: i64,
        pub expires_ms: Option<i64>,
        pub revoked: bool,
        /// `aggregates`, `requests` or `all`.
        pub scope: String,
        /// What it compares, the baseline first; left out of a link to a study.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub configurations: Vec<Uuid>,
    }
}
