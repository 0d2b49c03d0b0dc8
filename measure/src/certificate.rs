//! Was the client innocent? Each point carries a certificate with its evidence.

use serde::{Deserialize, Serialize};

use crate::request::RequestRecord;
use crate::units::Nanos;

/// The certificate's verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Innocence {
    /// The client added nothing that matters.
    Clean,
    /// Shown, flagged.
    Suspect,
    /// Kept, drawn hollow, never used for a ceiling or a verdict.
    Void,
}

/// What `load` saw of itself during a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientEvidence {
    /// 99th percentile of how late the load runtime polled a task that asked for the next millisecond.
    pub poll_lag_p99: Option<Nanos>,
    /// The longest of them.
    pub poll_lag_max: Option<Nanos>,
    /// CPU time of the whole process over wall time, in cores.
    pub cpu_cores: Option<f64>,
    /// Cores the process may use.
    pub cores_available: Option<u32>,
}

/// The verdict with its evidence and the sentences that explain it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// clean, suspect or void.
    pub innocence: Innocence,
    /// One sentence a reason, worst first; empty when clean.
    pub reasons: Vec<String>,
    /// Sent - scheduled, median.
    pub lag_p50: Option<Nanos>,
    /// Its 99th percentile.
    pub lag_p99: Option<Nanos>,
    /// Its maximum.
    pub lag_max: Option<Nanos>,
    /// Sent over offered rate.
    pub sent_over_offered: Option<f64>,
    /// Connections opened inside the clock.
    pub fresh_connections: u32,
    /// Share of reads that carried more than one token-bearing event.
    pub coalesced_reads: u32,
    /// What the client saw of itself.
    pub client: ClientEvidence,
}

/// The certificate of one point.
pub fn certify(records: &[RequestRecord], client: ClientEvidence) -> Certificate {
    let _ = (records, client);
    todo!("measure helper")
}
