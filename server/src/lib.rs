//! Goodput Studio's server. Read the modules in this order.

pub mod live; // what browsers hear while a study runs
mod pending;
pub mod store; // where studies are kept
pub mod studio; // the studio as pages and the REST interface see it
pub mod supervisor; // runs studies, one per engine
