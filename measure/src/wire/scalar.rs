//! Values without parts, whose kind is seen by what they are.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

use crate::knobs::KnobValue;

/// A value without parts, of whatever kind it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scalar {
    Switch(bool),
    Natural(u64),
    Whole(i64),
    Fraction(f64),
    Text(String),
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl Visitor<'_> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false, a number or text")
    }

    fn visit_bool<E: Error>(self, on: bool) -> Result<Scalar, E> {
        Ok(Scalar::Switch(on))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Scalar, E> {
        Ok(Scalar::Natural(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Scalar, E> {
        Ok(Scalar::Whole(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Scalar, E> {
        Ok(Scalar::Fraction(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(text.to_owned()))
    }
}

impl From<Scalar> for KnobValue {
    fn from(value: Scalar) -> Self {
        match value {
            Scalar::Switch(on) => Self::Switch(on),
            Scalar::Natural(number) => {
                i64::try_from(number).map_or(Self::Fraction(number as f64), Self::Whole)
            }
            Scalar::Whole(number) => Self::Whole(number),
            Scalar::Fraction(number) => Self::Fraction(number),
            Scalar::Text(word) => Self::Word(word),
        }
    }
}
