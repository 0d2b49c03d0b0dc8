//! Values as JSON. Writing cannot fail, so that nothing is there for when it would.

use std::fmt::{Display, Write};

use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// A value as JSON.
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> String {
    let mut text = String::new();
    let Ok(()) = value.serialize(Writer(&mut text));
    text
}

/// What does not happen: none of our values refuses to be written.
#[derive(Debug, thiserror::Error)]
pub enum Never {}

impl Error for Never {
    fn custom<T: Display>(_: T) -> Self {
        unreachable!("a value that refuses to be written")
    }
}

/// Writes one value.
struct Writer<'a>(&'a mut String);

impl<'a> Writer<'a> {
    fn plain(self, value: impl Display) -> Result<(), Never> {
        // Writing into a text cannot fail.
        let _ = write!(self.0, "{value}");
        Ok(())
    }

    fn text(&mut self, text: &str) {
        self.0.push('"');
        for letter in text.chars() {
            match letter {
                '"' | '\\' => self.0.extend(['\\', letter]),
                '\n' => self.0.push_str("\\n"),
                control if control < ' ' => {
                    let _ = write!(self.0, "\\u{:04x}", u32::from(control));
                }
                other => self.0.push(other),
            }
        }
        self.0.push('"');
    }

    /// Begins what stands between commas and ends as it does here.
    fn listed(self, open: &str, close: &'static str) -> Listed<'a> {
        self.0.push_str(open);
        Listed {
            text: self.0,
            begun: false,
            close,
        }
    }

    /// Begins what stands under a variant's name.
    fn variant(mut self, name: &str, open: &str, close: &'static str) -> Listed<'a> {
        self.0.push('{');
        self.text(name);
        self.0.push(':');
        self.listed(open, close)
    }
}

/// What stands between commas.
struct Listed<'a> {
    text: &'a mut String,
    begun: bool,
    close: &'static str,
}

impl Listed<'_> {
    fn next(&mut self) -> Writer<'_> {
        if self.begun {
            self.text.push(',');
        }
        self.begun = true;
        Writer(self.text)
    }

    fn named(&mut self, name: &str) -> Writer<'_> {
        self.next().text(name);
        self.colon()
    }

    fn colon(&mut self) -> Writer<'_> {
        self.text.push(':');
        Writer(self.text)
    }

    fn close(self) -> Result<(), Never> {
        self.text.push_str(self.close);
        Ok(())
    }
}

/// Methods that write their argument as it is displayed.
macro_rules! plain {
    ($($serialize:ident $of:ty)*) => {
        $(fn $serialize(self, value: $of) -> Result<(), Never> {
            self.plain(value)
        })*
    };
}

impl<'a> Serializer for Writer<'a> {
    type Ok = ();
    type Error = Never;
    type SerializeSeq = Listed<'a>;
    type SerializeTuple = Listed<'a>;
    type SerializeTupleStruct = Listed<'a>;
    type SerializeTupleVariant = Listed<'a>;
    type SerializeMap = Listed<'a>;
    type SerializeStruct = Listed<'a>;
    type SerializeStructVariant = Listed<'a>;

    plain! {
        serialize_bool bool
        serialize_i8 i8
        serialize_i16 i16
        serialize_i32 i32
        serialize_i64 i64
        serialize_u8 u8
        serialize_u16 u16
        serialize_u32 u32
        serialize_u64 u64
    }

    fn serialize_f32(self, value: f32) -> Result<(), Never> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Never> {
        if value.is_finite() {
            // Keeps a whole number apart from a fraction that happens to be whole.
            self.plain(format_args!("{value:?}"))
        } else {
            self.serialize_unit()
        }
    }

    fn serialize_char(self, value: char) -> Result<(), Never> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(mut self, value: &str) -> Result<(), Never> {
        self.text(value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Never> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), Never> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Never> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Never> {
        self.0.push_str("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Never> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
    ) -> Result<(), Never> {
        self.serialize_str(name)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Never> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<(), Never> {
        let held = self.variant(name, "", "}");
        value.serialize(Writer(held.text))?;
        held.close()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Listed<'a>, Never> {
        Ok(self.listed("[", "]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Listed<'a>, Never> {
        Ok(self.listed("[", "]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Listed<'a>, Never> {
        Ok(self.listed("[", "]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Listed<'a>, Never> {
        Ok(self.variant(name, "[", "]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Listed<'a>, Never> {
        Ok(self.listed("{", "}"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Listed<'a>, Never> {
        Ok(self.listed("{", "}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Listed<'a>, Never> {
        Ok(self.variant(name, "{", "}}"))
    }
}

/// Lists whose values stand for themselves.
macro_rules! unnamed {
    ($($list:ident $serialize:ident)*) => {
        $(impl $list for Listed<'_> {
            type Ok = ();
            type Error = Never;

            fn $serialize<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
                value.serialize(self.next())
            }

            fn end(self) -> Result<(), Never> {
                self.close()
            }
        })*
    };
}

unnamed! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

/// Lists whose values have names.
macro_rules! named {
    ($($list:ident)*) => {
        $(impl $list for Listed<'_> {
            type Ok = ();
            type Error = Never;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), Never> {
                value.serialize(self.named(name))
            }

            fn end(self) -> Result<(), Never> {
                self.close()
            }
        })*
    };
}

named! { SerializeStruct SerializeStructVariant }

impl SerializeMap for Listed<'_> {
    type Ok = ();
    type Error = Never;

    /// Of our maps each key is a text.
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Never> {
        key.serialize(self.next())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
        value.serialize(self.colon())
    }

    fn end(self) -> Result<(), Never> {
        self.close()
    }
}
