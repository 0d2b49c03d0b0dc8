//! The screens, one module each.

#[cfg(feature = "ssr")]
pub mod compare; // configurations side by side, drawn by the server
#[cfg(feature = "ssr")]
pub mod embed; // a shared curve in a frame
mod error;
mod new; // a study to be
mod share; // a study as a link shows it
#[cfg(feature = "ssr")]
pub mod sharing; // links: made, copied, revoked; drawn by the server
mod study; // one study // what could not be shown, and why

pub use error::{ErrorView, NotFoundPage};
#[cfg(feature = "ssr")]
pub use error::{error_page, explained, heading, sentence, told_page};
#[cfg(feature = "ssr")]
pub use new::{ALSO, PLACE, ROOM, ROOM_OF_PLACE, STUDIO, beginning, drawn_key};
pub use new::{Beginning, NewStudyPage};
pub use share::SharePage;
#[cfg(feature = "ssr")]
pub use study::{SCRIPT as STUDY_SCRIPT, cache_word};
pub use study::{StudyPage, main_chart};
