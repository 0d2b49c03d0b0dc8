//! Parts that several pages share.

pub mod badge; // a state, said once, with a word
pub mod bind; // a control and its field of a draft
pub mod browser_only; // values of the browser's one thread
pub mod chart; // picture, live chart, handle, table
pub mod dialog; // modal
pub mod empty; // where there is nothing yet
pub mod erased; // views behind one type
pub mod field; // label, control, hint, error
pub mod format; // numbers as people read them
pub mod html; // what only shows, as text
pub mod number; // numbers on a page, or the reason why there is none
pub mod reactive; // memos, effects
pub mod segmented; // a handful of choices
pub mod theme; // light, dark, or as the system says
pub mod time; // moments
pub mod toast; // short messages, with undo
pub mod upload; // a file on its way to the studio
