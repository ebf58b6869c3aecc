//! Enumerations that the wire carries as strings.
//!
//! Where a string is a hint, one that a later revision or a careless peer uses must not cost the whole object it stands in:
//! such an enumeration is open ([`open_names!`](open_names)) and keeps the string. Where the specification says that another
//! string is an error it is closed ([`names!`](names)).

/// See the [module](self).
macro_rules! names {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $wire:literal,)* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// The string on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $wire,)* }
            }

            /// What a string on the wire means; upper and lower case differ.
            pub fn from_wire(name: &str) -> Option<Self> {
                match name { $($wire => Some(Self::$variant),)* _ => None }
            }
        }

        const _: () = {
            impl serde::ser::Serialize for $name {
                fn serialize<S: serde::ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.serialize_str(self.as_str())
                }
            }

            impl<'de> serde::de::Deserialize<'de> for $name {
                fn deserialize<D: serde::de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    struct Wire;
                    impl serde::de::Visitor<'_> for Wire {
                        type Value = $name;
                        fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                            f.write_str("one of")?;
                            $(f.write_str(concat!(" ", $wire))?;)*
                            Ok(())
                        }
                        fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<$name, E> {
                            $name::from_wire(name)
                                .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(name), &self))
                        }
                    }
                    deserializer.deserialize_str(Wire)
                }
            }

            impl $crate::model::write_json::WriteJson for $name {
                fn write_json(&self, out: &mut alloc::vec::Vec<u8>) {
                    out.push(b'"');
                    out.extend_from_slice(self.as_str().as_bytes());
                    out.push(b'"');
                }
            }
        };
    };
}

/// See the [module](self).
macro_rules! open_names {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $wire:literal,)* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $variant,)*
            /// A string that the specification does not name, kept as it came.
            Other(alloc::boxed::Box<str>),
        }

        impl $name {
            /// The string on the wire.
            pub fn as_str(&self) -> &str {
                match self { $(Self::$variant => $wire,)* Self::Other(name) => name }
            }
        }

        impl From<&str> for $name {
            /// What a string on the wire means; upper and lower case differ.
            fn from(name: &str) -> Self {
                match name { $($wire => Self::$variant,)* other => Self::Other(other.into()) }
            }
        }

        const _: () = {
            impl serde::ser::Serialize for $name {
                fn serialize<S: serde::ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.serialize_str(self.as_str())
                }
            }

            impl<'de> serde::de::Deserialize<'de> for $name {
                fn deserialize<D: serde::de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    struct Wire;
                    impl serde::de::Visitor<'_> for Wire {
                        type Value = $name;
                        fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                            f.write_str(concat!("a string (", stringify!($name), ")"))
                        }
                        fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<$name, E> {
                            Ok($name::from(name))
                        }
                    }
                    deserializer.deserialize_str(Wire)
                }
            }

            impl $crate::model::write_json::WriteJson for $name {
                fn write_json(&self, out: &mut alloc::vec::Vec<u8>) {
                    $crate::wire::write::string(out, self.as_str());
                }
            }
        };
    };
}

pub(in crate::model) use {names, open_names};
