//! Why is it slow? WIP.
mod client;
mod engine;
mod sorted;
mod streams;

use crate::evidence::Evidence;
use crate::request::RequestRecord;
use crate::summary::Summary;
use crate::certificate::Certificate;

/// x
pub struct Case<'a> {
    /// x
    pub records: &'a [RequestRecord],
    /// x
    pub summary: &'a Summary,
    /// x
    pub client: &'a Certificate,
    /// x
    pub evidence: Option<&'a Evidence>,
}
/// x
pub fn dump(case: &Case) -> String {
    format!("{:?}\n{:?}", client::Client::of(case), engine::Engine::of(case))
}
