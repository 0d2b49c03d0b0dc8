//! Configurations side by side.

use super::*;

shapes! {
    /// Configurations side by side.
    struct CompareView {
        pub slo: String,
        /// The first is the baseline.
        pub configurations: Vec<ComparedConfiguration>,
        pub pairs: Vec<PairComparison>,
    }
    /// One configuration of a comparison.
    struct ComparedConfiguration {
        pub study: Uuid,
        pub study_name: String,
        pub simulated: bool,
        pub configuration: ConfigurationView,
        pub points: Vec<PointView>,
    }
    /// Candidate against baseline.
    struct PairComparison {
        /// Index into `configurations`.
        pub candidate: u32,
        /// `one_variable`, `identical` or `confounded`, with what differs.
        pub comparability: Value,
        /// Left out when the verdict is withheld.
        pub ceilings: Option<Value>,
        pub ceilings_by_percentile: Option<Value>,
        /// Percentiles of TTFT and TPOT at each level that both have, with difference, interval and verdict.
        pub latencies: Vec<Value>,
        /// Level, difference and verdict.
        pub attainment: Vec<Value>,
        /// The same along the curve: `metric` (null for attainment), `percentile`, `levels`, `difference`, `verdict` and
        /// whether it is `uneven` from level to level.
        pub along: Vec<Value>,
        /// The baseline's second half against its first: `unknown`, `steady` with the smallest change that would have been
        /// seen, of any median and (`watched`) of each that was judged, `restless` with what runs of one side differ by, or `drifted` with metric and change. Null when the verdict is withheld.
        pub drift: Option<Value>,
        /// How many differences were judged together; their intervals are as wide as that takes.
        pub together: u32,
        /// The last three in words.
        pub said: Vec<String>,
    }
}
