//! The instrument: makes streaming load on one engine and timestamps what comes back, honestly.
//!
//! Knows no database, no HTTP server, no user: it is given an [`Engine`], a [`PointPlan`], an [`Observer`] and a token
//! to stop it, and gives back one record per scheduled request. Read the modules in this order.

pub mod address; // where load may go
pub mod beside; // what is looked at beside a point
pub mod catalogue; // which settings an engine has
mod chunked; // how a body ends
mod client; // HTTP beside the load
mod clock; // nanoseconds since the start
mod connect; // from an address to a connection
pub mod dialect; // events to what they mean
pub mod engine; // a client for one endpoint
mod evidence; // what the client sees of itself
mod exchange; // one request and its response
mod fault; // what it means that an exchange broke off
mod gpu; // GPUs, where there are any
mod host; // who uses this host
mod http1; // the hot path
pub mod launch; // an engine that the studio starts itself
pub mod limits; // what this machine allows
mod link; // what carries a request
pub mod ndjson; // lines to events
pub mod plan; // what a point sends, and when
mod pool; // connections of a thread
pub mod probe; // what is behind a URL
pub mod progress; // what a watcher sees
pub mod prompts; // prompts and bodies, from a seed
mod ready; // readiness of file descriptors
mod rtt; // the way to the engine
pub mod runner; // one point
pub mod scrape; // what the engine tells of itself
mod session; // turns that follow each other
mod shard; // the threads that make the load
mod sharing; // what requests share
mod socket; // when bytes arrive
pub mod sse; // bytes to events
mod starts; // each arrival at its moment
mod timer; // absolute deadlines
pub mod tls; // whose certificates are believed
pub mod tokens; // how long is a text
mod vigil; // when a request is given up
mod warmup; // before the clock

pub use beside::{Beside, BesideSpec};
pub use engine::{Engine, EngineError, EngineOptions, Key, Wire};
pub use plan::{
    Body, InputTokens, LengthSource, Made, PlannedRequest, PlannedSession, PointPlan, RequestId,
    Rows,
};
pub use probe::{NoModels, Probe, ProbeError, TrialError, probe, quirks, reset_prefix_cache};
pub use progress::{Failing, Observer, Progress};
pub use prompts::{Inspected, PointSpec, PromptError, inspect, kind_of, plan_point};
pub use runner::{PointError, PointRun, due_within, run_point};
pub use scrape::Begun;
pub use sharing::Sharing;
pub use tls::{TlsError, Trust};
