//! JSON made into values, and values into JSON, by code made to be small.
//!
//! A text becomes a tree ([`Json`]), and serde takes what it wants from that. A struct is given its fields in the order in
//! which it declares them, as a list: serde's code for a list is a third of its code for named fields, which has to know
//! every name, in any order, once only. Errors have no words; a page and its own studio that do not understand each other
//! have nothing better to say than that.

mod reader; // a tree as serde wants it
mod text; // from text to a tree
mod writer; // values as text

use std::borrow::Cow;
use std::fmt::Display;

use serde::de::{DeserializeOwned, Error, Expected, Unexpected};

pub(super) use writer::to_string;

/// What JSON can say. Names and texts lie in the text that was read, unless they have escapes.
#[derive(Debug, Default, PartialEq)]
enum Json<'a> {
    /// A field that is not there.
    #[default]
    Missing,
    Null,
    Switch(bool),
    Natural(u64),
    Whole(i64),
    Fraction(f64),
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    Map(Vec<(Cow<'a, str>, Json<'a>)>),
}

/// Not JSON, or not of what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not what was expected")]
pub struct Unfit;

/// None of what others say is kept, so that none of it is in the module.
impl Error for Unfit {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }

    fn invalid_type(_: Unexpected<'_>, _: &dyn Expected) -> Self {
        Self
    }

    fn invalid_value(_: Unexpected<'_>, _: &dyn Expected) -> Self {
        Self
    }

    fn invalid_length(_: usize, _: &dyn Expected) -> Self {
        Self
    }

    fn unknown_variant(_: &str, _: &'static [&'static str]) -> Self {
        Self
    }

    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self
    }

    fn missing_field(_: &'static str) -> Self {
        Self
    }

    fn duplicate_field(_: &'static str) -> Self {
        Self
    }
}

/// Reads a value.
pub(super) fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Unfit> {
    T::deserialize(text::tree(text).ok_or(Unfit)?)
}

#[cfg(test)]
mod tests;
