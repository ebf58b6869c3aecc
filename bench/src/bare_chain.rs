//! The bare chain: what is left of answering a `tools/call` when there is no engine, only serde and its derives.
//!
//! It is the measure for the core, so it makes the checks the core makes on one request (UTF-8, JSON, `jsonrpc`, the
//! id's kind, method, tool, the three required entries of `_meta`, the type of the arguments) and writes the same
//! bytes. It borrows whatever it can and keeps no state. Duplicate keys are refused and unknown ones ignored, both as
//! serde's derive does it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::core_sides::CoreSide;
use crate::harness::Wrong;
use crate::load::{PROGRESS_MESSAGE, PROGRESS_STEPS};

/// Why a request got no result.
#[derive(Debug)]
pub enum Refused {
    /// Not UTF-8, not JSON, or not of the shape of a `tools/call`.
    Malformed(String),
    /// `jsonrpc` is not "2.0", or client capabilities are not an object.
    Invalid(&'static str),
    /// Another method.
    UnknownMethod,
    /// Another tool.
    UnknownTool,
    /// Another revision.
    UnsupportedVersion,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(why) => write!(f, "malformed request: {why}"),
            Self::Invalid(why) => write!(f, "invalid request: {why}"),
            Self::UnknownMethod => f.write_str("unknown method"),
            Self::UnknownTool => f.write_str("unknown tool"),
            Self::UnsupportedVersion => f.write_str("unsupported protocol version"),
        }
    }
}

impl Refused {
    /// The JSON-RPC code that says it.
    pub fn code(&self) -> i32 {
        match self {
            Self::Malformed(_) => -32700,
            Self::Invalid(_) => -32600,
            Self::UnknownMethod => -32601,
            Self::UnknownTool => -32602,
            Self::UnsupportedVersion => -32022,
        }
    }
}

/// A call that was read and checked.
pub struct Call<'a> {
    id: Id<'a>,
    token: Option<Id<'a>>,
    text: Cow<'a, str>,
}

/// Appends the response to `request`, a call of `echo`, without a line end. On `Err` nothing was appended.
pub fn answer(request: &[u8], out: &mut Vec<u8>) -> Result<(), Refused> {
    read(request, "echo")?.answer(out)
}

/// Reads and checks a call of this tool.
pub fn read<'a>(request: &'a [u8], tool: &str) -> Result<Call<'a>, Refused> {
    let request = std::str::from_utf8(request).map_err(|error| Refused::Malformed(error.to_string()))?;
    let request: Request<'_> = serde_json::from_str(request).map_err(malformed)?;
    if request.jsonrpc != "2.0" {
        return Err(Refused::Invalid("jsonrpc"));
    }
    if request.method != "tools/call" {
        return Err(Refused::UnknownMethod);
    }
    let params = request.params;
    if params.meta.protocol_version != "2026-07-28" {
        return Err(Refused::UnsupportedVersion);
    }
    if !params.meta.client_capabilities.get().starts_with('{') {
        return Err(Refused::Invalid("client capabilities"));
    }
    if params.name != tool {
        return Err(Refused::UnknownTool);
    }
    let arguments: EchoArguments<'_> = serde_json::from_str(params.arguments.get()).map_err(malformed)?;
    Ok(Call {
        id: request.id,
        token: params.meta.progress_token,
        text: arguments.text,
    })
}

impl Call<'_> {
    /// Room for the response, unless the text has to be escaped.
    pub fn room(&self) -> usize {
        self.text.len() + 256
    }

    /// Appends the response.
    pub fn answer(&self, out: &mut Vec<u8>) -> Result<(), Refused> {
        let response = Response {
            jsonrpc: "2.0",
            id: &self.id,
            result: CallResult {
                result_type: "complete",
                content: [TextContent {
                    kind: "text",
                    text: &self.text,
                }],
                meta: ResultMeta {
                    server_info: Implementation {
                        name: "bench".into(),
                        version: "1.0.0".into(),
                    },
                },
            },
        };
        serde_json::to_writer(out, &response).map_err(malformed)
    }

    /// Appends one progress notification of the call, if it asked for such.
    pub fn progress(&self, step: u32, out: &mut Vec<u8>) -> Result<(), Refused> {
        let token = self.token.as_ref().ok_or(Refused::Invalid("progress token"))?;
        let notification = Notification {
            jsonrpc: "2.0",
            method: "notifications/progress",
            params: Progress {
                token,
                step,
                total: PROGRESS_STEPS,
                message: PROGRESS_MESSAGE,
            },
        };
        serde_json::to_writer(out, &notification).map_err(malformed)
    }
}

/// The chain as a side of the core measurement.
#[derive(Debug, Default)]
pub struct BareChain;

impl CoreSide for BareChain {
    fn name(&self) -> String {
        "bare chain (typed, borrowed serde_json)".into()
    }

    fn answer(&mut self, request: &[u8], out: &mut Vec<u8>) -> Result<(), Wrong> {
        answer(request, out).map_err(|refused| Wrong(refused.to_string()))
    }
}

#[allow(clippy::needless_pass_by_value)]
fn malformed(error: serde_json::Error) -> Refused {
    Refused::Malformed(error.to_string())
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    #[serde(borrow)]
    id: Id<'a>,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: CallParams<'a>,
}

#[derive(Deserialize)]
struct CallParams<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: &'a RawValue,
    #[serde(borrow, rename = "_meta")]
    meta: RequestMeta<'a>,
}

#[derive(Deserialize)]
struct RequestMeta<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    protocol_version: Cow<'a, str>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientInfo")]
    _client_info: Implementation<'a>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientCapabilities")]
    client_capabilities: &'a RawValue,
    #[serde(borrow, rename = "progressToken")]
    progress_token: Option<Id<'a>>,
}

#[derive(Deserialize, Serialize)]
struct Implementation<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    version: Cow<'a, str>,
}

#[derive(Deserialize)]
struct EchoArguments<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Serialize)]
struct Response<'a> {
    jsonrpc: &'static str,
    id: &'a Id<'a>,
    result: CallResult<'a>,
}

#[derive(Serialize)]
struct Notification<'a> {
    jsonrpc: &'static str,
    method: &'static str,
    params: Progress<'a>,
}

#[derive(Serialize)]
struct Progress<'a> {
    #[serde(rename = "progressToken")]
    token: &'a Id<'a>,
    #[serde(rename = "progress")]
    step: u32,
    total: u32,
    message: &'static str,
}

#[derive(Serialize)]
struct CallResult<'a> {
    #[serde(rename = "resultType")]
    result_type: &'static str,
    content: [TextContent<'a>; 1],
    #[serde(rename = "_meta")]
    meta: ResultMeta<'a>,
}

#[derive(Serialize)]
struct TextContent<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

#[derive(Serialize)]
struct ResultMeta<'a> {
    #[serde(rename = "io.modelcontextprotocol/serverInfo")]
    server_info: Implementation<'a>,
}

/// A request id or progress token. By hand, because an untagged enum would buffer.
#[derive(Serialize)]
#[serde(untagged)]
enum Id<'a> {
    Integer(i64),
    String(Cow<'a, str>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Id<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IdVisitor;

        impl<'de> Visitor<'de> for IdVisitor {
            type Value = Id<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer or a string")
            }

            fn visit_i64<E: de::Error>(self, id: i64) -> Result<Self::Value, E> {
                Ok(Id::Integer(id))
            }

            fn visit_u64<E: de::Error>(self, id: u64) -> Result<Self::Value, E> {
                i64::try_from(id)
                    .map(Id::Integer)
                    .map_err(|_| E::custom("integer too large"))
            }

            fn visit_borrowed_str<E: de::Error>(self, id: &'de str) -> Result<Self::Value, E> {
                Ok(Id::String(Cow::Borrowed(id)))
            }

            fn visit_str<E: de::Error>(self, id: &str) -> Result<Self::Value, E> {
                Ok(Id::String(Cow::Owned(id.into())))
            }
        }

        deserializer.deserialize_any(IdVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Text, modern_request, modern_response};

    fn request(id: &str, text: &str) -> String {
        let (head, tail) = modern_request(text);
        format!("{head}{id}{tail}")
    }

    #[test]
    fn answers_byte_for_byte() {
        for kind in [Text::Short, Text::Long, Text::LongEscaped] {
            for text in kind.pool() {
                let mut out = Vec::new();
                answer(request("7", &text).as_bytes(), &mut out).unwrap();
                assert_eq!(String::from_utf8(out).unwrap(), modern_response(7, &text));
            }
        }
    }

    #[test]
    fn refuses_what_the_core_refuses() {
        let good = request("\"a\"", "x");
        let mut out = Vec::new();
        answer(good.as_bytes(), &mut out).unwrap();
        out.clear();
        for (from, to) in [
            ("\"2.0\"", "\"1.0\""),
            ("\"a\"", "1.5"),
            ("\"a\"", "null"),
            ("tools/call", "tools/cell"),
            ("2026-07-28", "2025-11-25"),
            ("Capabilities\":{}", "Capabilities\":[]"),
            ("\"name\":\"echo\"", "\"name\":\"other\""),
            ("\"name\":\"echo\"", "\"name\":\"echo\",\"name\":\"echo\""),
            ("{\"text\":\"x\"}", "{\"text\":1}"),
            ("\"version\":\"1.0.0\"", "\"vversion\":\"1.0.0\""),
            ("\"jsonrpc\":\"2.0\",", "\"jsonrpc\":\"2.0\",\"jsonrpc\":\"2.0\","),
        ] {
            let bad = good.replacen(from, to, 1);
            assert_ne!(bad, good);
            assert!(answer(bad.as_bytes(), &mut out).is_err(), "{bad}");
            assert!(out.is_empty());
        }
        assert!(answer(b"\xff", &mut out).is_err());
        let extra = good.replacen("\"name\":\"echo\"", "\"name\":\"echo\",\"other\":[1]", 1);
        assert!(answer(extra.as_bytes(), &mut out).is_ok());
    }
}
