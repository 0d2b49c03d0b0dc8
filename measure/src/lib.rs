//! What a serving benchmark measures, and what the measurements mean.
//!
//! Pure: no clock, no I/O, no async, no randomness but its own seeded draws. The server, the browser, the
//! command line and every export call the same functions, so each number has one definition
//! (docs/metrics.md gives them in words). Read the modules in this order.

pub mod adaptive; // which rate next, and when to stop
pub mod arrival; // when requests start
pub mod capacity_plan; // how many machines a demand takes, and what good tokens cost
pub mod certificate; // was the client innocent
pub mod compare; // two curves
pub mod curve; // many points
pub mod decimal; // numbers as people write them
pub mod diagnose; // why is it slow, and which knob first
pub mod evidence; // what was seen beside the requests
pub mod fidelity; // did the engine do what it was asked
pub mod history; // what earlier runs of the same say
pub mod knobs; // engine settings and what differs between two configurations
pub mod order; // things in order of a number
pub mod quantile; // percentiles and their intervals
pub mod request; // one request, from schedule to last token
pub mod rules; // a point as other tools would tell it
pub mod sampling; // portable seeded draws
pub mod score; // what remains of a request when only its latencies matter
pub mod slo; // what was promised, and was it kept
pub mod steady; // ramp, steady part, drain
pub mod study; // from a spec to a plan of points
pub mod summary; // one point
pub mod units; // nanoseconds, rates, levels, seeds
pub mod wire; // how values of several kinds are read
pub mod workload; // what they ask

#[cfg(test)]
mod testing; // records and scores for tests

#[cfg(test)]
mod calc_cases; // small cases with known answers
