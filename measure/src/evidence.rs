//! What was seen beside a point's requests, and what follows from it: on the engine's own metrics page, on its GPUs, on the
//! host of the client.
//!
//! Nothing here is guessed: where an engine does not tell, the evidence says "cannot tell" and why.

mod buckets; // values by size
mod cache; // was the prefix cache as cold as the workload says
mod doubt; // whose a page is
mod foreign; // was anybody else there
mod host; // who else used the client's host
mod quantity; // what is told, whatever it is called
mod reading; // look by look
mod report; // all of it, as it is stored and shown
mod said; // what it means for a point
mod series; // over time
mod ttft; // where the time before the first token went

pub use buckets::{Between, Buckets};
pub use cache::{Cache, Shared, USUAL_BLOCK, Warmth};
pub use foreign::{Foreign, Presence, Sent};
pub use host::HostTime;
pub use quantity::{Kind, Quantity};
pub use reading::{Amount, Growth, Reading, Readings, Source, Value, Whose};
pub use report::{Evidence, Figure, Look, RoundTrip, Seen, percentile_words};
pub use said::Finding;
pub use series::{Series, Track};
pub use ttft::{Part, TtftParts};
