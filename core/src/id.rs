//! Identifiers. What the wire carries ([`RequestId`], [`ProgressToken`]) and what names a thing locally
//! ([`CallId`], [`ServingId`]) are different types, so that neither can stand in for the other.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::slab::Key;
use crate::wire::write;

/// Longest string accepted as a request id or progress token, in bytes. A peer's id is kept for as long as
/// its request lives and is repeated in every answer; UUIDs and counters stay far below this.
pub const MAX_WIRE_ID: usize = 256;

macro_rules! wire_id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name {
            /// An integer. `1` and `"1"` are different.
            Int(i64),
            /// A string, kept as sent.
            Str(Box<str>),
        }

        impl From<i64> for $name {
            fn from(value: i64) -> Self {
                Self::Int(value)
            }
        }

        impl From<&str> for $name {
            fn from(value: &str) -> Self {
                Self::Str(value.into())
            }
        }

        impl From<String> for $name {
            fn from(value: String) -> Self {
                Self::Str(value.into())
            }
        }

        impl fmt::Display for $name {
            /// The JSON form: a string is quoted, so that `1` and `"1"` read differently.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Int(value) => write!(f, "{value}"),
                    Self::Str(value) => {
                        let mut quoted = Vec::new();
                        write::string(&mut quoted, value);
                        f.write_str(core::str::from_utf8(&quoted).unwrap_or_default())
                    }
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    Self::Int(value) => serializer.serialize_i64(*value),
                    Self::Str(value) => serializer.serialize_str(value),
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Wire;
                impl Visitor<'_> for Wire {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str(concat!($what, ": an integer of 64 bits or a string of at most 256 bytes"))
                    }
                    fn visit_i64<E: de::Error>(self, value: i64) -> Result<$name, E> {
                        Ok($name::Int(value))
                    }
                    fn visit_u64<E: de::Error>(self, value: u64) -> Result<$name, E> {
                        i64::try_from(value)
                            .map($name::Int)
                            .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(value), &self))
                    }
                    fn visit_str<E: de::Error>(self, value: &str) -> Result<$name, E> {
                        if value.len() > MAX_WIRE_ID {
                            return Err(E::invalid_length(value.len(), &self));
                        }
                        Ok($name::Str(value.into()))
                    }
                }
                deserializer.deserialize_any(Wire)
            }
        }
    };
}

wire_id! {
    /// The `id` of a JSON-RPC request: an integer or a string, echoed with its own type.
    ///
    /// `true`, `1.5`, `null`, objects and integers beyond 64 bits are not ids (basic/index, "Requests").
    RequestId, "a request id"
}

wire_id! {
    /// The `_meta.progressToken` of a request: an integer or a string; `0` and `""` are tokens, `null` is not
    /// (basic/patterns/progress).
    ProgressToken, "a progress token"
}

macro_rules! local_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name {
            index: u32,
            generation: u32,
        }

        impl $name {
            pub(crate) const fn of((index, generation): Key) -> Self {
                Self { index, generation }
            }

            pub(crate) const fn key(self) -> Key {
                (self.index, self.generation)
            }

            /// A small number, unique among those that live at the same time: a place in a table of the caller's.
            pub fn index(self) -> u32 {
                self.index
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}.{}"), self.index, self.generation)
            }
        }
    };
}

local_id! {
    /// One logical call of a client, over all its attempts. Never reused.
    CallId, "call"
}

local_id! {
    /// One request that a server is serving. Never reused.
    ServingId, "serving"
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn what_is_shown_is_the_json_form() {
        for text in ["", "1", "a\"b\\", "\n\t\u{1}", "\u{7f}\u{e9}\u{2028}\u{1f4da}"] {
            let (id, token) = (RequestId::from(text), ProgressToken::from(text));
            let json = serde_json::to_string(&id).unwrap();
            assert_eq!((id.to_string(), token.to_string()), (json.clone(), json));
        }
        assert_eq!(RequestId::from(-1).to_string(), "-1");
    }
}
