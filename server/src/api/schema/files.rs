//! Files that workloads name.

use super::*;

shapes! {
    /// A file that a workload can name.
    struct DatasetRow {
        pub file: String,
        pub bytes: u64,
        /// What it is, by its content; null where it is nothing that is known.
        pub kind: Option<DataKind>,
        /// Its rows, once it was read to its end: conversations, prompts, requests, or tokens of a vocabulary.
        pub rows: Option<u64>,
    }
    /// What a file is.
    #[serde(rename_all = "snake_case")]
    enum DataKind {
        /// A JSON array of conversations.
        ShareGpt,
        /// JSON Lines of prompts.
        Prompts,
        Azure,
        BurstGpt,
        Mooncake,
        /// A trace in JSON Lines of the studio's own.
        Jsonl,
        /// A model's `tokenizer.json`.
        Tokenizer,
    }
}
