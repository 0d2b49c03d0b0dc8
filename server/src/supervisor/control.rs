//! How others reach a running study.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use app::studio::StudyState;
use load::launch::Said;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::studio::left::Told;

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

/// A point that is being measured.
struct UnderLoad {
    point: Uuid,
    end: CancellationToken,
    skipped: bool,
}

/// The handles of a running study.
#[derive(Default)]
pub(super) struct Control {
    /// Ends what is under load; `why` says whose wish it was.
    pub halted: CancellationToken,
    why: OnceLock<Why>,
    /// A person pressed Continue.
    pub proceed: Notify,
    /// The point under load, what ends it alone, and whether a person did.
    point: Mutex<Option<UnderLoad>>,
    /// The start of the engine under measurement, and what it says.
    said: Mutex<Option<(Uuid, Said)>>,
    /// The time left, as it is told.
    told: Mutex<Told>,
    /// How the study ended and why that is not stored yet: pages say so meanwhile.
    unstored: Mutex<Option<(StudyState, String)>>,
}

impl Control {
    /// Ends the study. The first reason counts.
    pub fn halt(&self, why: Why) {
        let _ = self.why.set(why);
        self.halted.cancel();
    }

    /// This point is under load now, and `end` ends it.
    pub fn under_load(&self, point: Uuid, end: CancellationToken) {
        let skipped = false;
        *locked(&self.point) = Some(UnderLoad {
            point,
            end,
            skipped,
        });
    }

    /// No point is under load any more. Whether a person had ended it.
    pub fn relieved(&self) -> bool {
        let point = locked(&self.point).take();
        point.is_some_and(|it| it.skipped)
    }

    /// A person ends a point; nothing where another one, or none, is under load.
    pub fn skip(&self, point: Uuid) {
        if let Some(current) = locked(&self.point)
            .as_mut()
            .filter(|it| it.point == point && !it.skipped)
        {
            current.skipped = true;
            current.end.cancel();
        }
    }

    /// The engine under measurement says this; `None`: it is gone.
    pub fn hear(&self, said: Option<(Uuid, Said)>) {
        *locked(&self.said) = said;
    }

    /// What the engine under measurement has said so far, with its start.
    pub fn said(&self) -> Option<(Uuid, String)> {
        let said = locked(&self.said).clone()?;
        Some((said.0, said.1.text()))
    }

    /// The time left.
    pub fn told(&self) -> MutexGuard<'_, Told> {
        locked(&self.told)
    }

    /// The study has ended so, but its end cannot be stored.
    pub fn set_unstored(&self, state: StudyState, problem: &str) {
        *locked(&self.unstored) = Some((state, problem.to_owned()));
    }

    /// See [`Control::set_unstored`].
    pub fn unstored(&self) -> Option<(StudyState, String)> {
        locked(&self.unstored).clone()
    }

    /// Why it is halted, once it is.
    pub fn why(&self) -> Why {
        self.why.get().copied().unwrap_or(Why::Closing)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_point_that_is_named_is_skipped_and_only_once() {
        let (control, end) = (Control::default(), CancellationToken::new());
        let [first, second] = [1, 2].map(Uuid::from_u128);
        control.skip(first);
        control.under_load(second, end.clone());
        control.skip(first);
        assert!(!end.is_cancelled());
        control.skip(second);
        control.skip(second);
        assert!(end.is_cancelled() && !control.halted.is_cancelled());
        assert!(control.relieved());
        assert!(!control.relieved());
    }

    #[test]
    fn the_first_reason_counts() {
        let control = Control::default();
        control.halt(Why::Person);
        control.halt(Why::Closing);
        assert!(control.halted.is_cancelled());
        assert_eq!(control.why(), Why::Person);
    }
}
