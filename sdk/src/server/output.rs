//! What a tool takes and gives.

use sansio_mcp::model::{CallToolResult, ContentBlock, RawJson};
use serde::Serialize;
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny};

use super::exit::Exit;

/// What a tool's handler may return as its value.
#[diagnostic::on_unimplemented(
    note = "a value that serialises is returned as `Json(value)`, or without a schema as `Untyped(value)`"
)]
pub trait ToolOutput {
    /// The result for the client.
    ///
    /// # Errors
    /// The value cannot be written as JSON.
    fn into_result(self) -> Result<CallToolResult, Exit>;

    /// The schema of `structuredContent`, for tools that have one: a JSON object, or building the server fails.
    fn schema() -> Option<RawJson> {
        None
    }
}

impl ToolOutput for CallToolResult {
    fn into_result(self) -> Result<CallToolResult, Exit> {
        Ok(self)
    }
}

impl ToolOutput for String {
    /// One text.
    fn into_result(self) -> Result<CallToolResult, Exit> {
        Ok(CallToolResult::text(self))
    }
}

impl ToolOutput for &str {
    /// One text.
    fn into_result(self) -> Result<CallToolResult, Exit> {
        Ok(CallToolResult::text(self))
    }
}

impl ToolOutput for () {
    /// No content.
    fn into_result(self) -> Result<CallToolResult, Exit> {
        Ok(CallToolResult::default())
    }
}

impl ToolOutput for ContentBlock {
    /// One piece of content.
    fn into_result(self) -> Result<CallToolResult, Exit> {
        Ok(CallToolResult::new(vec![self]))
    }
}

impl ToolOutput for Vec<ContentBlock> {
    /// Pieces of content.
    fn into_result(self) -> Result<CallToolResult, Exit> {
        Ok(CallToolResult::new(self))
    }
}

/// Typed output: `structuredContent` with its schema, and its JSON as a text for clients that only read those
/// (server/tools, "Structured Content"). It need not be an object. The schema of a type that can be anything, such
/// as [`serde_json::Value`], is listed too, and allows anything; [`Untyped`] lists none.
#[cfg(feature = "schemars")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Json<T>(pub T);

#[cfg(feature = "schemars")]
impl<T: Serialize + schemars::JsonSchema> ToolOutput for Json<T> {
    fn into_result(self) -> Result<CallToolResult, Exit> {
        structured(&self.0)
    }

    fn schema() -> Option<RawJson> {
        schema_of::<T>()
    }
}

/// Structured output without a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Untyped<T>(pub T);

impl<T: Serialize> ToolOutput for Untyped<T> {
    fn into_result(self) -> Result<CallToolResult, Exit> {
        structured(&self.0)
    }
}

fn structured<T: Serialize>(value: &T) -> Result<CallToolResult, Exit> {
    CallToolResult::structured(value).map_err(|error| {
        Exit::protocol(super::Failure::new(
            sansio_mcp::code::wire::INTERNAL_ERROR,
            format!("the result cannot be encoded: {error}"),
        ))
    })
}

/// What a tool's handler may take.
///
/// Its schema has to be one of objects: that of a struct is, or of a map. That of an enum has no `type`, even if every
/// variant is an object: make it a field of a struct, or give [`input_schema`](super::ToolSpec::input_schema).
#[diagnostic::on_unimplemented(
    note = "arguments derive `serde::Deserialize` and `schemars::JsonSchema`; `Parsed<T>` brings its schema by hand"
)]
pub trait ToolInput: Sized {
    /// Reads `arguments`: the text of a JSON object.
    ///
    /// # Errors
    /// Why they do not fit, for the model to read.
    fn parse(arguments: &str) -> Result<Self, String>;

    /// The schema of `arguments`; `None`: the tool's description brings it.
    fn schema() -> Option<RawJson>;
}

#[cfg(feature = "schemars")]
impl<T: DeserializeOwned + schemars::JsonSchema> ToolInput for T {
    fn parse(arguments: &str) -> Result<Self, String> {
        serde_json::from_str(arguments).map_err(|error| error.to_string())
    }

    fn schema() -> Option<RawJson> {
        schema_of::<T>()
    }
}

/// Arguments of a type without a derived schema: the tool's description brings it
/// ([`input_schema`](super::ToolSpec::input_schema)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed<T>(pub T);

impl<T: DeserializeOwned> ToolInput for Parsed<T> {
    fn parse(arguments: &str) -> Result<Self, String> {
        serde_json::from_str(arguments).map(Self).map_err(|error| error.to_string())
    }

    fn schema() -> Option<RawJson> {
        None
    }
}

/// Without derived schemas the types of this crate bring their own.
#[cfg(not(feature = "schemars"))]
macro_rules! own_schema {
    ($name:ty, $schema:literal) => {
        impl ToolInput for $name {
            fn parse(arguments: &str) -> Result<Self, String> {
                serde_json::from_str(arguments).map_err(|error| error.to_string())
            }

            fn schema() -> Option<RawJson> {
                RawJson::from_text($schema).ok()
            }
        }
    };
}

#[cfg(not(feature = "schemars"))]
own_schema!(NoArguments, r#"{"type":"object","additionalProperties":false}"#);
#[cfg(not(feature = "schemars"))]
own_schema!(RawArguments, r#"{"type":"object"}"#);

#[cfg(feature = "schemars")]
fn schema_of<T: schemars::JsonSchema>() -> Option<RawJson> {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    RawJson::from_value(&settings.into_generator().into_root_schema_for::<T>()).ok()
}

/// The arguments of a tool that takes none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoArguments;

impl<'de> serde::Deserialize<'de> for NoArguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::{Error, MapAccess, Visitor};
        struct Wire;
        impl<'de> Visitor<'de> for Wire {
            type Value = NoArguments;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object without members")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NoArguments, A::Error> {
                match map.next_entry::<String, IgnoredAny>()? {
                    None => Ok(NoArguments),
                    Some((name, _)) => {
                        Err(A::Error::custom(format!("unknown argument `{name}`: the tool takes none")))
                    }
                }
            }
        }
        deserializer.deserialize_map(Wire)
    }
}

#[cfg(feature = "schemars")]
impl schemars::JsonSchema for NoArguments {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NoArguments".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "object", "additionalProperties": false })
    }
}

/// Arguments as they came: the text of a JSON object. For tools whose schema is written by hand.
#[derive(Clone, Debug, PartialEq)]
pub struct RawArguments(pub RawJson);

impl<'de> serde::Deserialize<'de> for RawArguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RawJson::deserialize(deserializer).map(Self)
    }
}

#[cfg(feature = "schemars")]
impl schemars::JsonSchema for RawArguments {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RawArguments".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "object" })
    }
}
