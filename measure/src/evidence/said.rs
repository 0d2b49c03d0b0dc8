//! What evidence means for a point.

use crate::certificate::Innocence;

/// A verdict and the sentence that explains it.
pub type Finding = (Innocence, String);
