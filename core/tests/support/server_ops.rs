//! Operations on a server read from bytes, and the messages that a client may send it.

use sansio_mcp::server::{Kind, Status};
use sansio_mcp::violation::PeerViolation;
use serde_json::{Value, json};

use crate::bytes::Bytes;
use crate::frame::Operation;
use crate::server_listens::Filter;

/// What to do. Requests are picked by a number that the model's state resolves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    Request { id: u8, how: u8 },
    Cancel { pick: u8, how: u8 },
    Odd { which: u8 },
    Oversized,
    Progress { pick: u8, value: u8 },
    Respond { pick: u8, how: u8 },
    Ask { pick: u8, how: u8 },
    Notify { pick: u8 },
    Acknowledge { pick: u8, how: u8 },
    Publish { what: u8 },
    EndSubscription { pick: u8 },
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
            0..=36 => Self::Request { id: pick, how: more },
            37..=50 => Self::Cancel { pick, how: more },
            51..=56 => Self::Odd { which: more },
            57 => Self::Oversized,
            58..=90 => Self::Progress { pick, value: more },
            91..=107 => Self::Respond { pick, how: more },
            108..=111 => Self::Ask { pick, how: more },
            112..=115 => Self::Notify { pick },
            116..=125 => Self::Acknowledge { pick, how: more },
            126..=138 => Self::Publish { what: more },
            139..=140 => Self::EndSubscription { pick },
            141..=176 => Self::Transmit,
            177..=184 => Self::Time { by: more, handle: pick % 4 > 0 },
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
    /// With the answers of a round and its state.
    Again,
    List,
    /// For one of the filters.
    Listen(u8),
    Discover,
    UnknownMethod,
    NoMeta,
    NullToken,
    OtherVersion,
    NoName,
    BadArguments,
    BadAnswers,
    /// State for a method that never asks.
    StrayState,
    NoFilter,
}

/// What a server gets back with the answers.
pub(crate) const STATE: &str = "opaque \"\u{e9}\\ state==";

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
            7..=9 => Self::List,
            10 => Self::BadAnswers,
            11 => Self::StrayState,
            12 => Self::NoFilter,
            13..=18 => Self::Listen(byte / 32),
            19..=21 => Self::Again,
            _ => Self::Call,
        }
    }

    pub(crate) fn is_served(self) -> bool {
        matches!(self, Self::Call | Self::Again | Self::List | Self::Listen(_))
    }

    /// `client` is whose it is: what a client says of itself stands in each of its requests.
    pub(crate) fn request(self, id: &Value, token: Option<&Value>, client: u8) -> Value {
        let method = match self {
            Self::List | Self::NoMeta | Self::StrayState => "tools/list",
            Self::Discover => "server/discover",
            Self::UnknownMethod => "prompts/get",
            Self::Listen(_) | Self::NoFilter => "subscriptions/listen",
            _ => "tools/call",
        };
        let mut params = json!({"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "c", "version": client.to_string()},
            "io.modelcontextprotocol/clientCapabilities": if client == 3 { json!({"roots": {}}) } else { json!({}) },
        }});
        if let Some(token) = token {
            params["_meta"]["progressToken"] = token.clone();
        }
        if !matches!(self, Self::NoName) {
            params["name"] = json!("tool");
        }
        match self {
            Self::NoMeta => params["_meta"] = json!({}),
            Self::NullToken => params["_meta"]["progressToken"] = json!(null),
            Self::OtherVersion => {
                params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2025-11-25");
            }
            Self::BadArguments => params["arguments"] = json!([1]),
            Self::Again => {
                params["inputResponses"] = answers();
                params["requestState"] = json!(STATE);
            }
            Self::BadAnswers => params["inputResponses"] = json!([answers()]),
            Self::StrayState => params["requestState"] = json!(STATE),
            Self::Listen(which) => params["notifications"] = Filter::of(which).json(),
            _ => {}
        }
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    /// What the engine answers by itself. The text of an error is for people: not compared.
    pub(crate) fn answer(self, id: &Value) -> (Kind, Value) {
        let error = |status, code| (Kind::Response(status), error(Some(id), code, None));
        match self {
            Self::Call | Self::Again | Self::List | Self::Listen(_) => unreachable!(),
            Self::Discover => {
                let result = json!({
                    "resultType": "complete",
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": {"tools": {"listChanged": true}, "resources": {"subscribe": true}},
                    "ttlMs": 0,
                    "cacheScope": "public",
                    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}},
                });
                let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
                (Kind::Response(Status::Ok), answer)
            }
            Self::UnknownMethod => error(Status::NotFound, -32601),
            Self::NoMeta | Self::NullToken | Self::NoName | Self::NoFilter => {
                error(Status::BadRequest, -32602)
            }
            Self::BadArguments | Self::BadAnswers | Self::StrayState => error(Status::Ok, -32602),
            Self::OtherVersion => {
                let data = json!({"supported": ["2026-07-28"], "requested": "2025-11-25"});
                (Kind::Response(Status::BadRequest), self::error(Some(id), -32022, Some(data)))
            }
        }
    }
}

/// Answers of a round.
pub(crate) fn answers() -> Value {
    json!({"k\u{e9}": {"action": "accept", "content": {"n": 1}}, "other": {"action": "decline"}})
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
