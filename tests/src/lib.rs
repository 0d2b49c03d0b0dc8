//! Fixtures of the tests that cross crates.

pub mod browser; // a real Chromium
pub mod bundles; // studies as files, taken apart
pub mod counting; // an engine that counts tokens
pub mod databases; // one test body, both databases
pub mod edge; // a studio behind its edge
pub mod large; // finished studies of any size
pub mod many; // thousands of studies
pub mod measured; // studies whose points are given, not measured
pub mod process; // the real binary
pub mod samples; // small studies and records
pub mod series;
pub mod served; // engines of a few lines // runs of the same, day after day
