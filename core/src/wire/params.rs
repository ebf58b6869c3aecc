//! The `params` of a message, read in the same pass as its envelope.
//!
//! The keys of every method this crate knows are read typed; what only the application understands
//! (`arguments`, `inputResponses`) stays raw. Keys are matched exactly, a known key that stands twice is
//! refused.

use alloc::vec::Vec;
use core::fmt;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::raw::JsonText;
use super::text::Text;
use crate::id::{ProgressToken, RequestId};

/// Keys of `_meta` that this crate reads (basic/index, "`_meta`").
pub(crate) mod key {
    pub(crate) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    pub(crate) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    pub(crate) const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    pub(crate) const PROGRESS_TOKEN: &str = "progressToken";
    pub(crate) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
}

/// What `params` holds of the keys that the protocol's methods use.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Params<'a> {
    /// `_meta`.
    pub meta: Option<Meta<'a>>,
    /// `name`, of tools/call and prompts/get.
    pub name: Option<Text<'a>>,
    /// `arguments`, raw.
    pub arguments: Option<JsonText<'a>>,
    /// `uri`, of resources/read.
    pub uri: Option<Text<'a>>,
    /// `cursor`, of the list methods.
    pub cursor: Option<Text<'a>>,
    /// `inputResponses`, raw; an explicit null reads as absent.
    pub input_responses: Option<JsonText<'a>>,
    /// `requestState`; an explicit null reads as absent.
    pub request_state: Option<Text<'a>>,
    /// `requestId`, of notifications/cancelled.
    pub request_id: Option<RequestId>,
    /// `reason`, of notifications/cancelled.
    pub reason: Option<Text<'a>>,
    /// `progressToken`, of notifications/progress.
    pub progress_token: Option<ProgressToken>,
    /// `progress`, of notifications/progress.
    pub progress: Option<f64>,
    /// `total`, of notifications/progress.
    pub total: Option<f64>,
    /// `message`, of notifications/progress.
    pub message: Option<Text<'a>>,
}

/// What `_meta` of a request or notification holds.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Meta<'a> {
    /// `progressToken`. Zero and the empty string are tokens; null makes the params malformed.
    pub progress_token: Option<ProgressToken>,
    /// `io.modelcontextprotocol/protocolVersion`.
    pub protocol_version: Option<Text<'a>>,
    /// `io.modelcontextprotocol/clientInfo`: an object, raw.
    pub client_info: Option<JsonText<'a>>,
    /// `io.modelcontextprotocol/clientCapabilities`: an object, raw.
    pub client_capabilities: Option<JsonText<'a>>,
    /// Every other key, raw and in order: `traceparent`, `io.modelcontextprotocol/logLevel`, extensions.
    pub other: Vec<(Text<'a>, JsonText<'a>)>,
}

/// `params` stands there, but not in the form its keys must have (-32602).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("params are not an object of the specified form")]
pub struct ParamsError;

fn once<E: de::Error, T>(slot: &mut Option<T>, name: &'static str, value: T) -> Result<(), E> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(E::duplicate_field(name)),
    }
}

/// An optional value, where a null counts as the key having been there.
fn nullable<E: de::Error, T>(
    slot: &mut (Option<T>, bool),
    name: &'static str,
    value: Option<T>,
) -> Result<(), E> {
    if core::mem::replace(&mut slot.1, true) {
        return Err(E::duplicate_field(name));
    }
    slot.0 = value;
    Ok(())
}

impl<'de> Deserialize<'de> for Params<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ParamsVisitor::<ALL>)
    }
}

/// Which keys are read typed: `_meta` always, and with it any of these.
const META: u8 = 0;
/// `name` and `arguments`.
const CALL: u8 = 1;
/// `cursor`.
const PAGE: u8 = 2;
/// `inputResponses` and `requestState`.
const ROUND: u8 = 4;
/// `uri`.
const URI: u8 = 8;
/// Those of progress and cancellation.
const NOTES: u8 = 16;
const REQUESTS: u8 = CALL | PAGE | ROUND | URI;
const ALL: u8 = REQUESTS | NOTES;

/// Reads params of which some key has not the type that [`Params`] gives it. That is an error only where the method
/// knows the key: a `message` in the params of a tool call, or any key in those of an extension's method, may be
/// whatever its owner likes.
pub(super) fn read_as<'a>(method: &str, params: &'a str) -> Result<Params<'a>, ParamsError> {
    let read = match method {
        "notifications/progress" | "notifications/cancelled" => read::<ALL>(params),
        "tools/call" | "prompts/get" => read::<{ CALL | ROUND }>(params),
        "resources/read" => read::<{ URI | ROUND }>(params),
        "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => read::<PAGE>(params),
        "server/discover" | "completion/complete" | "subscriptions/listen" => read::<META>(params),
        _ => read::<REQUESTS>(params).or_else(|_| read::<META>(params)),
    };
    read.map_err(|_| ParamsError)
}

fn read<const KEYS: u8>(params: &str) -> Result<Params<'_>, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(params);
    let params = json.deserialize_map(ParamsVisitor::<KEYS>)?;
    json.end()?;
    Ok(params)
}

struct ParamsVisitor<const KEYS: u8>;

impl<'de, const KEYS: u8> Visitor<'de> for ParamsVisitor<KEYS> {
    type Value = Params<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("params: an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Params<'de>, A::Error> {
        let mut params = Params::default();
        let mut cursor = (None, false);
        let mut responses = (None, false);
        let mut state = (None, false);
        while let Some(key) = map.next_key::<Text<'de>>()? {
            match &*key {
                "_meta" => once(&mut params.meta, "_meta", map.next_value()?)?,
                "name" if KEYS & CALL != 0 => once(&mut params.name, "name", map.next_value()?)?,
                "arguments" if KEYS & CALL != 0 => {
                    once(&mut params.arguments, "arguments", map.next_value()?)?;
                }
                "uri" if KEYS & URI != 0 => once(&mut params.uri, "uri", map.next_value()?)?,
                "cursor" if KEYS & PAGE != 0 => nullable(&mut cursor, "cursor", map.next_value()?)?,
                "inputResponses" if KEYS & ROUND != 0 => {
                    nullable(&mut responses, "inputResponses", map.next_value::<Option<JsonText<'de>>>()?)?;
                }
                "requestState" if KEYS & ROUND != 0 => {
                    nullable(&mut state, "requestState", map.next_value()?)?;
                }
                "requestId" if KEYS & NOTES != 0 => {
                    once(&mut params.request_id, "requestId", map.next_value()?)?;
                }
                "reason" if KEYS & NOTES != 0 => once(&mut params.reason, "reason", map.next_value()?)?,
                "progressToken" if KEYS & NOTES != 0 => {
                    once(&mut params.progress_token, "progressToken", map.next_value()?)?;
                }
                "progress" if KEYS & NOTES != 0 => once(&mut params.progress, "progress", map.next_value()?)?,
                "total" if KEYS & NOTES != 0 => once(&mut params.total, "total", map.next_value()?)?,
                "message" if KEYS & NOTES != 0 => once(&mut params.message, "message", map.next_value()?)?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        params.cursor = cursor.0;
        params.input_responses = responses.0;
        params.request_state = state.0;
        Ok(params)
    }
}

impl<'de> Deserialize<'de> for Meta<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MetaVisitor)
    }
}

struct MetaVisitor;

impl<'de> Visitor<'de> for MetaVisitor {
    type Value = Meta<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_meta: an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Meta<'de>, A::Error> {
        let mut meta = Meta::default();
        while let Some(key) = map.next_key::<Text<'de>>()? {
            match &*key {
                key::PROGRESS_TOKEN => {
                    once(&mut meta.progress_token, key::PROGRESS_TOKEN, map.next_value()?)?;
                }
                key::PROTOCOL_VERSION => {
                    once(&mut meta.protocol_version, key::PROTOCOL_VERSION, map.next_value()?)?;
                }
                key::CLIENT_INFO => {
                    once(&mut meta.client_info, key::CLIENT_INFO, object(map.next_value()?)?)?;
                }
                key::CLIENT_CAPABILITIES => {
                    once(
                        &mut meta.client_capabilities,
                        key::CLIENT_CAPABILITIES,
                        object(map.next_value()?)?,
                    )?;
                }
                _ => meta.other.push((key, map.next_value()?)),
            }
        }
        Ok(meta)
    }
}

fn object<E: de::Error>(raw: JsonText<'_>) -> Result<JsonText<'_>, E> {
    if raw.is_object() {
        Ok(raw)
    } else {
        Err(E::invalid_type(de::Unexpected::Other("a value"), &"an object"))
    }
}

impl<'a> Meta<'a> {
    /// The raw text of a key that this crate does not read itself.
    pub fn other(&self, name: &str) -> Option<&'a str> {
        self.other.iter().find(|(key, _)| &**key == name).map(|(_, raw)| raw.get())
    }
}
