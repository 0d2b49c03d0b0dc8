//! Why nothing can be said of a URL: each hindrance with its own mend.

use std::time::Duration;

use crate::engine::EngineError;

/// Why nothing can be said of a URL.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The endpoint itself: its URL, key or headers.
    #[error(transparent)]
    Endpoint(EngineError),
    /// No connection.
    #[error("nothing answers there ({why}); start the engine, or check host and port")]
    Unreachable {
        /// What the connection said.
        why: String,
    },
    /// Its certificate is not believed.
    #[error(
        "the engine's certificate is not believed ({why}); name its authority (--ca-file, or the CA file of its connection), or believe anybody (--insecure)"
    )]
    Untrusted {
        /// What is wrong with it.
        why: String,
    },
    /// Silence.
    #[error("the engine did not answer within {} ms; it may still be loading its model", waited.as_millis())]
    NoAnswer {
        /// The limit.
        waited: Duration,
    },
    /// It wants a key.
    #[error(
        "the engine refuses to list its models with status {status}; name the environment variable or the stored secret that holds its API key"
    )]
    Unauthorized {
        /// 401 or 403.
        status: u16,
    },
    /// It has a key, and does not want it.
    #[error("the engine refuses the API key with status {status}; put the right key into {key}")]
    KeyRefused {
        /// 401 or 403.
        status: u16,
        /// Where the key came from, in words.
        key: String,
    },
    /// It is there, but not now.
    #[error(
        "the engine answers with status {status}: it is loading its model or has too much to do; wait until it is ready"
    )]
    Busy {
        /// 429, 502, 503 or 504.
        status: u16,
    },
    /// It fails.
    #[error("the engine fails to list its models with status {status}; its own log says why")]
    Failing {
        /// 500 or more.
        status: u16,
    },
    /// It answers, but not as an engine does.
    #[error(
        "no engine that speaks this dialect answers there ({what}); check port and path, and the dialect"
    )]
    NoEngine {
        /// What it answered.
        what: NoModels,
    },
}

/// What something that is no engine answers where it should list its models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoModels {
    /// A status that is no success.
    Status(u16),
    /// A success that lists no models: a web page, say.
    Other,
}

impl std::fmt::Display for NoModels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Status(status) => write!(f, "its list of models gave status {status}"),
            Self::Other => f.write_str("its list of models is something else, perhaps a web page"),
        }
    }
}
