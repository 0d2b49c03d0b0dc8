//! A state, said once, with a word. Its dot repeats the word; it never says it alone.

use crate::ui::erased::shared;
use leptos::prelude::*;

use crate::studio::{PointState, StudyState, StudyView};

/// How a badge is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Neither good nor bad.
    #[default]
    Plain,
    /// As it should be.
    Good,
    /// To be looked at.
    Warn,
    /// Wrong.
    Bad,
    /// Happening now, or to be acted on.
    Accent,
}

impl Tone {
    /// The value of `data-tone`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Good => "good",
            Self::Warn => "warn",
            Self::Bad => "bad",
            Self::Accent => "accent",
        }
    }
}

/// A word with its tone, its mark and what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word itself.
    pub word: &'static str,
    /// Its tone.
    pub tone: Tone,
    /// Its dot: `full`, `hollow`, `half` or `pulse`.
    pub mark: &'static str,
    /// What it means, on hover.
    pub about: &'static str,
}

const fn word(word: &'static str, tone: Tone, mark: &'static str, about: &'static str) -> Word {
    Word {
        word,
        tone,
        mark,
        about,
    }
}

/// Measured on the simulator: never mistaken for a real engine.
pub const SIMULATED: Word = word(
    "simulated",
    Tone::Warn,
    "half",
    "Measured on the built-in simulator: it says nothing about a real engine.",
);
/// Lengths are fixed: real traffic is never so even.
pub const TOY: Word = word(
    "toy",
    Tone::Warn,
    "half",
    "Every request has the same length; real traffic is never so even.",
);
/// The model only shows that an engine works.
pub const TOY_MODEL: Word = word(
    "toy model",
    Tone::Warn,
    "half",
    "The model is too small to say anything of those that people use.",
);
/// Nobody looked at the engine's certificate.
pub const INSECURE: Word = word(
    "insecure",
    Tone::Warn,
    "half",
    "No certificate was checked: whoever stood between could have read and changed everything.",
);
/// Opened from a bundle.
pub const IMPORTED: Word = word(
    "imported",
    Tone::Plain,
    "hollow",
    "Measured elsewhere and opened from a file: it never changes.",
);
/// The client's certificate is void.
pub const VOID: Word = word(
    "void",
    Tone::Bad,
    "hollow",
    "The client did not send as scheduled: kept, but used for no ceiling and no verdict.",
);
/// The client's certificate is suspect.
pub const SUSPECT: Word = word(
    "suspect",
    Tone::Warn,
    "half",
    "The client may have shaped these numbers.",
);
/// The client's certificate is clean.
pub const CLEAN: Word = word(
    "clean",
    Tone::Good,
    "full",
    "The client sent every request when it was due.",
);
/// The cache was not known to be cold.
pub const CONTAMINATED: Word = word(
    "contaminated",
    Tone::Warn,
    "half",
    "An earlier point may have warmed the prefix cache.",
);
/// More than one thing differs.
pub const CONFOUNDED: Word = word(
    "confounded",
    Tone::Bad,
    "hollow",
    "More than one thing differs, so no verdict can name the cause.",
);

/// What every page that shows a study's figures says of them.
pub fn marks_of(study: &StudyView) -> Vec<Word> {
    let of = |is: bool, word: Word| is.then_some(word);
    let all = [
        of(study.is_simulated(), SIMULATED),
        of(study.is_insecure(), INSECURE),
        of(study.spec.workload.is_toy(), TOY),
        of(study.is_toy_model(), TOY_MODEL),
    ];
    all.into_iter().flatten().collect()
}

/// The word for a study's state.
pub fn study_word(state: StudyState) -> Word {
    match state {
        StudyState::Queued => word(
            "queued",
            Tone::Plain,
            "hollow",
            "Waits until its engine is free.",
        ),
        StudyState::Running => word(
            "running",
            Tone::Accent,
            "pulse",
            "Points are being measured now.",
        ),
        StudyState::Waiting => word(
            "waiting",
            Tone::Warn,
            "half",
            "Waits for a person to press Continue; its page says why.",
        ),
        StudyState::Finished => word(
            "finished",
            Tone::Good,
            "full",
            "Every point is measured, but for those that a person skipped.",
        ),
        StudyState::Stopped => word(
            "stopped",
            Tone::Plain,
            "full",
            "Stopped by a person; finished points are kept.",
        ),
        StudyState::Interrupted => word(
            "interrupted",
            Tone::Warn,
            "hollow",
            "The studio went away in the middle; it can be resumed.",
        ),
        StudyState::Failed => word(
            "failed",
            Tone::Bad,
            "full",
            "It could not go on; its page says why.",
        ),
    }
}

/// The word for a point's state.
pub fn point_word(state: PointState) -> Word {
    match state {
        PointState::Planned => word("planned", Tone::Plain, "hollow", "Not begun."),
        PointState::Running => word("running", Tone::Accent, "pulse", "Under load now."),
        PointState::Finished => word(
            "finished",
            Tone::Good,
            "full",
            "Measured and stored; it never changes again.",
        ),
        PointState::Interrupted => word(
            "interrupted",
            Tone::Warn,
            "hollow",
            "Begun and not finished; it is measured anew when the study resumes.",
        ),
        PointState::Failed => word(
            "failed",
            Tone::Bad,
            "hollow",
            "Its engine did not start, or died under load; it is measured when the study resumes.",
        ),
        PointState::Skipped => word(
            "skipped",
            Tone::Plain,
            "hollow",
            "Ended by a person under load: its requests are kept, and no figure counts them.",
        ),
    }
}

/// A badge.
#[component]
pub fn Badge(
    /// What it says.
    #[prop(into)]
    word: Signal<Word>,
) -> impl IntoView {
    view! {
        <span
            class="badge"
            data-word=move || word.get().word
            data-tone=move || word.get().tone.name()
            data-mark=move || word.get().mark
            title=move || word.get().about
        >
            {shared(move || word.get().word)}
        </span>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_a_word_of_its_own() {
        use StudyState::{Failed, Finished, Interrupted, Queued, Running, Stopped, Waiting};
        let words: Vec<_> = [
            Queued,
            Running,
            Waiting,
            Finished,
            Stopped,
            Interrupted,
            Failed,
        ]
        .map(|state| study_word(state).word)
        .to_vec();
        assert_eq!(
            words,
            [
                "queued",
                "running",
                "waiting",
                "finished",
                "stopped",
                "interrupted",
                "failed"
            ]
        );
    }

    #[test]
    fn words_differ_without_colour() {
        // Meaning never by colour alone: tone aside, word and explanation tell them apart.
        let badges = [
            SIMULATED,
            TOY,
            VOID,
            SUSPECT,
            CLEAN,
            CONTAMINATED,
            CONFOUNDED,
        ];
        for (index, one) in badges.iter().enumerate() {
            for other in &badges[index + 1..] {
                assert_ne!(one.word, other.word);
                assert_ne!(one.about, other.about);
            }
        }
    }
}
