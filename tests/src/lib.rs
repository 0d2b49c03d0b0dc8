//! Fixtures of the tests that cross crates.

pub mod browser; // a real Chromium
