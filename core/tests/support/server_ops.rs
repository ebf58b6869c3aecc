//! Operations on a server read from bytes, and the messages that a client may send it.

use sansio_mcp::server::{Kind, Status};
use sansio_mcp::violation::PeerViolation;
use serde_json::{Value, json};

use crate::bytes::Bytes;
use crate::frame::Operation;

/// What to do. Requests are picked by a number that the model's state resolves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    Request { id: u8, how: u8 },
    Cancel { pick: u8, how: u8 },
    Odd { which: u8 },
    Oversized,
    Progress { pick: u8, value: u8 },
    Respond { pick: u8, how: u8 },
    Transmit,
    Time { by: u8, handle: bool },
    InputEnd,
    StreamEnd,
    Close,
    Poll,
}

impl Operation for Op {
    fn from_bytes(bytes: &mut Bytes<'_>) -> Option<Self> {
        let (kind, pick, more) = (bytes.next()?, bytes.next()?, bytes.next()?);
        // More polls than there are events, or stops wait behind violations and nothing new is accepted.
        Some(match kind {
            0..=39 => Self::Request { id: pick, how: more },
            40..=54 => Self::Cancel { pick, how: more },
            55..=60 => Self::Odd { which: more },
            61 => Self::Oversized,
            62..=109 => Self::Progress { pick, value: more },
            110..=129 => Self::Respond { pick, how: more },
            130..=174 => Self::Transmit,
            175..=184 => Self::Time { by: more, handle: pick % 4 > 0 },
            185..=186 => match pick {
                0..=7 => Self::InputEnd,
                8..=15 => Self::StreamEnd,
                16..=31 => Self::Close,
                _ => Self::Poll,
            },
            187..=255 => Self::Poll,
        })
    }
}

/// An id or token, small numbers and odd ones.
pub(crate) fn wire_id(byte: u8) -> Value {
    match byte % 12 {
        0 => json!(0),
        1 => json!(""),
        2 => json!(-1),
        3 => json!(i64::MAX),
        4 => json!(i64::MIN),
        5 => json!("0"),
        6 => json!("x".repeat(256)),
        7 => json!("\u{e9}\"\\\n"),
        n => json!(n),
    }
}

/// What a request asks, and what is wrong with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ask {
    Call,
    List,
    Discover,
    UnknownMethod,
    NoMeta,
    NullToken,
    OtherVersion,
    NoName,
    BadArguments,
}

impl Ask {
    pub(crate) fn of(byte: u8) -> Self {
        match byte % 32 {
            0 => Self::Discover,
            1 => Self::UnknownMethod,
            2 => Self::NoMeta,
            3 => Self::NullToken,
            4 => Self::OtherVersion,
            5 => Self::NoName,
            6 => Self::BadArguments,
            7..=10 => Self::List,
            _ => Self::Call,
        }
    }

    pub(crate) fn is_served(self) -> bool {
        matches!(self, Self::Call | Self::List)
    }

    pub(crate) fn request(self, id: &Value, token: Option<&Value>) -> Value {
        let method = match self {
            Self::List | Self::NoMeta => "tools/list",
            Self::Discover => "server/discover",
            Self::UnknownMethod => "prompts/get",
            _ => "tools/call",
        };
        let mut params = json!({"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }});
        if let Some(token) = token {
            params["_meta"]["progressToken"] = token.clone();
        }
        if self != Self::NoName {
            params["name"] = json!("tool");
        }
        match self {
            Self::NoMeta => params["_meta"] = json!({}),
            Self::NullToken => params["_meta"]["progressToken"] = json!(null),
            Self::OtherVersion => {
                params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2025-11-25");
            }
            Self::BadArguments => params["arguments"] = json!([1]),
            _ => {}
        }
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    /// What the engine answers by itself. The text of an error is for people: not compared.
    pub(crate) fn answer(self, id: &Value) -> (Kind, Value) {
        let error = |status, code| (Kind::Response(status), error(Some(id), code, None));
        match self {
            Self::Call | Self::List => unreachable!(),
            Self::Discover => {
                let result = json!({
                    "resultType": "complete",
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": {"tools": {}},
                    "ttlMs": 0,
                    "cacheScope": "public",
                    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}},
                });
                let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
                (Kind::Response(Status::Ok), answer)
            }
            Self::UnknownMethod => error(Status::NotFound, -32601),
            Self::NoMeta | Self::NullToken | Self::NoName => error(Status::BadRequest, -32602),
            Self::BadArguments => error(Status::Ok, -32602),
            Self::OtherVersion => {
                let data = json!({"supported": ["2026-07-28"], "requested": "2025-11-25"});
                (Kind::Response(Status::BadRequest), self::error(Some(id), -32022, Some(data)))
            }
        }
    }
}

/// An error response whose message is blotted out.
pub(crate) fn error(id: Option<&Value>, code: i64, data: Option<Value>) -> Value {
    let mut answer = json!({"jsonrpc": "2.0", "error": {"code": code, "message": "..."}});
    if let Some(id) = id {
        answer["id"] = id.clone();
    }
    if let Some(data) = data {
        answer["error"]["data"] = data;
    }
    answer
}

/// What becomes of a message that is no request to serve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Odd {
    /// Answered with this code, without an id, and noted.
    NotAMessage(i64),
    /// Noted.
    Noted(PeerViolation),
    Ignored,
}

pub(crate) const ODD: [(&[u8], Odd); 14] = [
    (b"", Odd::NotAMessage(-32700)),
    (b"{\"jsonrpc\":", Odd::NotAMessage(-32700)),
    (b"\"\xff\"", Odd::NotAMessage(-32700)),
    (b"[{\"jsonrpc\":\"2.0\",\"method\":\"x\"}]", Odd::NotAMessage(-32600)),
    (br#"{"jsonrpc":"2.0","id":true,"method":"tools/list"}"#, Odd::NotAMessage(-32600)),
    (br#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#, Odd::NotAMessage(-32600)),
    (br#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#, Odd::NotAMessage(-32600)),
    (br#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"a"}"#, Odd::NotAMessage(-32600)),
    (br#"{"jsonrpc":"2.0","id":1,"method":"a","method":"a"}"#, Odd::NotAMessage(-32600)),
    (br#"{"jsonrpc":"2.0","id":1,"result":{}}"#, Odd::Noted(PeerViolation::ResponseToServer)),
    (br#"{"jsonrpc":"2.0","method":"notifications/whatever","params":7}"#, Odd::Ignored),
    (br#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#, Odd::Ignored),
    (br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":true}}"#, Odd::Ignored),
    (br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}"#, Odd::Ignored),
];
