//! An engine's own metrics, read beside the load: names as data, text to quantities, a look once a second.

mod address; // where the page is
mod kept; // its text, compressed
mod names; // what engines call things
mod page; // from text to quantities
mod sampler; // a look once a second
pub mod text; // lines to samples

pub use page::{Page, Reader};
pub(crate) use sampler::since;
pub use sampler::{Begun, Sampled, Sampler};
