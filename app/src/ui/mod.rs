//! Parts that several pages share.

pub mod theme; // light, dark, or as the system says
pub mod format; // numbers as people read them
pub mod time; // moments
pub mod number; // numbers on a page, or the reason why there is none
pub mod badge; // a state, said once, with a word
pub mod bind; // a control and its field of a draft
pub mod field; // label, control, hint, error
pub mod segmented; // a handful of choices
pub mod dialog; // modal
pub mod toast; // short messages, with undo
pub mod empty; // where there is nothing yet
