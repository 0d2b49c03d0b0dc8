//! Why a point's prompts cannot be made.

use std::path::PathBuf;

/// Why a point's prompts cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// A data set that lies elsewhere.
    #[error(
        "the data set {file:?} must be a plain file name in the data folder, without any folder"
    )]
    NotAFileName {
        /// As named.
        file: String,
    },
    /// It cannot be read.
    #[error("the data set {} cannot be read; check that it is there and readable", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// It is something else.
    #[error("the data set {} is not in ShareGPT's form ({why}); it must be one JSON array of {{\"id\", \"conversations\": [{{\"from\", \"value\"}}]}}", path.display())]
    NotShareGpt {
        /// The file.
        path: PathBuf,
        /// What came instead, and where.
        why: String,
    },
    /// A line of a file that is read line by line.
    #[error("the data set {}, line {line}: {why}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Which one, counted from 1.
        line: u64,
        /// What is wrong with it, and the mend.
        why: String,
    },
    /// A row that would fill the memory.
    #[error("the data set {}: conversation {row} is larger than {mebibytes} MiB; take it out or cut it", path.display())]
    RowTooLarge {
        /// The file.
        path: PathBuf,
        /// Which one, counted from 1.
        row: u64,
        /// The bound.
        mebibytes: u64,
    },
    /// There is too little of it.
    #[error(
        "the data set {} has {usable} usable conversations with {held} requests but the point needs at least {sessions} of them and {requests} requests ({dropped}); loosen the filter, shorten the point, take a larger file, or have rows used again (--allow-repeats), which may hit the prefix cache",
        path.display()
    )]
    TooFewRows {
        /// The file.
        path: PathBuf,
        /// Conversations that pass the filter.
        usable: usize,
        /// Their requests.
        held: usize,
        /// Conversations needed.
        sessions: usize,
        /// Requests needed.
        requests: usize,
        /// How many were dropped for which reason.
        dropped: String,
    },
    /// A prompt file that is too short.
    #[error(
        "the prompt file {} has {usable} prompts but the point needs {needed}; shorten the point, take a larger file, or have rows used again (--allow-repeats), which may hit the prefix cache",
        path.display()
    )]
    TooFewPrompts {
        /// The file.
        path: PathBuf,
        /// Its prompts.
        usable: usize,
        /// Prompts needed.
        needed: usize,
    },
    /// A trace with too little in the part that is to be replayed.
    #[error(
        "the trace {} has {usable} usable requests in the part to be replayed but the point needs {needed} ({dropped}); take a longer part, a shorter point, or fewer requests",
        path.display()
    )]
    ShortTrace {
        /// The file.
        path: PathBuf,
        /// Usable rows in the window.
        usable: usize,
        /// Requests needed.
        needed: usize,
        /// How many were dropped for which reason.
        dropped: String,
    },
    /// Time in which nothing would happen.
    #[error(
        "no request is due within {seconds} s at {rate} requests a second; give it more time, or a higher rate"
    )]
    NothingDue {
        /// The time.
        seconds: f64,
        /// The rate.
        rate: f64,
    },
    /// A level that replays what is no trace.
    #[error("only a trace has a speed; give a rate instead of {level}, or a trace as the workload")]
    NoTrace {
        /// The level.
        level: String,
    },
    /// Lengths that cannot be counted.
    #[error(transparent)]
    Tokens(crate::tokens::TokenError),
    /// A body that is no JSON; not in practice.
    #[error("a request body could not be written")]
    Body(#[source] serde_json::Error),
}
