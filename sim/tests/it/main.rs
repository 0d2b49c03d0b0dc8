//! Tests of whole scenarios.

mod diagnosis;
