//! The screens, one module each.

mod compare; // configurations side by side
mod engines; // which engines there are
mod error;
mod new; // a study to be
mod point; // one point
mod share; // a study as a link shows it
mod start; // studies, newest first
mod study; // one study // what could not be shown, and why

pub use compare::ComparePage;
pub use engines::EnginesPage;
pub use error::{ErrorView, NotFoundPage};
pub use new::NewStudyPage;
#[cfg(feature = "ssr")]
pub use new::{INDEX, KNOB, drawn_key};
pub use point::PointPage;
pub use share::SharePage;
pub use start::StartPage;
pub use study::{StudyPage, main_chart};
