//! The tolerance that real servers need: values that may be absent, null, of another type, or a list of one.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// A scalar, whatever its type; objects are as good as nothing, lists of parts are their joined text.
enum Loose<'a> {
    Nothing,
    Flag(bool),
    Whole(u64),
    Text(Cow<'a, str>),
    /// So many elements, and their joined text.
    List(u32, String),
}

/// A count that may be absent, null, or written as a float; anything else is as good as absent.
#[derive(Clone, Copy, Default)]
pub(super) struct Count(pub Option<u32>);

/// A string that may be absent, null or a list of parts with text; anything else is as good as empty.
#[derive(Default)]
pub(super) struct Text<'a>(pub Cow<'a, str>);

/// `true`, or anything else.
#[derive(Clone, Copy, Default)]
pub(super) struct Flag(pub bool);

/// A list that has one element nearly always: that one needs no memory of its own. Null is empty.
pub(super) struct Few<T> {
    first: Option<T>,
    rest: Vec<T>,
}

/// How many elements a list has; anything else has none.
#[derive(Clone, Copy, Default)]
pub(super) struct Length(pub u32);

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(default, borrow)]
    text: Text<'a>,
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match deserializer.deserialize_any(LooseVisitor)? {
            Loose::Whole(n) => u32::try_from(n).ok(),
            _ => None,
        }))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match deserializer.deserialize_any(LooseVisitor)? {
            Loose::Text(text) => text,
            Loose::List(_, joined) => Cow::Owned(joined),
            _ => Cow::Borrowed(""),
        }))
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let loose = deserializer.deserialize_any(LooseVisitor)?;
        Ok(Self(matches!(loose, Loose::Flag(true))))
    }
}

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let loose = deserializer.deserialize_any(LooseVisitor)?;
        Ok(Self(match loose {
            Loose::List(length, _) => length,
            _ => 0,
        }))
    }
}

struct LooseVisitor;

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Loose::Nothing)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Loose::Flag(flag))
    }

    fn visit_u64<E>(self, n: u64) -> Result<Self::Value, E> {
        Ok(Loose::Whole(n))
    }

    fn visit_i64<E>(self, n: i64) -> Result<Self::Value, E> {
        Ok(u64::try_from(n).map_or(Loose::Nothing, Loose::Whole))
    }

    fn visit_f64<E>(self, n: f64) -> Result<Self::Value, E> {
        Ok(if n >= 0.0 && n.fract() == 0.0 {
            Loose::Whole(n as u64)
        } else {
            Loose::Nothing
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        let (mut length, mut joined) = (0u32, String::new());
        while let Some(part) = parts.next_element::<Element<'de>>()? {
            length = length.saturating_add(1);
            joined.push_str(&part.0.0);
        }
        Ok(Loose::List(length, joined))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Loose::Nothing)
    }
}

/// An element of a list: the text of an object, else nothing.
struct Element<'a>(Text<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for Element<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ElementVisitor).map(Self)
    }
}

struct ElementVisitor;

impl<'de> Visitor<'de> for ElementVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part")
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Text::default())
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Text::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Text::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Text::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Text::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Text::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut inner: A) -> Result<Self::Value, A::Error> {
        while inner.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Text::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
        let fields = serde::de::value::MapAccessDeserializer::new(fields);
        Ok(Part::deserialize(fields)?.text)
    }
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self {
            first: None,
            rest: Vec::new(),
        }
    }
}

impl<T> Few<T> {
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.rest)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FewVisitor(std::marker::PhantomData))
    }
}

struct FewVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for FewVisitor<T> {
    type Value = Few<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Few::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let first = list.next_element()?;
        let mut rest = Vec::new();
        while let Some(element) = list.next_element()? {
            rest.push(element);
        }
        Ok(Few { first, rest })
    }
}

/// The text of an `error` field; `None` where the field says that there is none.
pub(super) fn error_text(error: &Value) -> Option<String> {
    match error {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) => (!text.is_empty()).then(|| text.clone()),
        Value::Object(fields) => Some(match fields.get("message") {
            Some(Value::String(message)) => message.clone(),
            _ => error.to_string(),
        }),
        other => Some(other.to_string()),
    }
}

/// The words for people in the body of a refused request: the message of its error object, else the whole text.
pub(super) fn refusal_text(body: &[u8]) -> String {
    let whole = || String::from_utf8_lossy(body).into_owned();
    let Ok(value) = serde_json::from_slice::<Value>(body) else {
        return whole();
    };
    let named = value.get("error").and_then(error_text);
    let bare = || {
        ["message", "detail"]
            .iter()
            .find_map(|key| value.get(key)?.as_str().map(str::to_owned))
    };
    named.or_else(bare).unwrap_or_else(whole)
}

/// Seconds from one HTTP date to another; none once it is past.
pub(super) fn seconds_until(then: &str, now: &str) -> Option<u64> {
    let (then, now) = (
        httpdate::parse_http_date(then).ok()?,
        httpdate::parse_http_date(now).ok()?,
    );
    Some(then.duration_since(now).unwrap_or_default().as_secs())
}
