//! The arguments that headers repeat, read out of a call without building the others.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::params::{Node, ParamHeaders};

/// The largest integer that a double holds exactly, as do all below it.
pub(super) const MAX_SAFE: i64 = (1 << 53) - 1;

/// What stands where a schema has an annotation.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) enum Found {
    /// Nothing, or null: there is no header.
    #[default]
    Absent,
    Text(String),
    Int(i64),
    Bool(bool),
    /// A value that no header can carry: an object, an array, a fraction, an integer beyond the safe range.
    Unfit,
}

/// The arguments are not JSON, or a key on the way to an annotated property stands twice, so that two readers may take them for
/// different values.
#[derive(Debug)]
pub(super) struct Ambiguous;

/// What stands at each annotated property, in the order of the rules.
pub(super) fn read(rules: &ParamHeaders, arguments: Option<&str>) -> Result<Vec<Found>, Ambiguous> {
    let mut found = vec![Found::Absent; rules.headers.len()];
    if let Some(arguments) = arguments.filter(|_| !rules.is_empty()) {
        let mut json = serde_json::Deserializer::from_str(arguments);
        At { node: &rules.root, found: &mut found }.deserialize(&mut json).map_err(|_| Ambiguous)?;
        json.end().map_err(|_| Ambiguous)?;
    }
    Ok(found)
}

struct At<'r> {
    node: &'r Node,
    found: &'r mut Vec<Found>,
}

impl At<'_> {
    fn is(self, value: Found) {
        if let Some(found) = self.node.header.and_then(|at| self.found.get_mut(at)) {
            *found = value;
        }
    }
}

impl<'de> DeserializeSeed<'de> for At<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for At<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("arguments in which no key stands twice")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<(), E> {
        self.is(Found::Bool(value));
        Ok(())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        let safe = (-MAX_SAFE..=MAX_SAFE).contains(&value);
        self.is(if safe { Found::Int(value) } else { Found::Unfit });
        Ok(())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        self.visit_i64(i64::try_from(value).unwrap_or(i64::MAX))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
        // 42.0 is an integer in JSON Schema. The cast saturates, so what is beyond the range stays there.
        if value.fract() == 0.0 { self.visit_i64(value as i64) } else { self.visit_i64(i64::MAX) }
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<(), E> {
        if self.node.header.is_some() {
            self.is(Found::Text(value.to_owned()));
        }
        Ok(())
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        self.is(Found::Unfit);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = vec![false; self.node.children.len()];
        while let Some(key) = map.next_key::<String>()? {
            let Some(at) = self.node.children.iter().position(|(name, _)| **name == *key) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if std::mem::replace(&mut seen[at], true) {
                return Err(de::Error::custom("a key stands twice"));
            }
            map.next_value_seed(At { node: &self.node.children[at].1, found: self.found })?;
        }
        self.is(Found::Unfit);
        Ok(())
    }
}
