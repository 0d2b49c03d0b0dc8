//! Why a point is slow.

use super::*;

shapes! {
    /// Why a point is slow, as far as its own figures tell.
    struct Diagnosis {
        /// The version of this shape and of the rules.
        pub version: u32,
        pub answer: DiagnosisAnswer,
        /// Every cause, in the order in which they count.
        pub findings: Vec<Finding>,
        /// What this engine calls the first knob of the cause that is named. Null where it has none, or nothing is named.
        pub flag: Option<KnobFlag>,
        /// Where it is from what the hardware allows, in a sentence; null where nobody states which it is, and on the simulator.
        pub hardware: Option<String>,
    }
    /// The answer.
    #[serde(rename_all = "snake_case", tag = "kind")]
    enum DiagnosisAnswer {
        /// This one, before any other that is shown as well.
        Named {
            cause: String,
        },
        /// One of these; what would tell them apart is missing.
        OneOf {
            causes: Vec<String>,
        },
        /// Every cause is ruled out.
        NothingToMend,
        /// Nothing is shown, and not everything is ruled out.
        CannotTell {
            why: Vec<String>,
        },
    }
    /// One cause, with its evidence.
    struct Finding {
        /// `client_bound`, `warm_cache`, `network_bound`, `drafts_refused`, `cold_cache`, `evicted_prefixes`, `kv_pressure`,
        /// `kv_bound`, `prefill_bound`, `too_little_concurrency`, `queue_spikes`, `long_prefills`, `eager_launches`, `slow_host` or
        /// `above_capacity`.
        pub cause: String,
        /// `shown`, `possible`, `cannot_tell` or `ruled_out`.
        pub standing: String,
        /// Figures that speak for it, each with its threshold.
        pub speaks_for: Vec<String>,
        pub speaks_against: Vec<String>,
        /// What cannot be known, and for lack of what.
        pub missing: Vec<String>,
        /// `{"turn", "prediction": {"figure", "change"}}` where it is shown or possible: what to turn first, and what must happen then. `figure` is
        /// a word (`ttft_p50`), or `{"short_ttft_p99": {"up_to": 40}}`; `change` is `{"falls_by": 0.5}`, `{"rises_by": 0.1}` or
        /// `{"below": nanoseconds}`.
        pub advice: Option<Value>,
    }
    /// A flag of the engine.
    struct KnobFlag {
        /// Without dashes.
        pub name: String,
        /// What it is, where anybody knows.
        pub now: Option<String>,
        /// What to set it to; null where that depends.
        pub value: Option<String>,
        /// The page of a new study that turns it alone and remembers the prediction.
        pub link: Option<String>,
    }
    /// Why a study's configurations are slow, and what it was begun to try.
    struct StudyDiagnosis {
        /// Baseline first.
        pub configurations: Vec<ConfigurationDiagnosis>,
        pub tried: Option<TriedPrediction>,
    }
    /// A configuration with the diagnosis of the point that matters.
    struct ConfigurationDiagnosis {
        pub id: Uuid,
        pub name: String,
        /// Null where none is finished.
        pub point: Option<Uuid>,
        pub level: Option<Value>,
        /// `above_ceiling` and `above_capacity`: the first level that is; else `highest`.
        pub chosen: Option<String>,
        /// Null where the point is too large to be worked out at once: ask for it by itself.
        pub diagnosis: Option<Diagnosis>,
    }
    /// What a study was begun to try, and what came of it.
    struct TriedPrediction {
        /// The study and the point whose diagnosis foretold it, and that point's level, at which it is judged.
        pub study: Uuid,
        pub point: Uuid,
        pub level: Value,
        pub cause: String,
        pub turn: String,
        /// The flag, what it was where anybody knew, and what it was turned to.
        pub knob: String,
        pub was: Option<String>,
        pub value: String,
        /// `{"figure", "change"}`, as in a finding's advice.
        pub prediction: Value,
        /// By the values: `{"came", "sure", "before", "after", "bound"}`, times in nanoseconds. Null before both configurations are finished.
        pub outcome: Option<Value>,
        /// By the 95 % intervals of both values: `true`, `false`, or `cannot_tell` where they reach over the bound. Null likewise.
        pub verdict: Option<String>,
    }
    /// How a rule has fared: its predictions that studies of this studio were begun to try.
    struct RuleRecord {
        pub cause: String,
        /// Its name for people.
        pub title: String,
        pub said: u32,
        pub came_true: u32,
        pub did_not: u32,
        pub cannot_tell: u32,
        /// Those whose study has not ended.
        pub open: u32,
    }
}
