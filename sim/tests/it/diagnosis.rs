//! Diagnoses of scenarios whose cause is known.

mod played;
mod dump;
