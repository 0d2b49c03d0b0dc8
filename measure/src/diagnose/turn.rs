//! Knobs by what they mean. Whoever knows the engine says what its flag is called.

use serde::{Deserialize, Serialize};

use super::prediction::Prediction;

/// What is to be turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Turn {
    /// Give the client a quieter host, or more cores.
    QuietClient,
    /// Empty the prefix cache before the point.
    ResetPrefixCache,
    /// Send from nearer to the engine.
    MoveClient,
    /// Draft fewer tokens, or none.
    StopDrafting,
    /// Reuse the cache of prompts that begin alike.
    ReusePrefixes,
    /// Give the KV cache more room.
    GrowKvCache,
    /// Compute more tokens in a step.
    RaiseTokenBudget,
    /// Let more sequences run at once.
    RaiseConcurrentSequences,
    /// Let one long prompt take less of a step.
    CapLongPrompts,
    /// Record kernels as graphs instead of launching them one by one.
    RecordGraphs,
    /// Plan a step while the one before runs.
    PlanAhead,
    /// Send less.
    LowerRate,
}

impl Turn {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::QuietClient => "give the client a quieter host or more cores",
            Self::ResetPrefixCache => "empty the prefix cache before the point",
            Self::MoveClient => "send from nearer to the engine",
            Self::StopDrafting => "draft fewer tokens, or none",
            Self::ReusePrefixes => "reuse the cache of prompts that begin alike",
            Self::GrowKvCache => "give the KV cache more room",
            Self::RaiseTokenBudget => "let a step compute more tokens",
            Self::RaiseConcurrentSequences => "let more sequences run at once",
            Self::CapLongPrompts => "let one long prompt take less of a step",
            Self::RecordGraphs => "record kernels as graphs instead of launching them one by one",
            Self::PlanAhead => "plan a step while the one before runs",
            Self::LowerRate => "send less, or serve with more",
        }
    }

    /// Whether it is a setting of the engine, as opposed to what is around it.
    pub fn is_knob(self) -> bool {
        !matches!(
            self,
            Self::QuietClient | Self::ResetPrefixCache | Self::MoveClient | Self::LowerRate
        )
    }
}

/// The first thing to turn, and what must happen then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// What.
    pub turn: Turn,
    /// What must happen; none where no figure tells.
    pub prediction: Option<Prediction>,
}
