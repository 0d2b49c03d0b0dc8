//! Which rows of a ShareGPT file are used, and why the others are not.

use serde::{Deserialize, Serialize};

use super::ShareGptFilter;

/// Why a row is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Drop {
    /// Fewer than two turns, or none.
    NoTurns,
    /// Not an object, or a turn without text.
    BadRow,
    /// It begins with an answer.
    FirstNotHuman,
    /// The prompt has too few tokens.
    PromptShort,
    /// The answer has too few tokens.
    OutputShort,
    /// The prompt has too many tokens.
    PromptLong,
    /// Prompt and answer together have too many tokens.
    TotalLong,
}

/// Judges one row by its turns, `(role, tokens)` in order; `None` stands for a row that is no object, an empty slice for
/// one without conversations. The limits apply to the first prompt and its answer, as the field's tools apply them; unlike
/// them, a row that begins with an answer is dropped.
pub fn filter_sharegpt(turns: Option<&[(&str, u32)]>, filter: &ShareGptFilter) -> Result<(), Drop> {
    let (role, prompt, output) = match turns {
        None => return Err(Drop::BadRow),
        Some([(role, prompt), (_, output), ..]) => (*role, *prompt, *output),
        Some(_) => return Err(Drop::NoTurns),
    };
    match () {
        () if !matches!(role, "human" | "user") => Err(Drop::FirstNotHuman),
        () if prompt < filter.min_prompt => Err(Drop::PromptShort),
        () if output < filter.min_output => Err(Drop::OutputShort),
        () if filter.max_prompt < prompt => Err(Drop::PromptLong),
        () if filter.max_total < prompt.saturating_add(output) => Err(Drop::TotalLong),
        () => Ok(()),
    }
}
