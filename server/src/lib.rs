//! The outside world of Goodput Studio: web server, supervisor of studies, store, command line.
//!
//! Every address stands in [`routes`].

// The pages are rendered in here, and their types nest deeply.
#![recursion_limit = "512"]

// Inside: what is kept and what runs.
pub mod bundle; // a study as one file
mod calibration; // what this host can drive
pub mod live; // what browsers hear while a study runs
mod reach; // how an endpoint is reached
pub mod records; // what was seen of each request, as Parquet
pub mod registry; // engines that the studio's administrator wrote down
mod secrets; // API keys that the studio keeps
pub mod store; // where studies are kept
pub mod studio; // the studio as pages and the REST interface see it
pub mod supervisor; // runs studies, one per engine

// The edge: who may ask, and how.
pub mod api; // REST under /api/v1
pub mod assets; // script, style, WASM
pub mod auth; // who is talking
pub mod config; // what was typed, and what it means
pub mod connections; // each bounded
pub mod docs; // what the words mean, inside the binary
pub mod error; // what went wrong, as a status
pub mod guard; // who may talk to us at all
pub mod pages; // HTML, rendered here first
pub mod preview; // the picture of a shared study
pub mod routes; // every address
pub mod serving; // a studio that listens
pub mod shared; // raw data of a shared study

// The command line.
pub mod cli; // goodput serve | sim | bench | calibrate | check | demo | export | import | secret | token
