//! What was seen beside a point's requests.

use super::*;

shapes! {
    /// What was seen beside a point's requests, and what follows from it.
    struct Evidence {
        /// The version of this shape: 1.
        pub version: u32,
        /// Quantities over time, of `client`, `engine`, `gpu` and `host`.
        pub tracks: Vec<Track>,
        /// Numbers of the whole point, in words.
        pub figures: Vec<Figure>,
        /// Where the time before the first tokens went, in shares of all of it: `{"requests", "seconds", "parts": [{"name",
        /// "share", "percentiles": [[p50, p95, p99], count]}]}`, each percentile `{"lo", "value", "hi"}` in seconds. Null where
        /// the engine does not tell.
        pub ttft: Option<Value>,
        pub foreign: Foreign,
        pub cache: Cache,
        /// Processor time on the client's host, in core-seconds: `{"cores", "seconds", "own", "engine", "others", "steal",
        /// "engine_among_others"}`.
        pub host: Option<Value>,
        /// How long a connection to the engine took to open, before and after: `{"min", "median", "tries"}` in nanoseconds.
        pub round_trips: Vec<Option<Value>>,
        pub joules_per_output_token: Option<f64>,
        /// What is to be said, a sentence each, what cannot be told among it.
        pub statements: Vec<String>,
        /// Whether `/api/v1/points/{id}/metrics` has the text of the engine's pages.
        pub metrics_kept: bool,
    }
    /// What one page, or the host, told over time.
    struct Track {
        pub of: String,
        /// When, in milliseconds from the point's start; negative before.
        pub at_ms: Vec<i64>,
        pub series: Vec<Series>,
    }
    /// One quantity over time.
    struct Series {
        pub key: String,
        pub label: String,
        pub unit: String,
        /// One value a moment; of a counter or a histogram that of the time since the moment before.
        pub values: Vec<Option<f64>>,
        /// Surely not below these, where values are known by their buckets.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub lo: Vec<Option<f64>>,
        /// Surely not above these.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub hi: Vec<Option<f64>>,
    }
    /// A number in words.
    struct Figure {
        pub name: String,
        pub value: String,
    }
    /// Was anybody else there.
    struct Foreign {
        /// `alone`, `hardly`, `others` (the point is void) or `cannot_tell`.
        pub presence: String,
        pub counted_requests: Option<f64>,
        pub counted_output_tokens: Option<f64>,
        /// `{"requests", "output_tokens"}`, the warm-up's too.
        pub sent: Value,
        pub sentence: String,
    }
    /// Was the prefix cache as cold as the workload says.
    struct Cache {
        /// `as_expected`, `contaminated`, `colder` or `cannot_tell`.
        pub warmth: String,
        /// What requests share at most by the workload alone: `{"input_tokens", "tokens", "own_tokens", "block", "block_known"}`.
        pub expected: Option<Value>,
        /// Tokens found in the cache.
        pub observed_tokens: Option<f64>,
        pub sentence: String,
    }
    /// A point by one tool's rules.
    struct RulesTable {
        /// `vllm`, `sglang`, `guidellm`, `aiperf` or `mlperf`.
        pub tool: String,
        /// What it is called, and in which version its rules are these.
        pub title: String,
        pub rows: Vec<RulesRow>,
    }
    /// A metric by both rules.
    struct RulesRow {
        pub metric: String,
        /// `ms`, `req/s`, `tok/s`, `%` or nothing.
        pub unit: String,
        /// By the studio's rules: a number, or p50, p95 and p99. Null where there is no value, or where failures make it infinite.
        pub ours: Value,
        /// By the tool's.
        pub theirs: Value,
        pub same: bool,
        /// What the tool does otherwise; empty where they agree.
        pub why: String,
    }
}
