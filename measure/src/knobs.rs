//! Engine settings, and what differs between two configurations.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::decimal::Decimal;

/// A knob's value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, from = "crate::wire::Scalar")]
pub enum KnobValue {
    /// A switch.
    Switch(bool),
    /// A whole number.
    Whole(i64),
    /// A fraction.
    Fraction(f64),
    /// A word.
    Word(String),
}

impl fmt::Display for KnobValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(on) => f.write_str(if *on { "on" } else { "off" }),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Fraction(number) => write!(f, "{number}"),
            Self::Word(word) => f.write_str(word),
        }
    }
}

/// Reads what a person types: `on`/`off`/`true`/`false`, a number, else a word.
impl From<&str> for KnobValue {
    fn from(text: &str) -> Self {
        match text.trim() {
            "on" | "true" => Self::Switch(true),
            "off" | "false" => Self::Switch(false),
            other => other
                .parse()
                .map(Self::Whole)
                .or_else(|_| other.parse().map(|Decimal(it)| Self::Fraction(it)))
                .unwrap_or_else(|_| Self::Word(other.to_owned())),
        }
    }
}

/// Knob name (the engine's flag without dashes, e.g. `enable-prefix-caching`) to value.
pub type Knobs = BTreeMap<String, KnobValue>;

/// Who says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The engine reported it (or the studio set it itself): a fact.
    Engine,
    /// A person typed it.
    Declared,
    /// Nobody does: it should be known and is not.
    Unknown,
}

/// Begins the names of facts that follow from settings and machine, such as the size of a KV cache: they are shown, and
/// are no difference of their own.
pub const SEEN: &str = "seen:";

/// The fact by which a person accepts a second difference between two engines, named and declared: `quantization`, and
/// nothing else.
pub const ACCEPTED: &str = "accepted";

/// The fact that says who measured. It makes no curve differ.
pub const AUTHOR: &str = "author";

/// What a person may accept so.
const WEIGHTS: &str = "quantization";

/// The fact that says how the studio starts an engine, as a digest: two engines are started differently.
pub const LAUNCH: &str = "launch";

/// What every benchmark must tell of its engine beside its knobs, known or not.
pub const MUST_BE_TOLD: [&str; 5] = ["engine", "hardware", "model", "quantization", "version"];

/// A recorded fact about a configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// Its value, as text.
    pub value: String,
    /// Who says so.
    pub source: Source,
}

impl Fact {
    /// Its value, where anybody knows it.
    fn known(&self) -> Option<&str> {
        (self.source != Source::Unknown).then(|| self.value.trim())
    }
}

/// Everything known about a configuration that could make its curve differ: `engine`, `version`, `model`, `knob:NAME`, ...
pub type Facts = BTreeMap<String, Fact>;

/// One thing in which two configurations differ, or may.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Differing {
    /// The fact's name.
    pub name: String,
    /// In the baseline; `None` where it is unknown.
    pub baseline: Option<Fact>,
    /// In the candidate; `None` where it is unknown.
    pub candidate: Option<Fact>,
}

/// May two configurations be compared?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    rename_all = "snake_case",
    tag = "kind",
    try_from = "crate::wire::ComparabilityText"
)]
pub enum Comparability {
    /// Exactly one knob differs (or the engine alone).
    OneVariable {
        /// What differs.
        differing: Differing,
        /// What differs beside the engine and was accepted as such.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        beside: Vec<Differing>,
    },
    /// Nothing that is known differs.
    Identical,
    /// Two or more differ, or one side is unknown: the verdict is withheld.
    Confounded {
        /// Everything that differs or is unknown on one side.
        differing: Vec<Differing>,
    },
}

/// What differs between two configurations. `engine` alone may differ together with its `version`, `model` spelling,
/// `launch` and whatever only one of the engines tells, knobs foremost, and with its `quantization` where a person accepted that;
/// otherwise one difference is the limit. What is unknown on both sides is taken to be equal.
pub fn comparability(baseline: &Facts, candidate: &Facts) -> Comparability {
    let mut beside = Vec::new();
    let names: BTreeSet<&String> = baseline.keys().chain(candidate.keys()).collect();
    let mut differing: Vec<Differing> = names
        .into_iter()
        .filter(|name| !name.starts_with(SEEN) && *name != ACCEPTED && *name != AUTHOR)
        .map(|name| Differing {
            name: name.clone(),
            baseline: baseline.get(name).cloned(),
            candidate: candidate.get(name).cloned(),
        })
        .filter(|pair| known(&pair.baseline) != known(&pair.candidate))
        .collect();
    if let Some(engine) = differing
        .iter()
        .find(|pair| pair.name == "engine" && !pair.is_one_sided())
        .cloned()
    {
        differing.retain(|pair| !pair.comes_with_the_engine());
        differing.push(engine);
        let is_accepted = |facts: &Facts| facts.get(ACCEPTED).is_some_and(|it| it.value == WEIGHTS);
        if is_accepted(baseline) || is_accepted(candidate) {
            beside = take_weights(&mut differing);
        }
    }
    match <[Differing; 1]>::try_from(differing) {
        Ok([differing]) if !differing.is_one_sided() => {
            Comparability::OneVariable { differing, beside }
        }
        Ok(one) => Comparability::Confounded {
            differing: one.into(),
        },
        Err(none) if none.is_empty() => Comparability::Identical,
        Err(differing) => Comparability::Confounded { differing },
    }
}

/// Takes the weights' formats out of what differs, where both are known.
fn take_weights(differing: &mut Vec<Differing>) -> Vec<Differing> {
    let place = differing
        .iter()
        .position(|pair| pair.name == WEIGHTS && !pair.is_one_sided());
    place
        .map(|place| differing.remove(place))
        .into_iter()
        .collect()
}

fn known(fact: &Option<Fact>) -> Option<&str> {
    fact.as_ref().and_then(Fact::known)
}

impl Differing {
    /// Known on one side only.
    pub fn is_one_sided(&self) -> bool {
        known(&self.baseline).is_none() || known(&self.candidate).is_none()
    }

    /// Two engines have versions, model names and commands of their own, knobs that the other does not know, and tell of other
    /// matters. Machine and weights must be known of both all the same.
    fn comes_with_the_engine(&self) -> bool {
        match self.name.as_str() {
            "engine" | "version" | "model" | LAUNCH => true,
            "hardware" | WEIGHTS => false,
            _ => self.is_one_sided(),
        }
    }
}

/// A knob the simulator understands, for forms and checks.
#[derive(Clone, Debug, PartialEq)]
pub struct KnobSpec {
    /// Its name.
    pub name: &'static str,
    /// What it does, one sentence.
    pub about: &'static str,
    /// Its default.
    pub default: KnobValue,
    /// Smallest whole number allowed, for numbers.
    pub min: i64,
    /// Largest whole number allowed, for numbers.
    pub max: i64,
}

/// The simulator's knobs, named as vLLM names its flags (what stands in its speculative-config has its own line here).
pub fn simulator_knobs() -> Vec<KnobSpec> {
    SIMULATOR_KNOBS.to_vec()
}

static SIMULATOR_KNOBS: [KnobSpec; 11] = [
    KnobSpec {
        name: "enable-prefix-caching",
        about: "reuse the KV blocks of prompts that begin alike",
        default: KnobValue::Switch(false),
        min: 0,
        max: 1,
    },
    KnobSpec {
        name: "enable-chunked-prefill",
        about: "cut long prefills into pieces that share steps with decodes",
        default: KnobValue::Switch(true),
        min: 0,
        max: 1,
    },
    KnobSpec {
        name: "max-num-seqs",
        about: "most sequences in one step",
        default: KnobValue::Whole(64),
        min: 1,
        max: 4096,
    },
    KnobSpec {
        name: "max-num-batched-tokens",
        about: "most tokens in one step, prefill and decode together",
        default: KnobValue::Whole(2048),
        min: 16,
        max: 1_048_576,
    },
    KnobSpec {
        name: "long-prefill-token-threshold",
        about: "most tokens of one prompt in a step; 0 sets no limit",
        default: KnobValue::Whole(0),
        min: 0,
        max: 1_048_576,
    },
    KnobSpec {
        name: "gpu-memory-utilization",
        about: "share of the memory for weights and KV cache",
        default: KnobValue::Fraction(0.9),
        min: 0,
        max: 1,
    },
    KnobSpec {
        name: "num-gpu-blocks-override",
        about: "KV blocks; 0 takes what fits",
        default: KnobValue::Whole(0),
        min: 0,
        max: 10_000_000,
    },
    KnobSpec {
        name: "enforce-eager",
        about: "launch kernels one by one, without CUDA graphs",
        default: KnobValue::Switch(false),
        min: 0,
        max: 1,
    },
    KnobSpec {
        name: "async-scheduling",
        about: "plan a step while the one before runs",
        default: KnobValue::Switch(true),
        min: 0,
        max: 1,
    },
    KnobSpec {
        name: "num-speculative-tokens",
        about: "tokens drafted ahead in a step; 0 drafts none",
        default: KnobValue::Whole(0),
        min: 0,
        max: 16,
    },
    KnobSpec {
        name: "synthetic-acceptance-rate",
        about: "chance that a draft is right",
        default: KnobValue::Fraction(0.7),
        min: 0,
        max: 1,
    },
];

/// A knob that the simulator does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnobError {
    /// Its name, where the simulator has such a knob.
    pub knob: Option<String>,
    /// What is wrong and what is allowed.
    pub message: String,
}

/// Checks knobs for the simulator; the first error names the knob and what is allowed.
pub fn check_simulator_knobs(knobs: &Knobs) -> Result<(), KnobError> {
    let specs = simulator_knobs();
    for (name, value) in knobs {
        let Some(spec) = specs.iter().find(|spec| spec.name == name) else {
            let known: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
            let known = known.join(", ");
            return Err(KnobError {
                knob: None,
                message: format!("the simulator has no knob {name:?}; it has {known}"),
            });
        };
        check_knob(spec, value).map_err(|message| KnobError {
            knob: Some(name.clone()),
            message,
        })?;
    }
    Ok(())
}

fn check_knob(spec: &KnobSpec, value: &KnobValue) -> Result<(), String> {
    let KnobSpec { name, min, max, .. } = spec;
    match (&spec.default, value) {
        (KnobValue::Switch(_), KnobValue::Switch(_)) => Ok(()),
        (KnobValue::Switch(_), other) => Err(format!("{name} must be on or off, got {other}")),
        (_, KnobValue::Whole(number)) if (*min..=*max).contains(number) => Ok(()),
        (KnobValue::Fraction(_), KnobValue::Fraction(share)) if (0.0..=1.0).contains(share) => {
            Ok(())
        }
        (default, other) => {
            let whole = if matches!(default, KnobValue::Whole(_)) {
                "whole "
            } else {
                ""
            };
            Err(format!(
                "{name} must be a {whole}number from {min} to {max}, got {other}"
            ))
        }
    }
}

#[cfg(test)]
mod tests;
