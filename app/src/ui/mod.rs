//! Parts that several pages share.

pub mod theme; // light, dark, or as the system says
