//! How fast the truth server answers, how uneven, and how faulty.

use measure::sampling::{Draws, derive};
use serde::{Deserialize, Serialize};

/// What a truth server does with every request.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// From the request's end to its first token.
    pub ttft_ns: u64,
    /// From one token's deadline to the next.
    pub itl_ns: u64,
    /// Each span times a lognormal of mean 1 with this sigma.
    pub jitter: f64,
    /// Tokens in an event, written when the last of them is due.
    pub chunk_tokens: u32,
    /// No waiting at all: how many events a second can the client take?
    pub blast: bool,
    /// What goes wrong on purpose.
    pub faults: Faults,
    /// Everything random follows from it and from the request's id.
    pub seed: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            ttft_ns: 50_000_000,
            itl_ns: 10_000_000,
            jitter: 0.0,
            chunk_tokens: 1,
            blast: false,
            faults: Faults::default(),
            seed: 1,
        }
    }
}

/// A share of requests in which something goes wrong.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// 0 for none, 1 for all.
    pub share: f64,
    /// Drawn from evenly; all of them when empty.
    pub kinds: Vec<Fault>,
}

/// Something that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The connection is reset when the first token is due; not even a head was sent.
    ResetBefore,
    /// The connection is reset after some tokens.
    ResetAfter,
    /// Silence after some tokens, or before the first, until the client gives up.
    Stall,
    /// The body ends politely, without finish reason and end mark.
    Truncate,
    /// The connection is closed in the middle of the body.
    Cut,
    /// An error object inside the stream, then its end mark.
    InBandError,
    /// 429 with Retry-After.
    TooManyRequests,
    /// 503.
    Unavailable,
    /// A complete stream without a token.
    Empty,
    /// The finish reason is `abort`.
    Abort,
    /// An event that is no JSON, then the rest of a good stream.
    Malformed,
}

impl Fault {
    /// Every kind.
    pub const ALL: [Self; 11] = [
        Self::ResetBefore,
        Self::ResetAfter,
        Self::Stall,
        Self::Truncate,
        Self::Cut,
        Self::InBandError,
        Self::TooManyRequests,
        Self::Unavailable,
        Self::Empty,
        Self::Abort,
        Self::Malformed,
    ];
}

/// What becomes of one request.
pub(super) struct Fate {
    /// What goes wrong, if anything does.
    pub fault: Option<Fault>,
    /// After so many tokens.
    pub after: u32,
    /// For its jitter.
    pub draws: Draws,
}

impl Config {
    /// The fate of a request: the same for the same seed and id, in whatever order requests come.
    pub(super) fn fate(&self, id: &str, max_tokens: u32) -> Fate {
        let mut draws = Draws::new(derive(self.seed, &[hash(id)]));
        let struck = draws.uniform() < self.faults.share;
        let kinds = match self.faults.kinds.as_slice() {
            [] => &Fault::ALL,
            kinds => kinds,
        };
        let kind = kinds[draws.below(kinds.len())];
        // Of two tokens or more at least one is always left unsaid.
        let after = draws.below(max_tokens.max(1) as usize) as u32;
        let fault = struck.then_some(match kind {
            Fault::ResetAfter if after == 0 => Fault::ResetBefore,
            kind => kind,
        });
        Fate {
            fault,
            after,
            draws,
        }
    }

    /// A span with its jitter.
    pub(super) fn jittered(&self, span: u64, draws: &mut Draws) -> u64 {
        if self.jitter == 0.0 {
            return span;
        }
        let factor = (self.jitter * draws.normal() - self.jitter * self.jitter / 2.0).exp();
        (span as f64 * factor) as u64
    }
}

/// FNV-1a: the same for ever.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
