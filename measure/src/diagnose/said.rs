//! Causes, what is found of each, and the answer.

use serde::{Deserialize, Serialize};

use super::turn::Advice;

/// Why a point is slow. In the order in which they count: what spoils the measurement first, then what explains others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The client sent or read late.
    ClientBound,
    /// The prefix cache held what this point never sent.
    WarmCache,
    /// The way to the engine takes much of the time before the first token.
    NetworkBound,
    /// Guesses are made and are wrong.
    DraftsRefused,
    /// Prompts begin alike, and nothing is reused.
    ColdCache,
    /// Prompts begin alike, and the cache forgets before they come again.
    EvictedPrefixes,
    /// The cache runs full of growing answers, and some are computed anew.
    KvPressure,
    /// Few prompts fit into the cache at a time.
    KvBound,
    /// Prompts get small pieces of many steps.
    PrefillBound,
    /// Few sequences may run.
    TooLittleConcurrency,
    /// Crowds arrive at once and wait for a place.
    QueueSpikes,
    /// A few long prompts hold up those behind them.
    LongPrefills,
    /// Kernels are launched one by one.
    EagerLaunches,
    /// The device waits for the CPU between steps.
    SlowHost,
    /// More arrives than can be served.
    AboveCapacity,
}

impl Cause {
    /// All, in the order in which they count.
    pub const ALL: [Self; 15] = [
        Self::ClientBound,
        Self::WarmCache,
        Self::NetworkBound,
        Self::DraftsRefused,
        Self::ColdCache,
        Self::EvictedPrefixes,
        Self::KvPressure,
        Self::KvBound,
        Self::PrefillBound,
        Self::TooLittleConcurrency,
        Self::QueueSpikes,
        Self::LongPrefills,
        Self::EagerLaunches,
        Self::SlowHost,
        Self::AboveCapacity,
    ];

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::ClientBound => "client-bound",
            Self::WarmCache => "warm prefix cache",
            Self::NetworkBound => "network-bound",
            Self::DraftsRefused => "drafts refused",
            Self::ColdCache => "prefixes not reused",
            Self::EvictedPrefixes => "prefixes evicted",
            Self::KvPressure => "KV pressure",
            Self::KvBound => "KV-bound",
            Self::PrefillBound => "prefill-bound",
            Self::TooLittleConcurrency => "too little concurrency",
            Self::QueueSpikes => "queue spikes",
            Self::LongPrefills => "long prefills",
            Self::EagerLaunches => "launch overhead",
            Self::SlowHost => "slow host",
            Self::AboveCapacity => "above capacity",
        }
    }

    /// What it means, in a sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::ClientBound => {
                "The client sent or read late, so the latencies are its own in part."
            }
            Self::WarmCache => {
                "The prefix cache held prompts that this point never sent: first tokens came sooner than they would."
            }
            Self::NetworkBound => {
                "The way to the engine takes a third or more of the time before the first token."
            }
            Self::DraftsRefused => {
                "Speculation drafts tokens that are mostly refused, and each step pays for them."
            }
            Self::ColdCache => "Prompts begin alike, and the engine computes each of them anew.",
            Self::EvictedPrefixes => {
                "Prompts begin alike, but the cache forgets most of them before they come again, or they are sent where they are not cached."
            }
            Self::KvPressure => {
                "The KV cache runs full of growing answers; some are thrown out and computed anew."
            }
            Self::KvBound => "Requests wait because the KV cache has no room for their prompts.",
            Self::PrefillBound => {
                "Each step computes a small piece of a prompt, so a prompt takes many steps."
            }
            Self::TooLittleConcurrency => {
                "All places are taken while the device has time to spare; the rest waits."
            }
            Self::QueueSpikes => {
                "Crowds arrive at once and wait for a place: most first tokens come early, some very late."
            }
            Self::LongPrefills => "A few long prompts hold up the short ones behind them.",
            Self::EagerLaunches => {
                "Steps take as long as their kernels' launches, whatever they compute."
            }
            Self::SlowHost => "Steps wait for the CPU, the longer the more sequences run.",
            Self::AboveCapacity => {
                "More arrives than can be served; every latency grows with the length of the run."
            }
        }
    }
}

/// How a cause stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// All that it needs was seen.
    Shown,
    /// What was seen fits; some of what it needs was not told.
    Possible,
    /// What it needs was not told.
    CannotTell,
    /// Something that it needs was seen not to be.
    RuledOut,
}

/// One cause, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Which.
    pub cause: Cause,
    /// How it stands.
    pub standing: Standing,
    /// Figures that speak for it, each with its threshold.
    pub speaks_for: Vec<String>,
    /// Figures that speak against it.
    pub speaks_against: Vec<String>,
    /// What cannot be known, and for lack of what.
    pub missing: Vec<String>,
    /// The first knob, where it is shown or possible.
    pub advice: Option<Advice>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Answer {
    /// This one, before any other that is shown as well.
    Named {
        /// Which.
        cause: Cause,
    },
    /// One of these; what would tell them apart is missing.
    OneOf {
        /// Which.
        causes: Vec<Cause>,
    },
    /// Every cause is ruled out.
    NothingToMend,
    /// Nothing is shown, and not everything is ruled out.
    CannotTell {
        /// Why, a sentence each.
        why: Vec<String>,
    },
}

/// What is wrong at a point, cause by cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// The version of this shape and of the rules.
    pub version: u32,
    /// In short.
    pub answer: Answer,
    /// All causes, in the order in which they count.
    pub findings: Vec<Finding>,
}

impl Diagnosis {
    /// What was found of a cause.
    pub fn of(&self, cause: Cause) -> Option<&Finding> {
        self.findings.iter().find(|it| it.cause == cause)
    }

    /// Causes that are shown beside the one that is named.
    pub fn shown_besides(&self) -> Vec<Cause> {
        let named = self.named().map(|it| it.cause);
        let shown = self
            .findings
            .iter()
            .filter(|it| it.standing == Standing::Shown);
        let others = shown.map(|it| it.cause).filter(|it| Some(*it) != named);
        others.filter(|_| named.is_some()).collect()
    }

    /// The finding that the answer names.
    pub fn named(&self) -> Option<&Finding> {
        match &self.answer {
            Answer::Named { cause } => self.of(*cause),
            _ => None,
        }
    }
}
