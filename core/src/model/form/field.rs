//! The kinds of field that a form may have.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::choice::{EnumSchema, MultiSelectSchema, TitledEnumSchema, TitledMultiSelectSchema};
use super::number::Number;
use crate::model::names::names;
use crate::model::open::{open_object, setters};
use crate::model::source::{Source, at};
use crate::model::write_json::WriteJson;
use crate::model::{RawJson, RawMembers};

open_object! {
    /// A text.
    #[derive(Default)]
    pub struct StringSchema, tag "type" = "string" {
        /// The field's name for people.
        optional "title" => title: Option<String>,
        /// What to fill in.
        optional "description" => description: Option<String>,
        /// Characters at least.
        optional "minLength" => min_length: Option<u64>,
        /// Characters at most.
        optional "maxLength" => max_length: Option<u64>,
        /// A regular expression of ECMA 262, to be found anywhere in the text unless it is anchored. The page names no
        /// patterns, so a client may pass over it.
        optional "pattern" => pattern: Option<String>,
        /// The name of a [`StringFormat`]; others mean nothing here.
        optional "format" => format: Option<String>,
        /// What the field holds if the user leaves it empty.
        optional "default" => default: Option<String>,
    }
}

impl StringSchema {
    /// Any text.
    pub fn new() -> Self {
        Self::default()
    }

    /// A text of a format.
    pub fn of(format: StringFormat) -> Self {
        Self::default().with_format(format)
    }

    /// Sets how many characters it has at least.
    #[must_use]
    pub fn with_min_length(mut self, min_length: u64) -> Self {
        self.min_length = Some(min_length);
        self
    }

    /// Sets how many characters it has at most.
    #[must_use]
    pub fn with_max_length(mut self, max_length: u64) -> Self {
        self.max_length = Some(max_length);
        self
    }
}

setters! { StringSchema {
    /// Sets the name for people.
    with_title => title: String,
    /// Says what to fill in.
    with_description => description: String,
    /// Sets the regular expression that it matches.
    with_pattern => pattern: String,
    /// Sets the format; a [`StringFormat`].
    with_format => format: String,
    /// Sets what it holds if it is left empty.
    with_default => default: String,
}}

names! {
    /// The formats of a text (client/elicitation, "Requested Schema").
    pub enum StringFormat {
        /// An address of electronic mail (RFC 5321), without quoted parts or numeric domains.
        Email = "email",
        /// An absolute URI (RFC 3986).
        Uri = "uri",
        /// A day (RFC 3339, full-date).
        Date = "date",
        /// A moment (RFC 3339, date-time).
        DateTime = "date-time",
    }
}

impl From<StringFormat> for String {
    fn from(format: StringFormat) -> Self {
        format.as_str().into()
    }
}

open_object! {
    /// A number.
    pub struct NumberSchema {
        /// Whether it may have a fraction.
        required "type" => kind: NumberKind,
        /// The field's name for people.
        optional "title" => title: Option<String>,
        /// What to fill in.
        optional "description" => description: Option<String>,
        /// The smallest it may be.
        optional "minimum" => minimum: Option<Number>,
        /// The largest it may be.
        optional "maximum" => maximum: Option<Number>,
        /// What the field holds if the user leaves it empty.
        optional "default" => default: Option<Number>,
    }
}

impl NumberSchema {
    /// Any number.
    pub fn number() -> Self {
        Self::of(NumberKind::Number)
    }

    /// A whole number.
    pub fn integer() -> Self {
        Self::of(NumberKind::Integer)
    }

    fn of(kind: NumberKind) -> Self {
        Self {
            kind,
            title: None,
            description: None,
            minimum: None,
            maximum: None,
            default: None,
            extra: RawMembers::new(),
        }
    }
}

setters! { NumberSchema {
    /// Sets the name for people.
    with_title => title: String,
    /// Says what to fill in.
    with_description => description: String,
    /// Sets the smallest it may be.
    with_minimum => minimum: Number,
    /// Sets the largest it may be.
    with_maximum => maximum: Number,
    /// Sets what it holds if it is left empty.
    with_default => default: Number,
}}

names! {
    /// Whether a number may have a fraction.
    pub enum NumberKind {
        /// It may.
        Number = "number",
        /// It may not.
        Integer = "integer",
    }
}

open_object! {
    /// Yes or no.
    #[derive(Default)]
    pub struct BooleanSchema, tag "type" = "boolean" {
        /// The field's name for people.
        optional "title" => title: Option<String>,
        /// What to decide.
        optional "description" => description: Option<String>,
        /// What the field holds if the user leaves it empty.
        optional "default" => default: Option<bool>,
    }
}

impl BooleanSchema {
    /// Yes or no.
    pub fn new() -> Self {
        Self::default()
    }
}

setters! { BooleanSchema {
    /// Sets the name for people.
    with_title => title: String,
    /// Says what to decide.
    with_description => description: String,
    /// Sets what it holds if it is left empty.
    with_default => default: bool,
}}

/// One field of a form, told apart by its `type` and by what it offers to choose from (client/elicitation, "Requested
/// Schema").
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldSchema {
    /// A text.
    String(StringSchema),
    /// A number.
    Number(NumberSchema),
    /// Yes or no.
    Boolean(BooleanSchema),
    /// One of some texts.
    Enum(EnumSchema),
    /// One of some texts with names for people.
    TitledEnum(TitledEnumSchema),
    /// Some of some texts.
    MultiSelect(MultiSelectSchema),
    /// Some of some texts with names for people.
    TitledMultiSelect(TitledMultiSelectSchema),
    /// A kind of field that the page does not have: the object with its members verbatim and in their order.
    Unknown(RawJson),
}

macro_rules! each {
    ($field:expr, $schema:ident => $do:expr, $raw:ident => $unknown:expr) => {
        match $field {
            FieldSchema::String($schema) => $do,
            FieldSchema::Number($schema) => $do,
            FieldSchema::Boolean($schema) => $do,
            FieldSchema::Enum($schema) => $do,
            FieldSchema::TitledEnum($schema) => $do,
            FieldSchema::MultiSelect($schema) => $do,
            FieldSchema::TitledMultiSelect($schema) => $do,
            FieldSchema::Unknown($raw) => $unknown,
        }
    };
}

impl FieldSchema {
    /// The field's name for people.
    pub fn title(&self) -> Option<&str> {
        each!(self, schema => schema.title.as_deref(), _raw => None)
    }

    /// What to fill in.
    pub fn description(&self) -> Option<&str> {
        each!(self, schema => schema.description.as_deref(), _raw => None)
    }
}

macro_rules! from_schema {
    ($($schema:ident => $variant:ident,)*) => {
        $(impl From<$schema> for FieldSchema {
            fn from(schema: $schema) -> Self {
                Self::$variant(schema)
            }
        })*
    };
}

from_schema! {
    StringSchema => String,
    NumberSchema => Number,
    BooleanSchema => Boolean,
    EnumSchema => Enum,
    TitledEnumSchema => TitledEnum,
    MultiSelectSchema => MultiSelect,
    TitledMultiSelectSchema => TitledMultiSelect,
}

impl WriteJson for FieldSchema {
    fn write_json(&self, out: &mut Vec<u8>) {
        each!(self, schema => schema.write(out), raw => raw.write_json(out));
    }
}

impl Serialize for FieldSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        each!(self, schema => schema.serialize(serializer), raw => raw.serialize(serializer))
    }
}

impl<'de> Deserialize<'de> for FieldSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Wire;
        impl<'de> Visitor<'de> for Wire {
            type Value = FieldSchema;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object (FieldSchema)")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FieldSchema, A::Error> {
                read(map)
            }
        }
        deserializer.deserialize_map(Wire)
    }
}

/// Reads all members before it decides what they are: what a text offers to choose from decides its kind.
fn read<'de, A: MapAccess<'de>>(mut map: A) -> Result<FieldSchema, A::Error> {
    let mut members = RawMembers::new();
    while let Some(name) = map.next_key::<String>()? {
        let value = map.next_value().map_err(|error| at(&name, error))?;
        members.push(name, value);
    }
    if let Some(name) = members.repeated() {
        return Err(de::Error::custom(format_args!("duplicate field `{name}`")));
    }
    let kind = members.get("type").and_then(|kind| kind.parse::<String>().ok());
    let has = |name: &str| members.get(name).is_some();
    let items =
        || members.get("items").and_then(|items| items.parse::<RawMembers>().ok()).unwrap_or_default();
    macro_rules! tagged {
        ($schema:ident) => {{
            members.remove("type");
            $schema::read(Source::after_tag(map, members)).map(FieldSchema::from)
        }};
    }
    match kind.as_deref() {
        Some("string") if has("oneOf") => tagged!(TitledEnumSchema),
        Some("string") if has("enum") => tagged!(EnumSchema),
        Some("string") => tagged!(StringSchema),
        Some("boolean") => tagged!(BooleanSchema),
        Some("number" | "integer") => {
            NumberSchema::read(Source::after_tag(map, members)).map(FieldSchema::from)
        }
        Some("array") if items().get("anyOf").is_some() => tagged!(TitledMultiSelectSchema),
        Some("array") if items().get("enum").is_some() => tagged!(MultiSelectSchema),
        _ => RawJson::from_value(&members).map(FieldSchema::Unknown).map_err(de::Error::custom),
    }
}
