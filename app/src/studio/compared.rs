//! Configurations side by side.

use super::*;

/// One configuration on the compare page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedConfiguration {
    /// Its study.
    pub study: Uuid,
    /// The study's name.
    pub study_name: String,
    /// Runs on the simulator.
    pub simulated: bool,
    /// The configuration.
    pub configuration: ConfigurationView,
    /// Its points.
    pub points: Vec<PointView>,
}

/// Candidate against baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairComparison {
    /// Index into [`CompareView::configurations`].
    pub candidate: u32,
    /// What differs.
    pub comparability: Comparability,
    /// The ceilings by attainment; `None` when the verdict is withheld.
    pub ceilings: Option<CeilingComparison>,
    /// The ceilings by percentile.
    pub ceilings_by_percentile: Option<CeilingComparison>,
    /// TTFT and TPOT p50, p95, p99 at each level that both have.
    pub latencies: Vec<Comparison>,
    /// Attainment at each level that both have.
    pub attainment: Vec<(Level, Option<Difference>, Verdict)>,
    /// The same along the curve; only the server knows of it, pages show [`PairComparison::said`].
    #[serde(default, skip_deserializing)]
    pub along: Vec<Along>,
    /// Whether the baseline itself changed; as above. `None` when the verdict is withheld.
    #[serde(default, skip_deserializing)]
    pub drift: Option<Drift>,
    /// How many differences of the page were judged together; as above.
    #[serde(default, skip_deserializing)]
    pub together: u32,
    /// What was found along the curve, of drift, and how surely, in words.
    #[serde(default)]
    pub said: Vec<String>,
}

/// The compare page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompareView {
    /// The SLO by which all are judged (the baseline study's, or the one in the URL).
    pub slo: Slo,
    /// Two or more; the first is the baseline.
    pub configurations: Vec<ComparedConfiguration>,
    /// Each other one against the baseline.
    pub pairs: Vec<PairComparison>,
}
