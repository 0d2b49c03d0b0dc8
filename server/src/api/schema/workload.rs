//! What requests ask.

use super::*;

shapes! {
    /// What requests ask.
    #[serde(rename_all = "snake_case", tag = "kind")]
    enum Workload {
        /// Multi-turn sessions with ShareGPT's lengths and turns.
        ShareGptShaped {
            scale: f64,
            max_turns: u32,
            think_ms: u64,
            max_context: u32,
            /// What later turns carry as answers; the data set's where it is left out.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            answers: Option<Answers>,
        },
        /// A ShareGPT JSON file in the server's data set folder.
        ShareGptFile {
            file: String,
            max_turns: u32,
            think_ms: u64,
            filter: ShareGptFilter,
            /// Tokens asked of every request, whatever the data set's answer.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            output_tokens: Option<u32>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            answers: Option<Answers>,
            /// Whether rows may be used again when there are too few; no where it is left out.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            repeats: Option<bool>,
        },
        /// A JSONL file of prompts in the server's data set folder.
        PromptFile {
            file: String,
            /// Tokens asked where a line says nothing of it.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            output: Option<Lengths>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            repeats: Option<bool>,
        },
        /// Single requests of made-up text.
        Synthetic {
            input: Lengths,
            output: Lengths,
        },
        /// Single requests of made-up text, a share of which begin with one of a few prefixes.
        SharedPrefix {
            families: u32,
            prefix_tokens: u32,
            /// 0 to 1.
            share: f64,
            input: Lengths,
            output: Lengths,
        },
        /// Recorded traffic in the server's data set folder. Levels such as `x2` replay its own arrivals.
        Trace {
            file: String,
            format: TraceFormat,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            start_ms: Option<u64>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            length_ms: Option<u64>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            max_context: Option<u32>,
        },
    }
    /// What the history of a later turn carries as the engine's answer.
    #[serde(rename_all = "snake_case")]
    enum Answers {
        DataSet,
        /// What the engine really answered: such points are never paired.
        Real,
    }
    /// How a trace is written.
    #[serde(rename_all = "snake_case")]
    enum TraceFormat {
        Azure,
        Mooncake,
        BurstGpt,
        Jsonl,
    }
    /// Which rows of a ShareGPT file are used, in tokens.
    struct ShareGptFilter {
        pub min_prompt: u32,
        pub min_output: u32,
        pub max_prompt: u32,
        pub max_total: u32,
    }
    /// Lengths in tokens.
    #[serde(rename_all = "snake_case", tag = "kind")]
    enum Lengths {
        Fixed {
            tokens: u32,
        },
        Uniform {
            min: u32,
            max: u32,
        },
        Normal {
            mean: u32,
            deviation: f64,
            max: u32,
        },
        LogNormal {
            median: u32,
            sigma: f64,
            max: u32,
        },
        /// Each of these is as likely as the next.
        Table {
            values: Vec<u32>,
        },
    }
}
