//! What remains of a request when only its latencies matter: the columns that browsers get.
//!
//! Judging an SLO, ceilings and comparisons work on scores, so a dragged SLO line needs nothing from the server.
//! The wire form is a versioned block of little-endian columns ([`encode`], [`decode`]).

use serde::{Deserialize, Serialize};

use crate::request::{ErrorKind, Outcome, RequestRecord};
use crate::units::Nanos;

mod frames; // many points in one body

pub use frames::{frames, push_frame};

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
        self.since_due(self.ttft)
    }

    /// First answer token - scheduled.
    pub fn scheduled_ttfa(&self) -> Option<Nanos> {
        self.since_due(self.ttfa)
    }

    /// End - scheduled.
    pub fn scheduled_e2e(&self) -> Option<Nanos> {
        self.since_due(self.e2e)
    }

    /// A latency counted from when the request was due.
    fn since_due(&self, latency: Option<Nanos>) -> Option<Nanos> {
        Some((self.sent? + latency?).since(self.scheduled))
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

const MAGIC: &[u8; 4] = b"GPSC";
const VERSION: u32 = 1;
const HEADER: usize = 12;
/// Bytes of one score over all columns: three u32, eight u64, one u8.
const ROW: usize = 3 * 4 + 8 * 8 + 1;

/// Scores as bytes: `GPSC`, version u32, count u32, then one little-endian column after another: `session`, `turn` (u32),
/// `scheduled`, `sent`, `ttft`, `ttfa`, `e2e`, `tpot`, `itl_p95`, `stall` (u64 nanoseconds), `n` (u32), `outcome` (u8: 0 for
/// ok, else 1 + the place in [`ErrorKind::ALL`]). All bits set stand for "has no value".
pub fn encode(scores: &[Score]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + scores.len() * ROW);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&(scores.len() as u32).to_le_bytes());
    let mut narrow = |column: fn(&Score) -> u32| {
        scores
            .iter()
            .for_each(|s| bytes.extend_from_slice(&column(s).to_le_bytes()))
    };
    narrow(|score| score.session);
    narrow(|score| score.turn);
    let mut wide = |column: fn(&Score) -> Option<Nanos>| {
        scores.iter().for_each(|s| {
            bytes.extend_from_slice(&column(s).map_or(u64::MAX, |nanos| nanos.0).to_le_bytes())
        });
    };
    wide(|score| Some(score.scheduled));
    wide(|score| score.sent);
    wide(|score| score.ttft);
    wide(|score| score.ttfa);
    wide(|score| score.e2e);
    wide(|score| score.tpot);
    wide(|score| score.itl_p95);
    wide(|score| score.stall);
    scores
        .iter()
        .for_each(|score| bytes.extend_from_slice(&score.n.unwrap_or(u32::MAX).to_le_bytes()));
    bytes.extend(scores.iter().map(|score| code(score.outcome)));
    bytes
}

/// The inverse of [`encode`].
pub fn decode(bytes: &[u8]) -> Result<Vec<Score>, DecodeError> {
    if bytes.get(..4).is_none_or(|magic| magic != MAGIC) {
        return Err(DecodeError::NotScores);
    }
    let mut columns = Columns { rest: &bytes[4..] };
    let version = columns.narrow(1)?.value(0);
    if version != VERSION {
        return Err(DecodeError::Version(version));
    }
    let count = columns.narrow(1)?.value(0) as usize;
    if count.checked_mul(ROW) != Some(columns.rest.len()) {
        return Err(DecodeError::Short);
    }
    let [session, turn] = [columns.narrow(count)?, columns.narrow(count)?];
    let [scheduled, sent, ttft, ttfa] = [
        columns.wide(count)?,
        columns.wide(count)?,
        columns.wide(count)?,
        columns.wide(count)?,
    ];
    let [e2e, tpot, itl_p95, stall] = [
        columns.wide(count)?,
        columns.wide(count)?,
        columns.wide(count)?,
        columns.wide(count)?,
    ];
    let [n, outcomes] = [columns.narrow(count)?, Column(columns.take(count, 1)?)];
    (0..count)
        .map(|row| {
            Ok(Score {
                session: session.value(row),
                turn: turn.value(row),
                scheduled: Nanos(scheduled.value64(row)),
                sent: sent.nanos(row),
                ttft: ttft.nanos(row),
                ttfa: ttfa.nanos(row),
                e2e: e2e.nanos(row),
                tpot: tpot.nanos(row),
                itl_p95: itl_p95.nanos(row),
                stall: stall.nanos(row),
                n: Some(n.value(row)).filter(|n| *n != u32::MAX),
                outcome: outcome(outcomes.0[row])?,
            })
        })
        .collect()
}

fn code(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Ok => 0,
        Outcome::Error(kind) => ErrorKind::ALL
            .iter()
            .position(|k| *k == kind)
            .map_or(u8::MAX, |place| place as u8 + 1),
    }
}

fn outcome(code: u8) -> Result<Outcome, DecodeError> {
    match code.checked_sub(1) {
        None => Ok(Outcome::Ok),
        Some(place) => ErrorKind::ALL
            .get(usize::from(place))
            .map(|kind| Outcome::Error(*kind))
            .ok_or(DecodeError::Outcome(code)),
    }
}

/// What is left to read.
struct Columns<'a> {
    rest: &'a [u8],
}

impl<'a> Columns<'a> {
    fn take(&mut self, count: usize, width: usize) -> Result<&'a [u8], DecodeError> {
        let (column, rest) = self
            .rest
            .split_at_checked(count * width)
            .ok_or(DecodeError::Short)?;
        self.rest = rest;
        Ok(column)
    }

    fn narrow(&mut self, count: usize) -> Result<Column<'a>, DecodeError> {
        self.take(count, 4).map(Column)
    }

    fn wide(&mut self, count: usize) -> Result<Column<'a>, DecodeError> {
        self.take(count, 8).map(Column)
    }
}

/// One column's bytes; its length was checked when it was taken.
struct Column<'a>(&'a [u8]);

impl Column<'_> {
    fn bytes<const WIDTH: usize>(&self, row: usize) -> [u8; WIDTH] {
        std::array::from_fn(|i| self.0[row * WIDTH + i])
    }

    fn value(&self, row: usize) -> u32 {
        u32::from_le_bytes(self.bytes(row))
    }

    fn value64(&self, row: usize) -> u64 {
        u64::from_le_bytes(self.bytes(row))
    }

    fn nanos(&self, row: usize) -> Option<Nanos> {
        Some(Nanos(self.value64(row))).filter(|nanos| nanos.0 != u64::MAX)
    }
}

#[cfg(test)]
mod tests;
