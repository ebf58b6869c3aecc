//! What becomes of a message that a server reads: the checks that every request passes, in their order.
//!
//! 1. A revision that is named and not ours: -32022, whatever the method (basic/versioning).
//! 2. A method we do not have: -32601; `initialize` is refused as a request for another revision.
//! 3. `_meta` without version or capabilities or with an unknown log level, params of the wrong form: -32602
//!    (basic/index, "`_meta`").
//! 4. State for a method that never asks, which nobody here can have sealed, or answers that are not an object: -32602
//!    (basic/patterns/mrtr).
//! 5. What the method itself requires of its params: -32602.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::body::{self, ErrorReply};
use super::config::ServerConfig;
use super::continuation::STATE_REFUSED;
use super::method::Method;
use super::needs::{lacking, wrong_level};
use super::request::Request;
use super::transmit::Status;
use crate::PROTOCOL_VERSION;
use crate::code::wire;
use crate::id::RequestId;
use crate::model::{RawJson, ServerBusy, UnsupportedProtocolVersion};
use crate::violation::PeerViolation;
use crate::wire::{Envelope, Malformed, Message, Params, ParamsError};

/// What to do with a message.
pub(super) enum Triage {
    /// A request for the application.
    Serve(Arc<Request>),
    /// Already answered: append this with this status.
    Answer(RequestId, Answer),
    /// The peer cancels one of its requests.
    Cancel { id: RequestId, reason: Option<Box<str>> },
    /// A notification that means nothing here.
    Ignore,
    /// Dropped, and worth a line in the operator's log.
    Violation(PeerViolation),
}

/// An answer of the engine's own.
pub(super) enum Answer {
    Discover,
    Refuse {
        status: Status,
        code: i64,
        message: Cow<'static, str>,
        data: Option<RawJson>,
    },
    /// State came with a method that takes none.
    RefuseState,
}

impl Answer {
    pub(super) fn status(&self) -> Status {
        match self {
            Self::Discover | Self::RefuseState => Status::Ok,
            Self::Refuse { status, .. } => *status,
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>, id: &RequestId, config: &ServerConfig) {
        match self {
            Self::Discover => body::whole_result(out, id, &config.discover),
            Self::Refuse { code, message, data, .. } => {
                let data = data.as_ref().map(RawJson::as_raw);
                ErrorReply { code: *code, message, data }.write(out, Some(id));
            }
            // The same as for state that does not open: the operator alone learns why.
            Self::RefuseState => STATE_REFUSED.write(out, Some(id)),
        }
    }

    /// The rule that was broken, where the operator would not learn it from the answer.
    pub(super) fn violation(&self) -> Option<PeerViolation> {
        matches!(self, Self::RefuseState).then_some(PeerViolation::StateNotAllowed)
    }

    /// The refusal of a request because so many are in flight.
    pub(super) fn busy(in_flight: usize) -> Self {
        Self::Refuse {
            status: Status::Unavailable,
            code: wire::BUSY,
            message: "the server is busy; try again later".into(),
            data: RawJson::from_value(&ServerBusy::behind(in_flight)).ok(),
        }
    }
}

pub(super) fn refuse(status: Status, code: i64, message: impl Into<Cow<'static, str>>) -> Answer {
    Answer::Refuse { status, code, message: message.into(), data: None }
}

/// The answer to bytes that are not a message.
pub(super) fn malformed(out: &mut Vec<u8>, why: Malformed) {
    let (code, message) = match why {
        Malformed::NotJson => (wire::PARSE_ERROR, "not JSON: each message is one line of JSON in UTF-8"),
        Malformed::TooLong => (wire::PARSE_ERROR, "the message is longer than this server reads"),
        Malformed::NotAMessage => (wire::INVALID_REQUEST, "not a JSON-RPC 2.0 message"),
        Malformed::Batch => (wire::INVALID_REQUEST, "batches are not allowed in this revision"),
    };
    ErrorReply::new(code, message).write(out, None);
}

/// `spare` are requests whose memory may be used again.
pub(super) fn triage(
    config: &ServerConfig,
    envelope: &mut Envelope<'_>,
    spare: &mut Vec<Arc<Request>>,
) -> Triage {
    let (line, message) = envelope.parts_mut();
    match message {
        Message::Request { id, method, params } => {
            let id = core::mem::replace(id, RequestId::Int(0));
            request(config, line, id, method, params, spare)
        }
        Message::Notification { method, params } => match &**method {
            "notifications/cancelled" => match params {
                Ok(Some(Params { request_id: Some(id), reason, .. })) => {
                    Triage::Cancel { id: id.clone(), reason: reason.as_deref().map(Into::into) }
                }
                _ => Triage::Ignore,
            },
            _ => Triage::Ignore,
        },
        Message::Response(_) => Triage::Violation(PeerViolation::ResponseToServer),
    }
}

fn request(
    config: &ServerConfig,
    line: &str,
    id: RequestId,
    method: &str,
    params: &mut Result<Option<Params<'_>>, ParamsError>,
    spare: &mut Vec<Arc<Request>>,
) -> Triage {
    let meta = params.as_ref().ok().and_then(Option::as_ref).and_then(|params| params.meta.as_ref());
    let version = meta.and_then(|meta| meta.protocol_version.as_deref());
    if let Some(version) = version.filter(|version| *version != PROTOCOL_VERSION) {
        return Triage::Answer(id, unsupported_version(version));
    }
    let versioned = version.is_some();
    if method == "initialize" {
        return Triage::Answer(id, initialize(line));
    }
    let discover = method == "server/discover";
    if !discover && !config.serves(method) {
        let message = alloc::format!("unknown method: {}", shown(method));
        return Triage::Answer(id, refuse(Status::NotFound, wire::METHOD_NOT_FOUND, message));
    }
    let Ok(params) = params else {
        let message = "params are not an object of the form that the method requires";
        return Triage::Answer(id, refuse(Status::BadRequest, wire::INVALID_PARAMS, message));
    };
    if !versioned {
        return Triage::Answer(id, lacks_meta("io.modelcontextprotocol/protocolVersion"));
    }
    let declared = |params: &&mut Params<'_>| {
        params.meta.as_ref().is_some_and(|meta| meta.client_capabilities.is_some())
    };
    let Some(params) = params.as_mut().filter(declared) else {
        return Triage::Answer(id, lacks_meta("io.modelcontextprotocol/clientCapabilities"));
    };
    if let Some(refusal) = params.meta.as_ref().and_then(wrong_level) {
        return Triage::Answer(id, refusal);
    }
    let method = Method::of(method);
    let takes_input = if discover { Some(false) } else { method.takes_input() };
    if let Some(refusal) = input(takes_input, params) {
        return Triage::Answer(id, refusal);
    }
    if discover {
        return Triage::Answer(id, Answer::Discover);
    }
    if let Some(refusal) = lacking(&method, params, line) {
        return Triage::Answer(id, refusal);
    }
    let again = id.clone();
    match Request::copy(line, id, method, params, spare) {
        Some(request) => Triage::Serve(request),
        None => Triage::Answer(again, lacks_meta("io.modelcontextprotocol/clientCapabilities")),
    }
}

/// What is wrong with the answers and the state that a request brings along, without opening the state.
fn input(takes_input: Option<bool>, params: &Params<'_>) -> Option<Answer> {
    match takes_input {
        Some(true) if params.input_responses.is_some_and(|responses| !responses.is_object()) => {
            Some(refuse(Status::Ok, wire::INVALID_PARAMS, "params.inputResponses is not an object"))
        }
        Some(false) if params.request_state.is_some() => Some(Answer::RefuseState),
        Some(_) | None => None,
    }
}

fn lacks_meta(key: &str) -> Answer {
    let message = alloc::format!("params._meta lacks {key}");
    refuse(Status::BadRequest, wire::INVALID_PARAMS, message)
}

/// Enough of a peer's text to recognise it in a message.
fn shown(text: &str) -> &str {
    let mut end = text.len().min(100);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

fn unsupported_version(requested: &str) -> Answer {
    let data = UnsupportedProtocolVersion::new(Vec::from([PROTOCOL_VERSION.into()]), shown(requested));
    Answer::Refuse {
        status: Status::BadRequest,
        code: wire::UNSUPPORTED_VERSION,
        message: alloc::format!("unsupported protocol version; this server speaks {PROTOCOL_VERSION}").into(),
        data: RawJson::from_value(&data).ok(),
    }
}

/// The handshake of earlier revisions (basic/versioning, "Backward Compatibility"). A legacy client learns from
/// the answer what is spoken here; a dual-era one whose probe was lost comes back with our revision, which it
/// would not do on "unknown method".
fn initialize(line: &str) -> Answer {
    #[derive(serde::Deserialize)]
    struct Whole<'a> {
        #[serde(borrow)]
        params: Handshake<'a>,
    }
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Handshake<'a> {
        #[serde(borrow)]
        protocol_version: Cow<'a, str>,
    }
    let requested = serde_json::from_str::<Whole<'_>>(line).ok().map(|whole| whole.params.protocol_version);
    unsupported_version(requested.as_deref().unwrap_or_default())
}
