//! What remains of a request when only its latencies matter: the columns that browsers get.
//!
//! Judging an SLO, ceilings and comparisons work on scores, so a dragged SLO line needs nothing from the server.
//! The wire form is a versioned block of little-endian columns ([`encode`], [`decode`]).

use serde::{Deserialize, Serialize};

use crate::request::{Outcome, RequestRecord};
use crate::units::Nanos;

/// One request's latencies. `None` is "has no value", never zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Index of the session within the point; requests of one session are not independent.
    pub session: u32,
    /// Index of the turn within the session.
    pub turn: u32,
    /// The intended start.
    pub scheduled: Nanos,
    /// The real start.
    pub sent: Option<Nanos>,
    /// First token - sent.
    pub ttft: Option<Nanos>,
    /// First answer token - sent.
    pub ttfa: Option<Nanos>,
    /// End - sent.
    pub e2e: Option<Nanos>,
    /// Per-request TPOT.
    pub tpot: Option<Nanos>,
    /// The request's own p95 gap.
    pub itl_p95: Option<Nanos>,
    /// Its longest gap.
    pub stall: Option<Nanos>,
    /// Output tokens.
    pub n: Option<u32>,
    /// How it ended.
    pub outcome: Outcome,
}

impl Score {
    /// First token - scheduled.
    pub fn scheduled_ttft(&self) -> Option<Nanos> {
        Some((self.sent? + self.ttft?).since(self.scheduled))
    }

    /// Whether the request succeeded.
    pub fn is_ok(&self) -> bool {
        self.outcome == Outcome::Ok
    }
}

impl From<&RequestRecord> for Score {
    fn from(record: &RequestRecord) -> Self {
        Self {
            session: record.session,
            turn: record.turn,
            scheduled: record.scheduled,
            sent: record.sent,
            ttft: record.ttft(),
            ttfa: record.ttfa(),
            e2e: record.e2e(),
            tpot: record.tpot(),
            itl_p95: record.itl_p95(),
            stall: record.stall(),
            n: record.output_tokens,
            outcome: record.outcome,
        }
    }
}

/// Why a block of scores cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// It does not begin with the magic number.
    #[error("not a block of scores")]
    NotScores,
    /// Written by a newer version.
    #[error("scores of version {0}, this build reads version 1")]
    Version(u32),
    /// Its length does not fit its count.
    #[error("block of scores is cut short")]
    Short,
    /// An outcome code that is not known.
    #[error("unknown outcome code {0}")]
    Outcome(u8),
}

/// Scores as bytes: `GPSC`, version u32, count u32, then one little-endian column after another.
pub fn encode(scores: &[Score]) -> Vec<u8> {
    let _ = scores;
    todo!("measure helper")
}

/// The inverse of [`encode`].
pub fn decode(bytes: &[u8]) -> Result<Vec<Score>, DecodeError> {
    let _ = bytes;
    todo!("measure helper")
}
