//! A JSON value that is borrowed as it stands.

use core::fmt;

use serde::de::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// One JSON value of a message as text, without white space around it. It was checked to be JSON.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct JsonText<'a>(&'a str);

impl<'a> JsonText<'a> {
    /// The caller has checked that it is one value.
    pub(crate) fn checked(text: &'a str) -> Self {
        Self(text)
    }

    /// The text.
    pub fn get(self) -> &'a str {
        self.0
    }

    /// Whether the value is an object.
    pub fn is_object(self) -> bool {
        self.0.starts_with('{')
    }
}

impl fmt::Debug for JsonText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl<'de> Deserialize<'de> for JsonText<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(deserializer).map(|raw| Self(raw.get()))
    }
}
