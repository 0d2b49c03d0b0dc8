//! A finished study as one file, which another studio opens without any engine. docs/bundle.md says what is in it.
//!
//! A bundle is a tar archive in one Zstandard frame: [`Manifest`] first, then the parts that it lists, each with its SHA-256.
//! It is read front to back, so that one bound holds for everything that comes out of it, and no name in it ever becomes a
//! path: parts are told by the names that the manifest must give them.

mod anew; // figures from requests
mod check; // do its figures follow from its requests
mod examples; // studies that come with the studio
mod export; // out of a store
mod import; // into a store
mod manifest; // what it says of itself
mod pack; // parts to file
mod plain; // what is left out where not everything is asked for
mod read; // parts as what they must be
mod rows; // rows as entries of the manifest
mod spool; // parts on disk meanwhile
mod unpack; // file to parts

pub use check::{Checked, check};
pub use examples::{Example, examples};
pub use export::{ExportError, Packed, Worked, export};
pub use import::{Opened, import, name_of};
pub use manifest::{Manifest, Scope, VERSION};
pub use spool::sha256;
pub use unpack::{Unpacked, unpack};

use crate::store::StoreError;

/// The file's ending.
pub const ENDING: &str = "goodput";

/// Most bytes of a bundle.
pub const MOST_PACKED: u64 = 1 << 30;

/// Why a bundle cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// Something else.
    #[error(
        "this is no study bundle; one is made by Export on a study's page or by `goodput export`, and its name ends in .goodput"
    )]
    NotABundle,
    /// Of a later format.
    #[error(
        "the bundle is of format {0}, and this goodput reads up to format {VERSION}; open it with a newer goodput"
    )]
    Newer(u32),
    /// It ends early, or what is in it cannot be unpacked.
    #[error("the bundle is damaged or cut short: it cannot be unpacked; get the file again")]
    Broken(#[source] std::io::Error),
    /// A part that the manifest lists, or must list, is not there.
    #[error("the bundle is not whole: {0} is missing; get the file again")]
    Missing(String),
    /// A part is not what the manifest says.
    #[error("the bundle is damaged: {0} is not what the manifest says it is; get the file again")]
    Damaged(String),
    /// Something that is no part of a bundle.
    #[error("the bundle holds {0:?}, which is no part of one; it was not made by goodput")]
    Foreign(String),
    /// A part cannot be understood.
    #[error("the bundle's {part} cannot be read: {why}")]
    Unreadable {
        /// Which.
        part: String,
        /// The reader's word.
        why: String,
    },
    /// Larger than any bundle that goodput makes.
    #[error("the bundle is too large: {0}")]
    TooLarge(String),
    /// Its ids belong to something else here.
    #[error(
        "another study of this studio has parts with this bundle's ids; it was changed by hand, and is not opened"
    )]
    Taken,
    /// Parts cannot be kept on disk meanwhile.
    #[error("cannot unpack the bundle in the studio's data directory")]
    Disk(#[source] std::io::Error),
    /// The database failed.
    #[error(transparent)]
    Store(StoreError),
}

impl BundleError {
    fn unreadable(part: &str, why: impl std::fmt::Display) -> Self {
        Self::Unreadable {
            part: part.to_owned(),
            why: why.to_string(),
        }
    }
}

/// Nothing fails in the store but the database, or what it was to store.
impl From<StoreError> for BundleError {
    fn from(cause: StoreError) -> Self {
        match cause {
            StoreError::Source(cause) => Self::Disk(cause),
            taken if taken.is_taken() => Self::Taken,
            other => Self::Store(other),
        }
    }
}
