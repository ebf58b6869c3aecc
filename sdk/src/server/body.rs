//! An answer as it is sent: its `_meta` held against what the engine adds to it.

use std::borrow::Cow;
use std::fmt;

use sansio_mcp::model::RawJson;
use sansio_mcp::server::{EncodeError, ResultBody};
use sansio_mcp::wire::JsonText;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::reply::Answer;

/// The member that the engine writes.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// See the module.
pub(crate) struct Body<'a> {
    answer: &'a Answer,
    meta: Meta<'a>,
}

enum Meta<'a> {
    None,
    Whole(JsonText<'a>),
    /// Without what the engine writes: a result that was passed on from another server names that one.
    Stripped(RawJson),
    /// It is no object.
    Malformed,
}

impl<'a> Body<'a> {
    pub(crate) fn new(answer: &'a Answer) -> Self {
        let meta = answer.meta().map_or(Meta::None, |meta| {
            let Ok(Members(members)) = serde_json::from_str(meta.get()) else { return Meta::Malformed };
            if members.iter().all(|(key, _)| key != SERVER_INFO) {
                return Meta::Whole(meta);
            }
            match strip(&members) {
                Ok(meta) => Meta::Stripped(meta),
                Err(_) => Meta::Malformed,
            }
        });
        Self { answer, meta }
    }
}

fn strip(members: &[(Cow<'_, str>, JsonText<'_>)]) -> Result<RawJson, serde_json::Error> {
    let mut text = String::from("{");
    for (key, value) in members.iter().filter(|(key, _)| key != SERVER_INFO) {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&serde_json::to_string(key)?);
        text.push(':');
        text.push_str(value.get());
    }
    text.push('}');
    RawJson::from_text(text)
}

impl ResultBody for Body<'_> {
    fn write_members(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if let Meta::Malformed = self.meta {
            return Err(EncodeError("its `_meta` is not an object".to_owned()));
        }
        self.answer.write_members(out)
    }

    fn meta(&self) -> Option<JsonText<'_>> {
        match &self.meta {
            Meta::None | Meta::Malformed => None,
            Meta::Whole(meta) => Some(*meta),
            Meta::Stripped(meta) => Some(meta.as_raw()),
        }
    }
}

/// The members of an object, in their order.
struct Members<'a>(Vec<(Cow<'a, str>, JsonText<'a>)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Wire;
        impl<'de> Visitor<'de> for Wire {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Wire)
    }
}
