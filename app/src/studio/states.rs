//! Where a study and its points stand.

use super::*;

/// Where a study stands. Said once, as a badge with a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StudyState {
    /// Waits for its engine.
    Queued,
    /// Runs.
    Running,
    /// Waits for a person to press Continue: to restart the engine first, or because a person paused it ([`Hold`]).
    Waiting,
    /// Every point finished.
    Finished,
    /// A person stopped it; finished points are kept.
    Stopped,
    /// The server went away in the middle; it can be resumed.
    Interrupted,
    /// It could not go on; `StudyView::problem` says why.
    Failed,
}

/// Whether a person holds a study.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// Nobody does.
    #[default]
    None,
    /// It will pause after the point under load.
    Asked,
    /// It has paused: it waits for Continue, and keeps its engine.
    Paused,
}

impl Hold {
    /// As it follows from a study's state and from whether a pause was asked for.
    pub fn of(state: StudyState, asked: bool) -> Self {
        match state {
            StudyState::Queued | StudyState::Running if asked => Self::Asked,
            StudyState::Waiting if asked => Self::Paused,
            _ => Self::None,
        }
    }

    pub(super) fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// Where a point stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PointState {
    /// Not begun.
    Planned,
    /// Under load now.
    Running,
    /// Measured and stored; never changes again.
    Finished,
    /// Its engine did not start, or died under load; `PointView::problem` says why. It is measured when the study resumes.
    Failed,
    /// Begun and not finished; it is measured anew, whole, when the study resumes.
    Interrupted,
    /// A person ended it under load; what it recorded is kept, it counts in no figure, and it is never measured again.
    Skipped,
}

impl PointState {
    /// Whether nothing more becomes of it, also when its study resumes.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Skipped)
    }
}
