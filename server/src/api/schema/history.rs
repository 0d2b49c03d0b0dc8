//! Earlier runs of the same.

use super::*;

shapes! {
    /// A study against earlier runs of the same.
    struct HistoryView {
        pub study: Uuid,
        pub name: String,
        pub simulated: bool,
        /// Of rates.
        pub unit: String,
        /// The share by which it may be worse, where that was asked.
        pub allowed: Option<f64>,
        /// Where nothing was allowed: the largest change for the worse that may stay unseen in what passes, as a share.
        pub blind: f64,
        /// Figures that are judged together, each the surer for it.
        pub together: u32,
        /// All operating points together: one that fails is enough.
        pub outcome: Outcome,
        /// Why nothing is judged, or not all of it.
        pub why: Option<String>,
        pub configurations: Vec<ConfigurationHistory>,
    }
    #[serde(rename_all = "snake_case")]
    enum Outcome {
        Pass,
        Fail,
        /// Cannot tell.
        Indeterminate,
        /// There is nothing to judge.
        LeftOut,
    }
    struct ConfigurationHistory {
        pub id: Uuid,
        pub name: String,
        /// The one fact in which runs of the same may differ.
        pub version: Option<String>,
        /// Level by level, the whole curve last.
        pub points: Vec<PointHistory>,
    }
    struct PointHistory {
        /// Null for the whole curve.
        pub level: Option<Value>,
        pub outcome: Outcome,
        pub figures: Vec<FigureHistory>,
    }
    /// One figure. Values are nanoseconds for latencies, a rate per second for the ceiling.
    struct FigureHistory {
        /// `ttft` or `tpot`; null for the ceiling.
        pub metric: Option<String>,
        pub percentile: Option<f64>,
        pub outcome: Outcome,
        /// Why it cannot be told or is not judged, or why it has no value that failed.
        pub why: Option<String>,
        pub value: Option<f64>,
        pub at_ms: i64,
        pub baseline: Option<Baseline>,
        pub change: Option<Change>,
        /// Surely better than the baseline.
        pub improved: bool,
        /// Runs since the last change, on which the baseline rests.
        pub counted: u32,
        /// Oldest first.
        pub runs: Vec<EarlierRun>,
    }
    /// What runs of the same are; one more of them lies between the ends.
    struct Baseline {
        pub value: f64,
        pub lo: f64,
        pub hi: f64,
    }
    /// The new run over the baseline - 1.
    struct Change {
        pub relative: f64,
        pub lo: f64,
        pub hi: f64,
        /// The smallest change that would be seen four times in five.
        pub smallest_seen: f64,
    }
    struct EarlierRun {
        pub study: Uuid,
        pub name: String,
        pub at_ms: i64,
        pub value: f64,
        pub version: Option<String>,
        /// It ran since the last change.
        pub counts: bool,
        /// A new level begins with it.
        pub changed: bool,
    }
}
