//! The JSON Schemas of a tool, kept verbatim (server/tools, "Tool").
//!
//! Nothing here validates against them. An input schema made here is checked to be for an object; one that was read
//! is only known to be an object itself, so that a peer's odd tool does not take its whole list down.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::raw::RawJson;
use super::write_json::WriteJson;

/// Why a JSON value is not the schema of a tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// It is not an object.
    #[error("a tool's schema must be a JSON object")]
    NotAnObject,
    /// Its `type` is not `"object"`, which a tool's arguments always are.
    #[error("the `type` of a tool's input schema must be \"object\"")]
    NotForObjects,
}

macro_rules! schema {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub struct $name(RawJson);

        impl $name {
            /// The schema's JSON.
            pub fn as_json(&self) -> &RawJson {
                &self.0
            }
        }

        impl TryFrom<RawJson> for $name {
            type Error = SchemaError;
            fn try_from(schema: RawJson) -> Result<Self, SchemaError> {
                Self::new(schema)
            }
        }

        impl WriteJson for $name {
            fn write_json(&self, out: &mut Vec<u8>) {
                self.0.write_json(out);
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let schema = RawJson::deserialize(deserializer)?;
                if schema.is_object() {
                    return Ok(Self(schema));
                }
                Err(de::Error::custom(SchemaError::NotAnObject))
            }
        }
    };
}

schema! {
    /// The schema of a tool's arguments.
    InputSchema
}

schema! {
    /// The schema of a tool's structured content.
    OutputSchema
}

impl InputSchema {
    /// Takes a schema whose `type` is `"object"`.
    ///
    /// # Errors
    /// When it is not an object, or is for something else than objects.
    pub fn new(schema: RawJson) -> Result<Self, SchemaError> {
        if !schema.is_object() {
            return Err(SchemaError::NotAnObject);
        }
        match schema.parse() {
            Ok(ForObjects(true)) => Ok(Self(schema)),
            _ => Err(SchemaError::NotForObjects),
        }
    }

    /// Whether the `type` is `"object"`, as it should be.
    pub fn is_for_objects(&self) -> bool {
        matches!(self.0.parse(), Ok(ForObjects(true)))
    }
}

impl OutputSchema {
    /// Takes a schema of any type.
    ///
    /// # Errors
    /// When it is not an object.
    pub fn new(schema: RawJson) -> Result<Self, SchemaError> {
        if schema.is_object() { Ok(Self(schema)) } else { Err(SchemaError::NotAnObject) }
    }
}

/// Whether a schema has one `type`, which is `"object"`.
struct ForObjects(bool);

impl<'de> Deserialize<'de> for ForObjects {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Wire;
        impl<'de> Visitor<'de> for Wire {
            type Value = ForObjects;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a schema")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ForObjects, A::Error> {
                let mut types = 0_usize;
                let mut objects = 0_usize;
                while let Some(name) = map.next_key::<String>()? {
                    if name == "type" {
                        types += 1;
                        objects += usize::from(
                            map.next_value::<RawJson>()?.parse().is_ok_and(|kind: String| kind == "object"),
                        );
                    } else {
                        map.next_value::<de::IgnoredAny>()?;
                    }
                }
                Ok(ForObjects(types == 1 && objects == 1))
            }
        }
        deserializer.deserialize_map(Wire)
    }
}
