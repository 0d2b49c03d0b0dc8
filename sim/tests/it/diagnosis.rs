//! Diagnoses of scenarios whose cause is known.

mod bars; // how often it is right
mod played; // a scenario as the studio would see it
mod trial; // what is wrong, and on which device
mod world; // what is wrong outside the engine
