//! What engines and GPUs tell of themselves, whatever they call it.

use serde::{Deserialize, Serialize};

/// How a quantity behaves over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It goes up and down.
    Gauge,
    /// It only grows, until the engine starts anew.
    Counter,
    /// Counters of values by size.
    Histogram,
}

/// A quantity. Times are in seconds, shares between 0 and 1, memory in bytes, power in watts, energy in joules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Requests in execution.
    Running,
    /// Requests that wait.
    Waiting,
    /// Share of the KV cache in use.
    KvUsage,
    /// Requests thrown out of the cache, to be computed again.
    Preemptions,
    /// Requests that ended, however they did.
    Finished,
    /// Input tokens.
    PromptTokens,
    /// Output tokens.
    OutputTokens,
    /// Input tokens that came from the prefix cache.
    CachedTokens,
    /// Tokens looked up in the prefix cache.
    CacheQueries,
    /// Tokens found there.
    CacheHits,
    /// Share of tokens found in the prefix cache, by the engine's own reckoning.
    HitRate,
    /// Tokens proposed by speculation.
    DraftTokens,
    /// Those of them that stood.
    AcceptedTokens,
    /// Share of proposed tokens that stood, by the engine's own reckoning.
    AcceptRate,
    /// Time before a request is scheduled for the first time.
    QueueTime,
    /// Time from there to the first token.
    PrefillTime,
    /// Seconds spent on prompts, all requests together.
    PrefillSeconds,
    /// TTFT as the engine sees it.
    Ttft,
    /// Gaps between tokens as the engine sees them.
    Itl,
    /// End to end as the engine sees it.
    E2e,
    /// Tokens computed in one step.
    IterationTokens,
    /// Tokens of a block of the prefix cache.
    BlockSize,
    /// Share of the time in which a GPU computed.
    GpuUse,
    /// Its memory in use.
    GpuMemory,
    /// Its power draw.
    GpuPower,
    /// Its clock, in MHz.
    GpuClock,
    /// What it has drawn so far.
    GpuEnergy,
}

impl Quantity {
    /// How it behaves.
    pub fn kind(self) -> Kind {
        match self {
            Self::Preemptions
            | Self::Finished
            | Self::PromptTokens
            | Self::OutputTokens
            | Self::CachedTokens
            | Self::CacheQueries
            | Self::CacheHits
            | Self::DraftTokens
            | Self::AcceptedTokens
            | Self::PrefillSeconds
            | Self::GpuEnergy => Kind::Counter,
            Self::QueueTime
            | Self::PrefillTime
            | Self::Ttft
            | Self::Itl
            | Self::E2e
            | Self::IterationTokens => Kind::Histogram,
            _ => Kind::Gauge,
        }
    }

    /// Whether several engines together have the sum of it; of a share the highest counts.
    pub fn adds_up(self) -> bool {
        !matches!(
            self,
            Self::KvUsage
                | Self::HitRate
                | Self::AcceptRate
                | Self::BlockSize
                | Self::GpuUse
                | Self::GpuClock
        )
    }
}
