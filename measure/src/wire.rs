//! How values of several kinds are read: as one flat struct, then made into what they are.
//!
//! Serde's own way keeps a value until its kind is known and reads it a second time, with a second reader of every type
//! within. In the browser those readers weigh as much as many a page.

mod scalar; // values without parts
mod spec; // what people send of engines
mod workload; // what people send of workloads

use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use crate::compare::Verdict;
use crate::curve::Ceiling;
use crate::knobs::{Comparability, Differing};
use crate::summary::Capacity;

pub(crate) use scalar::Scalar;
pub(crate) use spec::{EngineText, TurnText};
pub(crate) use workload::{LengthsText, WorkloadText};

/// Why a value could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misread {
    /// A kind without one of its fields.
    #[error("missing field `{0}`")]
    Missing(&'static str),
    /// No such kind.
    #[error("unknown variant `{0}`")]
    Unknown(String),
    /// A field of another kind.
    #[error("unknown field `{0}`")]
    Stray(&'static str),
    /// Neither of what may stand here.
    #[error("expected {0}")]
    Other(&'static str),
}

fn need<T>(field: Option<T>, name: &'static str) -> Result<T, Misread> {
    field.ok_or(Misread::Missing(name))
}

/// A field, whether it is there, and the kind it belongs to.
type Field = (&'static str, bool, &'static str);

/// Refuses a field of another kind, as one that nobody knows is refused.
fn no_stray(kind: &str, fields: &[Field]) -> Result<(), Misread> {
    let stray = fields.iter().find(|(_, there, of)| *there && *of != kind);
    stray.map_or(Ok(()), |(name, ..)| Err(Misread::Stray(name)))
}

/// A [`Ceiling`] as it is read.
#[derive(Deserialize)]
pub(crate) struct CeilingText {
    kind: String,
    value: Option<f64>,
    lo: Option<f64>,
    hi: Option<f64>,
}

impl TryFrom<CeilingText> for Ceiling {
    type Error = Misread;
    fn try_from(text: CeilingText) -> Result<Self, Misread> {
        let CeilingText {
            kind,
            value,
            lo,
            hi,
        } = text;
        Ok(match kind.as_str() {
            "bracket" => Self::Bracket {
                value: need(value, "value")?,
                lo: need(lo, "lo")?,
                hi: need(hi, "hi")?,
            },
            "at_least" => Self::AtLeast {
                lo: need(lo, "lo")?,
            },
            "none_kept" => Self::NoneKept {
                hi: need(hi, "hi")?,
            },
            "unresolved" => Self::Unresolved { lo, hi },
            "ramped" => Self::Ramped,
            _ => return Err(Misread::Unknown(kind)),
        })
    }
}

/// A [`Capacity`] as it is read.
#[derive(Deserialize)]
pub(crate) struct CapacityText {
    state: String,
    why: Option<String>,
}

impl TryFrom<CapacityText> for Capacity {
    type Error = Misread;
    fn try_from(text: CapacityText) -> Result<Self, Misread> {
        Ok(match text.state.as_str() {
            "within" => Self::Within,
            "above" => Self::Above {
                why: need(text.why, "why")?,
            },
            "unknown" => Self::Unknown,
            _ => return Err(Misread::Unknown(text.state)),
        })
    }
}

/// A [`Verdict`] as it is read.
#[derive(Deserialize)]
pub(crate) struct VerdictText {
    verdict: String,
    smallest_seen: Option<f64>,
    why: Option<String>,
}

impl TryFrom<VerdictText> for Verdict {
    type Error = Misread;
    fn try_from(text: VerdictText) -> Result<Self, Misread> {
        Ok(match text.verdict.as_str() {
            "better" => Self::Better,
            "worse" => Self::Worse,
            "no_difference" => Self::NoDifference {
                smallest_seen: need(text.smallest_seen, "smallest_seen")?,
            },
            "cannot_tell" => Self::CannotTell {
                smallest_seen: need(text.smallest_seen, "smallest_seen")?,
            },
            "not_yet_judged" => Self::NotYetJudged {
                why: need(text.why, "why")?,
            },
            _ => return Err(Misread::Unknown(text.verdict)),
        })
    }
}

/// A [`Comparability`] as it is read. `differing` is one difference or several.
#[derive(Deserialize)]
pub(crate) struct ComparabilityText {
    kind: String,
    differing: Option<OneOrMore>,
    beside: Option<OneOrMore>,
}

struct OneOrMore(Vec<Differing>);

impl TryFrom<ComparabilityText> for Comparability {
    type Error = Misread;
    fn try_from(text: ComparabilityText) -> Result<Self, Misread> {
        let differing = text.differing.map(|OneOrMore(differing)| differing);
        Ok(match text.kind.as_str() {
            "identical" => Self::Identical,
            "one_variable" => Self::OneVariable {
                differing: need(
                    differing.and_then(|all| all.into_iter().next()),
                    "differing",
                )?,
                beside: text.beside.map_or_else(Vec::new, |OneOrMore(all)| all),
            },
            "confounded" => Self::Confounded {
                differing: need(differing, "differing")?,
            },
            _ => return Err(Misread::Unknown(text.kind)),
        })
    }
}

impl<'de> Deserialize<'de> for OneOrMore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrMoreVisitor)
    }
}

struct OneOrMoreVisitor;

impl<'de> Visitor<'de> for OneOrMoreVisitor {
    type Value = OneOrMore;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a difference, or a list of them")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OneOrMore, A::Error> {
        Differing::deserialize(MapAccessDeserializer::new(map)).map(|one| OneOrMore(vec![one]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<OneOrMore, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(seq)).map(OneOrMore)
    }
}

#[cfg(test)]
mod tests;
