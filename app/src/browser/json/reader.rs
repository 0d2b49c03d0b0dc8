//! A tree as serde wants it.

use std::borrow::Cow;
use std::vec::IntoIter;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::{Json, Unfit};

/// Named values.
type Named<'a> = (Cow<'a, str>, Json<'a>);

impl<'a> Json<'a> {
    fn natural(self) -> Result<u64, Unfit> {
        match self {
            Self::Natural(number) => Ok(number),
            _ => Err(Unfit),
        }
    }

    fn whole(self) -> Result<i64, Unfit> {
        match self {
            Self::Natural(number) => i64::try_from(number).map_err(|_| Unfit),
            Self::Whole(number) => Ok(number),
            _ => Err(Unfit),
        }
    }

    fn fraction(self) -> Result<f64, Unfit> {
        match self {
            Self::Natural(number) => Ok(number as f64),
            Self::Whole(number) => Ok(number as f64),
            Self::Fraction(number) => Ok(number),
            _ => Err(Unfit),
        }
    }

    fn switch(self) -> Result<bool, Unfit> {
        match self {
            Self::Switch(on) => Ok(on),
            _ => Err(Unfit),
        }
    }

    fn text(self) -> Result<Cow<'a, str>, Unfit> {
        match self {
            Self::Text(text) => Ok(text),
            _ => Err(Unfit),
        }
    }

    fn list(self) -> Result<List<'a>, Unfit> {
        match self {
            Self::List(all) => Ok(List(all.into_iter())),
            _ => Err(Unfit),
        }
    }

    fn map(self) -> Result<Vec<Named<'a>>, Unfit> {
        match self {
            Self::Map(all) => Ok(all),
            _ => Err(Unfit),
        }
    }

    /// The fields of these names, in their order; one that is not there is missing.
    fn fields(self, names: &[&str]) -> Result<List<'a>, Unfit> {
        let mut all = self.map()?;
        let take = |name: &&str| {
            let found = all.iter_mut().find(|(of, _)| of == name);
            found.map_or(Json::Missing, |(_, value)| std::mem::take(value))
        };
        let fields: Vec<_> = names.iter().map(take).collect();
        Ok(List(fields.into_iter()))
    }

    /// A variant's name and what it holds.
    fn variant(self) -> Result<Variant<'a>, Unfit> {
        match self {
            Self::Text(name) => Ok(Variant(name, Json::Null)),
            other => {
                let (name, held) = other.map()?.pop().ok_or(Unfit)?;
                Ok(Variant(name, held))
            }
        }
    }
}

/// Methods that call a visitor with what a method above gives.
macro_rules! give {
    ($($deserialize:ident $read:ident $visit:ident)*) => {
        $(fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
            visitor.$visit(self.$read()?)
        })*
    };
}

impl<'de> Deserializer<'de> for Json<'_> {
    type Error = Unfit;

    give! {
        deserialize_bool switch visit_bool
        deserialize_i8 whole visit_i64
        deserialize_i16 whole visit_i64
        deserialize_i32 whole visit_i64
        deserialize_i64 whole visit_i64
        deserialize_u8 natural visit_u64
        deserialize_u16 natural visit_u64
        deserialize_u32 natural visit_u64
        deserialize_u64 natural visit_u64
        deserialize_f32 fraction visit_f64
        deserialize_f64 fraction visit_f64
        deserialize_seq list visit_seq
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        match self {
            Self::Missing => Err(Unfit),
            Self::Null => visitor.visit_unit(),
            Self::Switch(on) => visitor.visit_bool(on),
            Self::Natural(number) => visitor.visit_u64(number),
            Self::Whole(number) => visitor.visit_i64(number),
            Self::Fraction(number) => visitor.visit_f64(number),
            Self::Text(text) => visitor.visit_str(&text),
            Self::List(all) => visitor.visit_seq(List(all.into_iter())),
            Self::Map(all) => visitor.visit_map(Entries(all.into_iter(), Self::Missing)),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        visitor.visit_str(&self.text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        visitor.visit_string(self.text()?.into_owned())
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        visitor.visit_str(&self.text()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        match self {
            Self::Missing | Self::Null => visitor.visit_none(),
            other => visitor.visit_some(other),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Unfit> {
        visitor.visit_seq(self.list()?)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        visitor.visit_map(Entries(self.map()?.into_iter(), Self::Missing))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        visitor.visit_seq(self.fields(names)?)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        visitor.visit_enum(self.variant()?)
    }

    forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf unit unit_struct tuple_struct ignored_any
    }
}

/// Values one after the other.
struct List<'a>(IntoIter<Json<'a>>);

impl<'de> SeqAccess<'de> for List<'_> {
    type Error = Unfit;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Unfit> {
        let Some(value) = self.0.next() else {
            return Ok(None);
        };
        let missing = value == Json::Missing;
        match seed.deserialize(value) {
            Ok(value) => Ok(Some(value)),
            // Whoever has a default for a missing field takes it where a list ends early.
            Err(_) if missing => Ok(None),
            Err(unfit) => Err(unfit),
        }
    }
}

/// Names and values, and the value whose name was read last.
struct Entries<'a>(IntoIter<Named<'a>>, Json<'a>);

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Unfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Unfit> {
        let Some((name, value)) = self.0.next() else {
            return Ok(None);
        };
        self.1 = value;
        seed.deserialize(Json::Text(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Unfit> {
        seed.deserialize(std::mem::take(&mut self.1))
    }
}

/// A variant's name and what it holds.
struct Variant<'a>(Cow<'a, str>, Json<'a>);

impl<'de, 'a> EnumAccess<'de> for Variant<'a> {
    type Error = Unfit;
    type Variant = Json<'a>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Json<'a>), Unfit> {
        Ok((seed.deserialize(Json::Text(self.0))?, self.1))
    }
}

impl<'de> VariantAccess<'de> for Json<'_> {
    type Error = Unfit;

    fn unit_variant(self) -> Result<(), Unfit> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Unfit> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Unfit> {
        self.deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        self.deserialize_struct("", names, visitor)
    }
}
