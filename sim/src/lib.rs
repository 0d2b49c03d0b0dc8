//! An engine that is not there: continuous batching in simulated steps, served over the real wire.
//!
//! The pure core (no clock, no I/O) decides what each step computes and how long it takes; a driver thread makes
//! those steps last their time; the wire speaks as vLLM does. Whatever leaves it says that it is simulated: the model's
//! name, the owner, the version, the fingerprint and the `server` header. Read the modules in this order.

pub mod config; // knobs
pub mod cost; // how long a step takes
mod driver; // steps in real time
pub mod engine; // one step: schedule, cost, tokens
pub mod hardware; // from data sheets to prices
pub mod kv; // paged KV cache with prefix reuse
pub mod preset; // models on devices
pub mod rehearsal; // the engine in virtual time
pub mod scenarios; // ways to be slow, each with what mends it
pub mod scheduler; // which sequences share the next step
mod sequence; // one sequence on its way through the engine
mod server; // listening, starting, stopping
pub mod stats; // what the engine counts
pub mod tokens; // words to token ids, and answers
pub mod truth; // a server that knows when each of its tokens left
mod wire; // HTTP as vLLM speaks it

pub use config::{Config, ConfigError};
pub use preset::PRESETS;
pub use server::{Running, serve, start};
pub use wire::metrics_page;

/// What this engine calls itself, wherever an engine names its version.
pub const VERSION: &str = concat!("goodput-sim ", env!("CARGO_PKG_VERSION"));

/// Stands where vLLM puts its own fingerprint.
pub const FINGERPRINT: &str = concat!("goodput-sim-", env!("CARGO_PKG_VERSION"));
