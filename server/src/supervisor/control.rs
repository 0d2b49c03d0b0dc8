//! How others reach a running study.

use std::sync::{Mutex, OnceLock, PoisonError};

use app::studio::StudyState;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Why a study is halted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// A person stops it.
    Person,
    /// The server ends.
    Closing,
    /// Its engine was given to someone else: this server was thought gone.
    LeaseLost,
}

/// The handles of a running study.
#[derive(Default)]
pub(super) struct Control {
    /// Ends what is under load; `why` says whose wish it was.
    pub halted: CancellationToken,
    why: OnceLock<Why>,
    /// A person pressed Continue.
    pub proceed: Notify,
    /// How the study ended and why that is not stored yet: pages say so meanwhile.
    unstored: Mutex<Option<(StudyState, String)>>,
}

impl Control {
    /// Ends the study. The first reason counts.
    pub fn halt(&self, why: Why) {
        let _ = self.why.set(why);
        self.halted.cancel();
    }

    /// The study has ended so, but its end cannot be stored.
    pub fn set_unstored(&self, state: StudyState, problem: &str) {
        let mut unstored = self.unstored.lock().unwrap_or_else(PoisonError::into_inner);
        *unstored = Some((state, problem.to_owned()));
    }

    /// See [`Control::set_unstored`].
    pub fn unstored(&self) -> Option<(StudyState, String)> {
        let unstored = self.unstored.lock();
        unstored.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why it is halted, once it is.
    pub fn why(&self) -> Why {
        self.why.get().copied().unwrap_or(Why::Closing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_counts() {
        let control = Control::default();
        control.halt(Why::Person);
        control.halt(Why::Closing);
        assert!(control.halted.is_cancelled());
        assert_eq!(control.why(), Why::Person);
    }
}
