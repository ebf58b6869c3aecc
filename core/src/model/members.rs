//! The members of a JSON object in the order they came.

use alloc::string::String;
use alloc::vec::Vec;
use core::{fmt, marker::PhantomData};

use serde::de::{self, Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::raw::RawJson;

/// Named values in the order they came; no name occurs twice.
///
/// A list, since these objects are small: looking up a name reads from the front.
#[derive(Clone, Debug, PartialEq)]
pub struct Members<T>(Vec<(String, T)>);

/// Members nobody has looked into: what an object carries beyond the names the specification gives it, experimental
/// capabilities, extensions.
pub type RawMembers = Members<RawJson>;

impl<T> Members<T> {
    /// No members.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The value of `name`.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Sets `name`, in its old place if it was there, and gives the value it had.
    pub fn insert(&mut self, name: impl Into<String>, value: T) -> Option<T> {
        let name = name.into();
        if let Some((_, old)) = self.0.iter_mut().find(|(key, _)| *key == name) {
            return Some(core::mem::replace(old, value));
        }
        self.0.push((name, value));
        None
    }

    /// Takes `name` out; the others keep their order.
    pub fn remove(&mut self, name: &str) -> Option<T> {
        let at = self.0.iter().position(|(key, _)| key == name)?;
        Some(self.0.remove(at).1)
    }

    /// Name and value, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Appends without looking for the same name; [`Self::repeated`] finds it later, for all at once.
    pub(super) fn push(&mut self, name: String, value: T) {
        self.0.push((name, value));
    }

    /// A name that occurs twice. Sorts, so that a peer with many names costs no more than their number warrants.
    pub(super) fn repeated(&self) -> Option<&str> {
        if self.0.len() < 2 {
            return None;
        }
        let mut names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.windows(2).find_map(|pair| match pair {
            [a, b] if a == b => Some(*a),
            _ => None,
        })
    }
}

impl<T> Default for Members<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> IntoIterator for Members<T> {
    type Item = (String, T);
    type IntoIter = alloc::vec::IntoIter<(String, T)>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<K: Into<String>, T> FromIterator<(K, T)> for Members<T> {
    /// The last value of a name counts.
    fn from_iter<I: IntoIterator<Item = (K, T)>>(members: I) -> Self {
        let mut all = Self::new();
        for (name, value) in members {
            all.insert(name, value);
        }
        all
    }
}

impl<T: Serialize> Serialize for Members<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Members<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Wire<T>(PhantomData<T>);
        impl<'de, T: DeserializeOwned> Visitor<'de> for Wire<T> {
            type Value = Members<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<T>, A::Error> {
                let mut members = Members::new();
                while let Some(name) = map.next_key::<String>()? {
                    let value = map
                        .next_value()
                        .map_err(|error| de::Error::custom(format_args!("{name}: {error}")))?;
                    members.push(name, value);
                }
                match members.repeated() {
                    Some(name) => Err(de::Error::custom(format_args!("duplicate field `{name}`"))),
                    None => Ok(members),
                }
            }
        }
        deserializer.deserialize_map(Wire(PhantomData))
    }
}
