//! What the readers and writers of open objects have in common: members as they come, fixed values, numbers.

use alloc::string::String;
use alloc::vec;
use core::{fmt, marker::PhantomData};

use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::members::RawMembers;
use super::raw::RawJson;
use crate::wire::write;

/// The names an object knows.
pub(super) trait Known: Sized {
    fn find(name: &str) -> Option<Self>;
}

/// Reads a string: one of the known ones without keeping the text, or the text.
pub(super) struct Name<K>(pub(super) PhantomData<K>);

impl<'de, K: Known> DeserializeSeed<'de> for Name<K> {
    type Value = Result<K, String>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<K: Known> Visitor<'_> for Name<K> {
    type Value = Result<K, String>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }
    #[inline]
    fn visit_str<E: de::Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(K::find(name).ok_or_else(|| name.into()))
    }
}

/// The members of an object being read: first those somebody had to read ahead, then the rest.
pub(super) struct Source<A> {
    map: A,
    ahead: vec::IntoIter<(String, RawJson)>,
    value: Option<RawJson>,
    /// Whether the tag has been read.
    tagged: bool,
}

impl<'de, A: MapAccess<'de>> Source<A> {
    #[inline]
    pub(super) fn new(map: A) -> Self {
        Self { map, ahead: RawMembers::new().into_iter(), value: None, tagged: false }
    }

    /// An object whose tag, and the members before it, have been read.
    #[inline]
    pub(super) fn after_tag(map: A, ahead: RawMembers) -> Self {
        Self { map, ahead: ahead.into_iter(), value: None, tagged: true }
    }

    #[inline]
    pub(super) fn name<K: Known>(&mut self) -> Result<Option<Result<K, String>>, A::Error> {
        if let Some((name, value)) = self.ahead.next() {
            self.value = Some(value);
            return Ok(Some(K::find(&name).ok_or(name)));
        }
        self.map.next_key_seed(Name(PhantomData))
    }

    /// The value of the member just named. An error says which member it was.
    #[inline]
    pub(super) fn value<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, A::Error> {
        match self.value.take() {
            None => self.map.next_value().map_err(|error| at(name, error)),
            Some(raw) => raw.parse().map_err(|error| {
                // The position would be one within this value.
                let text = alloc::string::ToString::to_string(&error);
                at(name, text.rsplit_once(" at line ").map_or(text.as_str(), |(said, _)| said))
            }),
        }
    }

    pub(super) fn object(&mut self, name: &str) -> Result<Option<RawJson>, A::Error> {
        let value: Option<RawJson> = self.value(name)?;
        match value {
            Some(raw) if !raw.is_object() => Err(at(name, "expected an object")),
            value => Ok(value),
        }
    }

    pub(super) fn tag(&mut self, name: &'static str, expected: &str) -> Result<(), A::Error> {
        if core::mem::replace(&mut self.tagged, true) {
            return Err(de::Error::duplicate_field(name));
        }
        // Only what somebody read ahead is buffered, and that stops before the tag.
        self.map.next_value_seed(Tag(expected)).map_err(|error| at(name, error))
    }

    pub(super) fn tagged(&self, name: &'static str) -> Result<(), A::Error> {
        if self.tagged { Ok(()) } else { Err(de::Error::missing_field(name)) }
    }
}

/// Reads a string that can only be this one.
struct Tag<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for Tag<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Tag<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the string {:?}", self.0)
    }
    fn visit_str<E: de::Error>(self, found: &str) -> Result<(), E> {
        if found == self.0 { Ok(()) } else { Err(E::invalid_value(de::Unexpected::Str(found), &self)) }
    }
}

/// An error that names the member it is about.
pub(super) fn at<E: de::Error>(name: &str, error: impl fmt::Display) -> E {
    E::custom(format_args!("{name}: {error}"))
}

/// A number written without a fraction if it is whole.
pub(super) struct Plain(pub(super) f64);

impl Serialize for Plain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match write::whole(self.0) {
            Some(whole) => serializer.serialize_i64(whole),
            None => serializer.serialize_f64(self.0),
        }
    }
}

/// A duration in milliseconds as peers write it: negative means zero, a fraction is dropped.
#[derive(Default)]
pub(super) struct Millis(pub(super) u64);

impl<'de> de::Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Wire;
        impl Visitor<'_> for Wire {
            type Value = Millis;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of milliseconds")
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Millis, E> {
                Ok(Millis(value))
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Millis, E> {
                Ok(Millis(u64::try_from(value).unwrap_or(0)))
            }
            #[allow(clippy::cast_sign_loss)] // The cast saturates: negative becomes zero, as it should.
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Millis, E> {
                Ok(Millis(value as u64))
            }
        }
        deserializer.deserialize_any(Wire)
    }
}
