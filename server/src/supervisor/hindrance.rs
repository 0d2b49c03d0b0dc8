//! Why nothing can be measured at an engine's address, and what mends just that.

use load::address::AddressError;
use load::{EngineError, ProbeError};

use crate::reach::ReachError;
use crate::studio::engines::sentence;

/// What stands in the way, and what mends just that.
pub(super) fn hindrance(cause: &ProbeError) -> String {
    let (what, mend) = match cause {
        ProbeError::Endpoint(EngineError::Address(AddressError::Unresolved { .. })) => {
            ("The engine is not found", RESUME)
        }
        ProbeError::Endpoint(EngineError::Address(_)) => (
            "Load never goes to this address",
            "Launch a new study with another engine.",
        ),
        ProbeError::Endpoint(_) => ("The engine cannot be used", RESUME),
        ProbeError::Unreachable { .. } | ProbeError::NoAnswer { .. } => {
            ("The engine does not answer", RESUME)
        }
        ProbeError::Untrusted { .. } => (
            "The engine's certificate is not believed",
            "Add the engine again so, and launch a new study.",
        ),
        ProbeError::Unauthorized { .. } => (
            "The engine wants an API key",
            "Add the engine again with it, and launch a new study.",
        ),
        ProbeError::KeyRefused { .. } => (
            "The engine refuses the API key",
            "Where it is a variable, start the studio again with it; then resume the study; finished points are kept.",
        ),
        ProbeError::Busy { .. } => ("The engine is not ready", RESUME),
        ProbeError::Failing { .. } => ("The engine fails", RESUME),
        ProbeError::NoEngine { .. } => ("Something else than an engine answers", RESUME),
    };
    format!("{what}: {}. {mend}", sentence(cause))
}

/// Why an engine cannot be reached as its endpoint says.
pub(super) fn unreachable(cause: &ReachError) -> String {
    format!("The engine cannot be used: {}. {RESUME}", sentence(cause))
}

/// The mend where the same address can be used later.
const RESUME: &str = "Then resume the study; finished points are kept.";

#[cfg(test)]
mod tests {
    use load::NoModels;

    use super::*;

    #[track_caller]
    fn halts(cause: ProbeError, beginning: &str, mend: &str) {
        let text = hindrance(&cause);
        assert!(text.starts_with(beginning) && text.contains(mend), "{text}");
    }

    #[test]
    fn each_hindrance_has_its_own_sentence_and_mend() {
        let url = "http://169.254.169.254".parse().expect("a URL");
        let refused = load::address::resolve(&url).expect_err("refused");
        let refused = ProbeError::Endpoint(EngineError::Address(refused));
        halts(refused, "Load never goes to this address", "another engine");
        let gone = ProbeError::Unreachable {
            why: "refused".into(),
        };
        halts(gone, "The engine does not answer", "start the engine");
        let no_key = ProbeError::Unauthorized { status: 401 };
        halts(
            no_key,
            "The engine wants an API key",
            "Add the engine again",
        );
        let wrong_key = ProbeError::KeyRefused {
            status: 401,
            key: "the environment variable VLLM_API_KEY".into(),
        };
        halts(wrong_key, "The engine refuses the API key", "VLLM_API_KEY");
        let busy = ProbeError::Busy { status: 503 };
        halts(busy, "The engine is not ready", "wait until it is ready");
        let page = ProbeError::NoEngine {
            what: NoModels::Other,
        };
        halts(page, "Something else than an engine", "port and path");
        halts(
            ProbeError::Failing { status: 500 },
            "The engine fails",
            "log",
        );
    }
}
