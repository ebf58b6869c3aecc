//! Operations on a client read from bytes, and the messages that a server may send it.

use sansio_mcp::violation::PeerViolation;
use serde_json::{Value, json};

use crate::bytes::Bytes;
use crate::client_listens::Told;
use crate::frame::Operation;

/// What to do. Calls, attempts and streams are picked by a number that the model's state resolves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    Call { flags: u8 },
    Listen { filter: u8, within: u8 },
    Told { pick: u8, what: u8, aside: bool },
    Ready,
    Transmit { pick: u8 },
    Respond { pick: u8, reply: u8, aside: bool },
    Progress { pick: u8, value: u8, aside: bool },
    Stray { id: u8, progress: bool },
    Junk { which: u8 },
    Answer { pick: u8, how: u8 },
    Cancel { pick: u8, reason: bool },
    StreamEnd { pick: u8 },
    Time { by: u8, handle: bool },
    Poll,
    Close,
}

impl Operation for Op {
    fn from_bytes(bytes: &mut Bytes<'_>) -> Option<Self> {
        let (kind, pick, more) = (bytes.next()?, bytes.next()?, bytes.next()?);
        let aside = more >= 240;
        Some(match kind {
            0..=23 => Self::Call { flags: more },
            24..=32 => Self::Listen { filter: pick, within: more },
            33..=54 => Self::Ready,
            55..=90 => Self::Transmit { pick },
            91..=120 => Self::Respond { pick, reply: more, aside },
            121..=135 => Self::Progress { pick, value: more, aside },
            136..=138 => Self::Stray { id: pick, progress: more % 2 == 0 },
            139..=141 => Self::Junk { which: more },
            142..=161 => Self::Answer { pick, how: more },
            162..=164 => Self::Cancel { pick, reason: more % 2 == 0 },
            165 => Self::StreamEnd { pick },
            166..=180 => Self::Time { by: more, handle: pick % 4 > 0 },
            181..=202 => Self::Told { pick, what: more, aside },
            255 if pick >= 230 => Self::Close,
            203..=255 => Self::Poll,
        })
    }
}

/// An id or token as a message carries it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WireId {
    Int(i64),
    Str,
}

impl WireId {
    pub(crate) fn json(self) -> Value {
        match self {
            Self::Int(id) => json!(id),
            Self::Str => json!("1"),
        }
    }
}

/// What a response says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reply {
    Complete {
        typed: bool,
    },
    Error,
    /// -32022 that names what the server supports.
    Version {
        supported: &'static [&'static str],
    },
    Ask {
        questions: u8,
        state: bool,
    },
    State,
    Neither {
        empty: bool,
    },
    UnknownType,
    Malformed(u8),
}

pub(crate) const NEWER: &str = "2026-07-28";
pub(crate) const OLDER: &str = "2026-01-01";

pub(crate) const STATE: &str = "opaque \"\u{e9}\\ state==";

impl Reply {
    pub(crate) fn of(byte: u8) -> Self {
        match byte % 16 {
            0 => Self::Complete { typed: true },
            1 => Self::Complete { typed: false },
            2 => Self::Error,
            3 => Self::Version { supported: &[OLDER] },
            4 => Self::Version { supported: &["2024-11-05", NEWER, OLDER] },
            5 => Self::Version { supported: &["2024-11-05"] },
            6 | 7 => Self::Ask { questions: 1, state: true },
            8 | 9 => Self::Ask { questions: 2, state: false },
            10..=12 => Self::State,
            13 => Self::Neither { empty: byte % 32 == 13 },
            14 => Self::UnknownType,
            _ => Self::Malformed(byte / 16),
        }
    }

    /// The keys asked under.
    pub(crate) fn keys(self) -> Vec<String> {
        match self {
            Self::Ask { questions, .. } => (0..questions).map(|n| format!("q{n}")).collect(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn has_state(self) -> bool {
        matches!(self, Self::State | Self::Ask { state: true, .. })
    }

    fn members(self) -> Value {
        let ask = || json!({"method": "elicitation/create", "params": {"message": "Really?"}});
        match self {
            Self::Complete { typed: true } => json!({"result": {"resultType": "complete", "content": []}}),
            Self::Complete { typed: false } => json!({"result": {"content": [], "extra": {"a": [1]}}}),
            Self::Error => json!({"error": {"code": -32602, "message": "no", "data": {"a": 1}}}),
            Self::Version { supported } => json!({"error": {
                "code": -32022, "message": "version", "data": {"supported": supported, "requested": "?"}
            }}),
            Self::Ask { state, .. } => {
                let questions: serde_json::Map<String, Value> =
                    self.keys().into_iter().map(|key| (key, ask())).collect();
                let mut result =
                    json!({"resultType": "input_required", "inputRequests": questions, "content": []});
                if state {
                    result["requestState"] = json!(STATE);
                }
                json!({ "result": result })
            }
            Self::State => {
                json!({"result": {"resultType": "input_required", "requestState": STATE, "inputRequests": null}})
            }
            Self::Neither { empty: true } => {
                json!({"result": {"resultType": "input_required", "inputRequests": {}}})
            }
            Self::Neither { empty: false } => {
                json!({"result": {"resultType": "input_required", "requestState": null}})
            }
            Self::UnknownType => json!({"result": {"resultType": "partial", "requestState": "s"}}),
            Self::Malformed(n) => match n % 5 {
                0 => json!({"result": null}),
                1 => json!({"result": [1]}),
                2 => json!({"result": {"resultType": 5}}),
                3 => json!({"result": {"resultType": "input_required", "inputRequests": [1]}}),
                _ => json!({"result": {"resultType": "input_required", "requestState": 5}}),
            },
        }
    }
}

/// A message from the server.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Message {
    Response {
        id: WireId,
        reply: Reply,
    },
    /// A token without a number is malformed.
    Progress {
        token: WireId,
        value: Option<f64>,
    },
    /// A notification that names a subscription.
    Told {
        subscription: WireId,
        what: Told,
    },
    Junk(usize),
}

/// What is not a message, or none for a client, and the rule that it breaks.
pub(crate) const JUNK: [(&[u8], Option<PeerViolation>); 12] = [
    (b"\xff{", Some(PeerViolation::NotAMessage)),
    (b"", Some(PeerViolation::NotAMessage)),
    (b"[]", Some(PeerViolation::NotAMessage)),
    (br#"{"jsonrpc":"2.0","id":true,"result":{}}"#, Some(PeerViolation::NotAMessage)),
    (br#"{"jsonrpc":"2.0","id":1,"id":1,"result":{}}"#, Some(PeerViolation::NotAMessage)),
    (br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, Some(PeerViolation::RequestToClient)),
    (br#"{"jsonrpc":"2.0","method":"notifications/other","params":5}"#, None),
    (br#"{"jsonrpc":"2.0","method":"notifications/progress"}"#, Some(PeerViolation::MalformedProgress)),
    (br#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"what?"}}"#, Some(PeerViolation::UnknownResponse)),
    (br#"{"jsonrpc":"2.0","method":"notifications/message","params":5}"#, Some(PeerViolation::MalformedLog)),
    (br#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#, Some(PeerViolation::NotSubscribed)),
    (
        br#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a","_meta":{"io.modelcontextprotocol/subscriptionId":null}}}"#,
        Some(PeerViolation::NotSubscribed),
    ),
];

/// Which of them breaks no rule.
pub(crate) const IGNORED: usize = 6;

impl Message {
    pub(crate) fn bytes(self) -> Vec<u8> {
        let mut message = json!({"jsonrpc": "2.0"});
        match self {
            Self::Response { id, reply } => {
                message["id"] = id.json();
                for (key, value) in reply.members().as_object().unwrap() {
                    message[key] = value.clone();
                }
            }
            Self::Progress { token, value } => {
                message["method"] = json!("notifications/progress");
                message["params"] = json!({"progressToken": token.json(), "message": "m"});
                if let Some(value) = value {
                    message["params"]["progress"] = json!(value);
                }
            }
            Self::Told { subscription, what } => {
                message["method"] = json!(what.method());
                message["params"] = what.params(&subscription.json());
            }
            Self::Junk(which) => return JUNK[which].0.to_vec(),
        }
        message.to_string().into_bytes()
    }
}
