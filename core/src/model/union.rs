//! Objects of several kinds, told apart by their `type`.

use alloc::string::String;

use serde::de::{self, MapAccess};

use super::members::RawMembers;
use super::raw::RawJson;
use super::source::{Known, at};

/// Makes an enum of open objects with different fixed `type`s, and its reader and two writers. A line of the table is
/// `"wire" => Variant: Field as Object`, where `Field` is the object or a box of it. Objects of another `type` are
/// kept verbatim, in a variant `Unknown`.
///
/// The reader goes up to `type` and leaves the rest to the kind it names. Members before `type` are kept raw meanwhile,
/// so an object that starts with its `type`, as most do, is read in one pass.
macro_rules! union {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $($(#[$doc:meta])* $wire:literal => $variant:ident: $field:ty as $object:ident,)* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $variant($field),)*
            /// A kind unknown here: the object with its members verbatim and in their order; only the space between
            /// members is gone.
            Unknown($crate::model::RawJson),
        }

        impl $name {
            /// Appends the object as JSON on one line: what serialising gives, faster.
            pub fn write(&self, out: &mut alloc::vec::Vec<u8>) {
                match self {
                    $(Self::$variant(object) => object.write(out),)*
                    Self::Unknown(raw) => $crate::model::write_json::WriteJson::write_json(raw, out),
                }
            }
        }

        const _: () = {
            use core::{fmt, marker::PhantomData};

            use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
            use serde::ser::{Serialize, Serializer};

            use $crate::model::source::{Known, Name, Source, at};
            use $crate::model::union::{Type, unknown};

            enum Kind { $($variant,)* }

            impl Known for Kind {
                fn find(name: &str) -> Option<Self> {
                    match name { $($wire => Some(Self::$variant),)* _ => None }
                }
            }

            impl $name {
                pub(in $crate::model) fn read<'de, A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
                    let mut ahead = $crate::model::RawMembers::new();
                    while let Some(name) = map.next_key_seed(Name::<Type>(PhantomData))? {
                        if let Err(name) = name {
                            let value = map.next_value().map_err(|error| at(&name, error))?;
                            ahead.push(name, value);
                            continue;
                        }
                        let kind = map
                            .next_value_seed(Name::<Kind>(PhantomData))
                            .map_err(|error| at("type", error))?;
                        return match kind {
                            $(Ok(Kind::$variant) => $object::read(Source::after_tag(map, ahead))
                                .map(|object| Self::$variant(object.into())),)*
                            Err(kind) => unknown(map, ahead, &kind).map(Self::Unknown),
                        };
                    }
                    Err(serde::de::Error::missing_field("type"))
                }
            }

            impl<'de> Deserialize<'de> for $name {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    struct Wire;
                    impl<'de> Visitor<'de> for Wire {
                        type Value = $name;
                        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                            f.write_str(concat!("an object (", stringify!($name), ")"))
                        }
                        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<$name, A::Error> {
                            $name::read(map)
                        }
                    }
                    deserializer.deserialize_map(Wire)
                }
            }

            impl Serialize for $name {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    match self {
                        $(Self::$variant(object) => object.serialize(serializer),)*
                        Self::Unknown(raw) => raw.serialize(serializer),
                    }
                }
            }

            impl $crate::model::write_json::WriteJson for $name {
                fn write_json(&self, out: &mut alloc::vec::Vec<u8>) {
                    self.write(out);
                }
            }

            $(impl From<$object> for $name {
                fn from(object: $object) -> Self {
                    Self::$variant(object.into())
                }
            })*
        };
    };
}

pub(in crate::model) use union;

/// The one name that matters before the kind is known.
pub(super) struct Type;

impl Known for Type {
    fn find(name: &str) -> Option<Self> {
        (name == "type").then_some(Self)
    }
}

/// The slower way: puts the object together again.
pub(super) fn unknown<'de, A: MapAccess<'de>>(
    mut map: A,
    mut members: RawMembers,
    kind: &str,
) -> Result<RawJson, A::Error> {
    members.push("type".into(), RawJson::from_value(kind).map_err(de::Error::custom)?);
    while let Some(name) = map.next_key::<String>()? {
        let value = map.next_value().map_err(|error| at(&name, error))?;
        members.push(name, value);
    }
    if let Some(name) = members.repeated() {
        return Err(de::Error::custom(format_args!("duplicate field `{name}`")));
    }
    RawJson::from_value(&members).map_err(de::Error::custom)
}
