//! JSON kept as it was written.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::RawValue;

use super::write_json::WriteJson;
use crate::wire::{JsonText, serialize};

/// Room for a value that is written: most are not larger, and growing costs more than writing.
const ROOM: usize = 256;

/// One JSON value as text: schemas, arguments, `_meta` and whatever the engine passes on without a look.
///
/// The text is valid JSON without surrounding white space, and is written out again character for character:
/// `1.0e2` stays `1.0e2` and keys keep their order. Two values are equal when their texts are.
#[derive(Clone)]
pub struct RawJson(Box<str>);

impl RawJson {
    /// Checks that `json` is one JSON value and keeps its text.
    ///
    /// # Errors
    /// When the text is not one JSON value.
    pub fn from_text(json: impl Into<String>) -> Result<Self, serde_json::Error> {
        RawValue::from_string(json.into()).map(Self::from)
    }

    /// The JSON of any value.
    ///
    /// # Errors
    /// When the value refuses to be serialised, or has map keys that cannot be JSON keys.
    pub fn from_value(value: &(impl Serialize + ?Sized)) -> Result<Self, serde_json::Error> {
        let mut out = Vec::with_capacity(ROOM);
        serialize::value(&mut out, value)?;
        String::from_utf8(out).map(|text| Self(text.into())).map_err(serde::ser::Error::custom)
    }

    /// The JSON of a value of the model.
    pub(super) fn written(value: &impl WriteJson) -> Self {
        let mut out = Vec::with_capacity(ROOM);
        value.write_json(&mut out);
        // What the model writes is JSON, which is text.
        String::from_utf8(out).map_or_else(|_| Self::from(RawValue::NULL), |text| Self(text.into()))
    }

    /// Reads the text as a `T`.
    ///
    /// # Errors
    /// When the value is not a `T`.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.get())
    }

    /// The text.
    pub fn get(&self) -> &str {
        &self.0
    }

    /// The text, borrowed and known to be JSON.
    pub fn as_raw(&self) -> JsonText<'_> {
        JsonText::checked(&self.0)
    }

    /// Whether the value is an object.
    pub fn is_object(&self) -> bool {
        self.get().starts_with('{')
    }

    /// Whether the value is `null`.
    pub fn is_null(&self) -> bool {
        self.get() == "null"
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for RawJson {}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl From<Box<RawValue>> for RawJson {
    fn from(value: Box<RawValue>) -> Self {
        Self(value.into())
    }
}

impl From<&RawValue> for RawJson {
    fn from(value: &RawValue) -> Self {
        Self(value.get().into())
    }
}

impl From<JsonText<'_>> for RawJson {
    fn from(value: JsonText<'_>) -> Self {
        Self(value.get().into())
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Only its own type tells `serde_json` that a text is to be written as it is.
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn the_text_is_kept_without_the_space_around_it() {
        let raw = RawJson::from_text(" {\"b\" : 1.0e2, \"a\":null}\n").unwrap();
        assert_eq!(raw.get(), r#"{"b" : 1.0e2, "a":null}"#);
        assert_eq!(serde_json::to_string(&raw).unwrap(), raw.get());
        assert_eq!(serde_json::from_str::<RawJson>(raw.get()).unwrap(), raw);
        assert!(raw.is_object());
        assert!(!raw.is_null());
    }

    #[test]
    fn equal_means_equal_text() {
        let [a, b] = ["1.0", "1.00"].map(|text| RawJson::from_text(text).unwrap());
        assert_eq!(a, a.clone());
        assert_ne!(a, b);
        assert_eq!(a.parse::<f64>().unwrap().to_string(), b.parse::<f64>().unwrap().to_string());
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in ["", "{", "1 2", "nul"] {
            assert!(RawJson::from_text(text).is_err(), "{text}");
        }
        assert_eq!(RawJson::from_value("a\"b").unwrap().get(), r#""a\"b""#);
    }
}
