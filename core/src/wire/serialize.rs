//! Any value as JSON, appended to a buffer: what `serde_json` writes, but strings in runs.
//!
//! `serde_json` looks at each byte of a string by itself, which is most of what a long text costs. Everything that is rare
//! here is left to it: reals, and keys that are not strings.

use alloc::vec::Vec;
use core::fmt::Display;

use serde::ser::{self, Error as _, Impossible, Serialize, Serializer};
use serde_json::Error;

use super::write;

/// How `serde_json` names the types that it passes on as text.
const VERBATIM: &str = "$serde_json::private::";

/// Appends a value.
///
/// # Errors
/// The value refuses to be serialised, or has keys that cannot be JSON keys. What was appended until then stays.
pub(crate) fn value(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
    value.serialize(Json { out })
}

struct Json<'a> {
    out: &'a mut Vec<u8>,
}

/// An array or object that is not closed yet.
struct Open<'a> {
    out: &'a mut Vec<u8>,
    /// Something stands in it.
    any: bool,
    close: &'static str,
    /// The value of its only member is text to be passed on.
    verbatim: bool,
}

impl<'a> Json<'a> {
    fn open(self, open: u8, close: &'static str) -> Open<'a> {
        self.out.push(open);
        Open { out: self.out, any: false, close, verbatim: false }
    }

    /// The beginning of a variant that holds something.
    fn variant(self, name: &str) -> Self {
        self.out.push(b'{');
        write::string(self.out, name);
        self.out.push(b':');
        self
    }

    fn rarely(self, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        self.out.extend_from_slice(&serde_json::to_vec(value)?);
        Ok(())
    }
}

macro_rules! integers {
    ($($method:ident: $type:ty,)*) => {
        $(fn $method(self, value: $type) -> Result<(), Error> {
            self.out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
            Ok(())
        })*
    };
}

impl<'a> Serializer for Json<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Open<'a>;
    type SerializeTuple = Open<'a>;
    type SerializeTupleStruct = Open<'a>;
    type SerializeTupleVariant = Open<'a>;
    type SerializeMap = Open<'a>;
    type SerializeStruct = Open<'a>;
    type SerializeStructVariant = Open<'a>;

    integers! {
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_i128: i128,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_u128: u128,
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        self.rarely(&value)
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        self.rarely(&value)
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        write::string(self.out, value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        inner: &T,
    ) -> Result<(), Error> {
        let Json { out } = self.variant(variant);
        value(out, inner)?;
        out.push(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Open<'a>, Error> {
        Ok(self.open(b'[', "]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Open<'a>, Error> {
        Ok(self.open(b'[', "]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Open<'a>, Error> {
        Ok(self.open(b'[', "]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Open<'a>, Error> {
        Ok(self.variant(variant).open(b'[', "]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Open<'a>, Error> {
        Ok(self.open(b'{', "}"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Open<'a>, Error> {
        if name.starts_with(VERBATIM) {
            return Ok(Open { out: self.out, any: false, close: "", verbatim: true });
        }
        Ok(self.open(b'{', "}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Open<'a>, Error> {
        Ok(self.variant(variant).open(b'{', "}}"))
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.serialize_str(&alloc::format!("{value}"))
    }
}

impl Open<'_> {
    fn comma(&mut self) {
        if core::mem::replace(&mut self.any, true) {
            self.out.push(b',');
        }
    }

    fn item(&mut self, item: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        self.comma();
        value(self.out, item)
    }

    fn member(&mut self, name: &'static str, inner: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        if self.verbatim {
            return inner.serialize(Verbatim { out: self.out });
        }
        self.comma();
        write::string(self.out, name);
        self.out.push(b':');
        value(self.out, inner)
    }

    #[allow(clippy::unnecessary_wraps)] // the form that serde wants
    fn close(self) -> Result<(), Error> {
        self.out.extend_from_slice(self.close.as_bytes());
        Ok(())
    }
}

/// Takes a string that is JSON already, as it stands.
struct Verbatim<'a> {
    out: &'a mut Vec<u8>,
}

impl Verbatim<'_> {
    fn none<T>() -> Result<T, Error> {
        Err(Error::custom("text to be passed on that is no string"))
    }
}

macro_rules! no_text {
    ($($method:ident: $type:ty,)*) => {
        $(fn $method(self, _: $type) -> Result<(), Error> {
            Self::none()
        })*
    };
}

impl Serializer for Verbatim<'_> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Impossible<(), Error>;
    type SerializeTuple = Impossible<(), Error>;
    type SerializeTupleStruct = Impossible<(), Error>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeMap = Impossible<(), Error>;
    type SerializeStruct = Impossible<(), Error>;
    type SerializeStructVariant = Impossible<(), Error>;

    fn serialize_str(self, text: &str) -> Result<(), Error> {
        self.out.extend_from_slice(text.as_bytes());
        Ok(())
    }

    no_text! {
        serialize_bool: bool,
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_f32: f32,
        serialize_f64: f64,
        serialize_char: char,
        serialize_bytes: &[u8],
        serialize_unit_struct: &'static str,
    }

    fn serialize_none(self) -> Result<(), Error> {
        Self::none()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<(), Error> {
        Self::none()
    }

    fn serialize_unit(self) -> Result<(), Error> {
        Self::none()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), Error> {
        Self::none()
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, _: &T) -> Result<(), Error> {
        Self::none()
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Error> {
        Self::none()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Error> {
        Self::none()
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Error> {
        Self::none()
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, Error> {
        Self::none()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Error> {
        Self::none()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Error> {
        Self::none()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, Error> {
        Self::none()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Error> {
        Self::none()
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.serialize_str(&alloc::format!("{value}"))
    }
}

/// Appends a key. What is not written as a string is none as it stands.
fn key(out: &mut Vec<u8>, key: &(impl Serialize + ?Sized)) -> Result<(), Error> {
    let start = out.len();
    value(out, key)?;
    if out.get(start) == Some(&b'"') {
        return Ok(());
    }
    out.truncate(start);
    let object = serde_json::to_vec(&Alone(key))?;
    let object = object.strip_prefix(b"{").and_then(|rest| rest.strip_suffix(b":null}"));
    out.extend_from_slice(object.ok_or_else(|| Error::custom("a key that is no string"))?);
    Ok(())
}

/// An object with this key and nothing to it.
struct Alone<'a, K: ?Sized>(&'a K);

impl<K: Serialize + ?Sized> Serialize for Alone<'_, K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.0, ())])
    }
}

macro_rules! items {
    ($($trait:ident $method:ident,)*) => {
        $(impl ser::$trait for Open<'_> {
            type Ok = ();
            type Error = Error;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.item(value)
            }
            fn end(self) -> Result<(), Error> {
                self.close()
            }
        })*
    };
}

items! {
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field,
}

macro_rules! fields {
    ($($trait:ident,)*) => {
        $(impl ser::$trait for Open<'_> {
            type Ok = ();
            type Error = Error;
            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
                self.member(name, value)
            }
            fn end(self) -> Result<(), Error> {
                self.close()
            }
        })*
    };
}

fields! {
    SerializeStruct,
    SerializeStructVariant,
}

impl ser::SerializeMap for Open<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<(), Error> {
        self.comma();
        key(self.out, name)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, inner: &T) -> Result<(), Error> {
        self.out.push(b':');
        value(self.out, inner)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

#[cfg(test)]
#[path = "serialize_test.rs"]
mod test;
