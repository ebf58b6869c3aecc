//! One JSON-RPC message, read in one pass (basic/index, "Messages").
//!
//! Messages of the usual form take the short way of `quick`; what is said here holds for both.
//!
//! Keys are matched exactly and a known key that stands twice is refused. Nesting is limited to what
//! `serde_json` accepts (128 levels) wherever a value is read typed; raw parts are limited when they are read.

use core::fmt;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::known::Known;
use super::params::{Params, ParamsError, read_as};
use super::quick;
use super::raw::JsonText;
use super::text::Text;
use crate::id::RequestId;

/// Why bytes are not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// Not UTF-8, or not JSON (-32700).
    #[error("not JSON")]
    NotJson,
    /// JSON, but not a request, notification or response: among others an id that is not an integer or a
    /// string, a key that stands twice, another `jsonrpc` than "2.0" (-32600).
    #[error("not a JSON-RPC message")]
    NotAMessage,
    /// Longer than a message may be (-32700). Told by whoever frames messages; parsing never gives it.
    #[error("longer than a message may be")]
    TooLong,
    /// A batch, which no revision but 2025-03-26 allows (-32600).
    #[error("a batch, which this revision does not allow")]
    Batch,
}

/// One parsed message, borrowing from the bytes it was read from.
#[derive(Clone, Debug)]
pub struct Envelope<'a> {
    text: &'a str,
    message: Message<'a>,
    result: Option<ResultText<'a>>,
}

/// Where a result stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResultText<'a> {
    pub(crate) whole: JsonText<'a>,
    /// Its `_meta`.
    pub(crate) meta: Option<JsonText<'a>>,
}

/// The three kinds of message.
#[derive(Clone, Debug)]
pub enum Message<'a> {
    /// Has `method` and `id`.
    Request {
        /// Echoed in the answer with its own type.
        id: RequestId,
        /// The method's name.
        method: Text<'a>,
        /// `Ok(None)`: there are no params.
        params: Result<Option<Params<'a>>, ParamsError>,
    },
    /// Has `method` and no `id`.
    Notification {
        /// The method's name.
        method: Text<'a>,
        /// `Ok(None)`: there are no params.
        params: Result<Option<Params<'a>>, ParamsError>,
    },
    /// Has `result` or `error`.
    Response(Response<'a>),
}

/// The answer to a request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Response<'a> {
    /// Absent where the sender could not read the id of what it answers.
    pub id: Option<RequestId>,
    /// The result, or the error. A response that has both, or an error of the wrong form, reads as a result that
    /// is not well formed, so that its call can end.
    pub outcome: Result<ResultHead<'a>, ErrorHead<'a>>,
}

/// What the engine looks at in a result before anything else does.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ResultHead<'a> {
    /// The result is an object, and the keys below have their specified types.
    pub well_formed: bool,
    /// `resultType`; absent means "complete".
    pub result_type: Option<Text<'a>>,
    /// `inputRequests`, raw; an explicit null reads as absent.
    pub input_requests: Option<JsonText<'a>>,
    /// `requestState`, echoed byte for byte on the retry.
    pub request_state: Option<Text<'a>>,
}

/// The error object of a response.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ErrorHead<'a> {
    /// The code.
    pub code: i64,
    /// The message.
    pub message: Text<'a>,
    /// `data`, raw.
    pub data: Option<JsonText<'a>>,
}

impl<'a> Envelope<'a> {
    /// Reads one message.
    ///
    /// # Errors
    /// [`Malformed`] says which of the two JSON-RPC errors the bytes deserve. Params of the wrong form are not
    /// an error here: they are reported inside the message, whose id is known.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut envelope = Self::unread();
        envelope.read(bytes, Known::default())?;
        Ok(envelope)
    }

    /// The place for a message.
    pub(crate) const fn unread() -> Self {
        let message = Message::Notification { method: Text::Borrowed(""), params: Ok(None) };
        Self { text: "", message, result: None }
    }

    /// As [`parse`](Self::parse), in place, and faster where the peer repeats itself.
    pub(crate) fn read(&mut self, bytes: &'a [u8], known: Known<'_>) -> Result<(), Malformed> {
        self.text = simdutf8::basic::from_utf8(bytes).map_err(|_| Malformed::NotJson)?;
        if quick::read(self.text, known, &mut self.message, &mut self.result).is_none() {
            self.message = Self::parse_any(self.text)?;
            self.result = None;
        }
        Ok(())
    }

    fn parse_any(text: &'a str) -> Result<Message<'a>, Malformed> {
        match serde_json::from_str::<Raw<'a, Params<'a>, ResultHead<'a>, ErrorHead<'a>>>(text) {
            Ok(raw) => raw.classify(),
            Err(_) => Self::parse_slowly(text),
        }
    }

    /// The one pass failed somewhere: finds out where, so that a message with a readable id can be answered.
    fn parse_slowly(text: &'a str) -> Result<Message<'a>, Malformed> {
        let raw = match serde_json::from_str::<Raw<'a, JsonText<'a>, JsonText<'a>, JsonText<'a>>>(text) {
            Ok(raw) => raw,
            Err(error) if error.is_data() => {
                // A type error stops at once: is what follows JSON at all?
                let json = serde_json::from_str::<IgnoredAny>(text).is_ok();
                return Err(match text.trim_start().starts_with('[') {
                    _ if !json => Malformed::NotJson,
                    true => Malformed::Batch,
                    false => Malformed::NotAMessage,
                });
            }
            Err(_) => return Err(Malformed::NotJson),
        };
        let mut result =
            raw.result.map(|raw| serde_json::from_str::<ResultHead<'a>>(raw.get()).unwrap_or_default());
        let error = match raw.error.map(|raw| serde_json::from_str::<ErrorHead<'a>>(raw.get())) {
            None => None,
            Some(Ok(error)) => Some(error),
            // Without an id there is nothing that it could be the answer to.
            Some(Err(_)) if !matches!(raw.id, Some(Some(_))) => return Err(Malformed::NotAMessage),
            Some(Err(_)) => {
                result = Some(ResultHead::default());
                None
            }
        };
        let method = raw.method.as_deref().unwrap_or_default();
        let params = raw.params.map(|raw| read_as(method, raw.get())).transpose();
        let whole =
            Raw { jsonrpc: raw.jsonrpc, id: raw.id, method: raw.method, params: Some(()), result, error };
        whole.classify().map(|message| match message {
            Message::Request { id, method, .. } => Message::Request { id, method, params },
            Message::Notification { method, .. } => Message::Notification { method, params },
            Message::Response(response) => Message::Response(response),
        })
    }

    /// The message.
    pub fn message(&self) -> &Message<'a> {
        &self.message
    }

    /// The text that it was read from.
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// The text of the whole result, where its place is known.
    pub(crate) fn result_text(&self) -> Option<ResultText<'a>> {
        self.result
    }

    /// The text that it was read from, and the message.
    pub(crate) fn parts_mut(&mut self) -> (&'a str, &mut Message<'a>) {
        (self.text, &mut self.message)
    }
}

/// The keys of a message as they were found.
#[allow(clippy::option_option)] // absent, null, and an id are three things
struct Raw<'a, P, R, E> {
    jsonrpc: bool,
    id: Option<Option<RequestId>>,
    method: Option<Text<'a>>,
    params: Option<P>,
    result: Option<R>,
    error: Option<E>,
}

/// Lets one classification serve the fast pass, whose params are typed, and the slow one, which adds them.
trait IntoParams<'a> {
    fn into_params(self) -> Option<Params<'a>>;
}

impl<'a> IntoParams<'a> for Params<'a> {
    fn into_params(self) -> Option<Params<'a>> {
        Some(self)
    }
}

impl<'a> IntoParams<'a> for () {
    fn into_params(self) -> Option<Params<'a>> {
        None
    }
}

impl<'a, P: IntoParams<'a>> Raw<'a, P, ResultHead<'a>, ErrorHead<'a>> {
    fn classify(self) -> Result<Message<'a>, Malformed> {
        if !self.jsonrpc {
            return Err(Malformed::NotAMessage);
        }
        let params = Ok(self.params.and_then(IntoParams::into_params));
        match (self.method, self.id, self.result, self.error) {
            (Some(method), Some(Some(id)), None, None) => Ok(Message::Request { id, method, params }),
            (Some(method), None, None, None) => Ok(Message::Notification { method, params }),
            (None, Some(Some(id)), Some(result), None) => {
                Ok(Message::Response(Response { id: Some(id), outcome: Ok(result) }))
            }
            // Whose answer it is can be read, what it says cannot.
            (None, Some(Some(id)), Some(_), Some(_)) => {
                Ok(Message::Response(Response { id: Some(id), outcome: Ok(ResultHead::default()) }))
            }
            (None, id, None, Some(error)) => {
                Ok(Message::Response(Response { id: id.flatten(), outcome: Err(error) }))
            }
            _ => Err(Malformed::NotAMessage),
        }
    }
}

impl<'de, P, R, E> Deserialize<'de> for Raw<'de, P, R, E>
where
    P: Deserialize<'de>,
    R: Deserialize<'de>,
    E: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Wire<P, R, E>(core::marker::PhantomData<(P, R, E)>);

        impl<'de, P, R, E> Visitor<'de> for Wire<P, R, E>
        where
            P: Deserialize<'de>,
            R: Deserialize<'de>,
            E: Deserialize<'de>,
        {
            type Value = Raw<'de, P, R, E>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON-RPC message")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut raw =
                    Raw { jsonrpc: false, id: None, method: None, params: None, result: None, error: None };
                let mut params_seen = false;
                while let Some(key) = map.next_key::<Text<'de>>()? {
                    let twice = match &*key {
                        "jsonrpc" => {
                            let twice = raw.jsonrpc;
                            raw.jsonrpc = true;
                            if &*map.next_value::<Text<'de>>()? != "2.0" {
                                return Err(de::Error::custom("jsonrpc is not \"2.0\""));
                            }
                            twice
                        }
                        "id" => raw.id.replace(map.next_value()?).is_some(),
                        "method" => raw.method.replace(map.next_value()?).is_some(),
                        "params" => {
                            raw.params = map.next_value()?;
                            core::mem::replace(&mut params_seen, true)
                        }
                        "result" => raw.result.replace(map.next_value()?).is_some(),
                        "error" => raw.error.replace(map.next_value()?).is_some(),
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                            false
                        }
                    };
                    if twice {
                        return Err(de::Error::custom("a key stands twice"));
                    }
                }
                Ok(raw)
            }
        }

        deserializer.deserialize_map(Wire(core::marker::PhantomData))
    }
}

impl<'de> Deserialize<'de> for ResultHead<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Wire;

        impl<'de> Visitor<'de> for Wire {
            type Value = ResultHead<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a result: an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut head = ResultHead { well_formed: true, ..ResultHead::default() };
                let mut seen = [false; 3];
                while let Some(key) = map.next_key::<Text<'de>>()? {
                    let at = match &*key {
                        "resultType" => {
                            head.result_type = Some(map.next_value()?);
                            0
                        }
                        "inputRequests" => {
                            head.input_requests = map.next_value()?;
                            1
                        }
                        "requestState" => {
                            head.request_state = map.next_value()?;
                            2
                        }
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                            continue;
                        }
                    };
                    if seen.get_mut(at).is_some_and(|seen| core::mem::replace(seen, true)) {
                        return Err(de::Error::custom("a key of the result stands twice"));
                    }
                }
                if head.input_requests.is_some_and(|raw| !raw.is_object()) {
                    return Err(de::Error::custom("inputRequests is not an object"));
                }
                Ok(head)
            }
        }

        deserializer.deserialize_map(Wire)
    }
}

impl<'de> Deserialize<'de> for ErrorHead<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Wire;

        impl<'de> Visitor<'de> for Wire {
            type Value = ErrorHead<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an error object with an integer code and a message")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let (mut code, mut message, mut data) = (None, None, None);
                while let Some(key) = map.next_key::<Text<'de>>()? {
                    let twice = match &*key {
                        "code" => code.replace(map.next_value()?).is_some(),
                        "message" => message.replace(map.next_value()?).is_some(),
                        "data" => data.replace(map.next_value()?).is_some(),
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                            false
                        }
                    };
                    if twice {
                        return Err(de::Error::custom("a key of the error stands twice"));
                    }
                }
                Ok(ErrorHead {
                    code: code.ok_or_else(|| de::Error::missing_field("code"))?,
                    message: message.ok_or_else(|| de::Error::missing_field("message"))?,
                    data,
                })
            }
        }

        deserializer.deserialize_map(Wire)
    }
}

#[cfg(test)]
#[path = "quick_test.rs"]
mod quick_test;
