//! What a client has to tell its application, and what it hands to its transport.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use serde::Deserialize;

use crate::id::CallId;
use crate::model::{CallToolResult, InputRequest, LoggingLevel, RawJson};
use crate::subscription::Changed;
use crate::violation::PeerViolation;
use crate::wire::text::Piece;
use crate::wire::{JsonText, ResultText};

/// A stream that messages travel on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StreamId(pub(super) u64);

impl StreamId {
    /// The one stream of a shared channel.
    pub const SHARED: Self = Self(0);
}

/// What kind of message it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ClientKind {
    /// An attempt of this call. [`Client::method`](super::Client::method) and
    /// [`Client::target`](super::Client::target) say what a binding mirrors into headers.
    Request(CallId),
    /// A notification.
    Notification,
    /// No bytes: close the stream, which abandons its request.
    CloseStream,
}

/// One message that was appended to the caller's buffer, without a line end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ClientTransmit {
    /// What it is.
    pub kind: ClientKind,
    /// Nothing more will be sent on this stream.
    pub last: bool,
}

/// A complete result, as it was received.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    line: String,
    /// The result and its `_meta`, where their places are known.
    result: Option<Piece>,
    meta: Option<Piece>,
    after_input: bool,
}

/// A response that was read.
#[derive(Clone, Copy)]
pub(super) struct Received<'a> {
    pub(super) line: &'a str,
    /// Where the result stands within the line, if that is known.
    pub(super) result: Option<ResultText<'a>>,
}

/// Capacity that an answer may hold beyond twice its length.
const KEEP: usize = 4096;

impl Answer {
    /// Copies the line, into `buffer` if it has room and is not far too large.
    pub(super) fn keep(received: Received<'_>, mut buffer: Vec<u8>, after_input: bool) -> Self {
        let line = received.line;
        let result = received.result.map(|result| Piece::of(line, result.whole.get()));
        let meta = received.result.and_then(|result| result.meta).map(|meta| Piece::of(line, meta.get()));
        let room = line.len()..=KEEP + 2 * line.len();
        if !room.contains(&buffer.capacity()) {
            return Self { line: line.into(), result, meta, after_input };
        }
        buffer.clear();
        let mut kept = String::from_utf8(buffer).unwrap_or_default();
        kept.push_str(line);
        Self { line: kept, result, meta, after_input }
    }

    /// Reads the result as a type.
    ///
    /// # Errors
    /// The result is not of that type.
    pub fn result<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        #[derive(Deserialize)]
        struct Whole<T> {
            result: T,
        }
        if let Some(result) = &self.result {
            return serde_json::from_str(result.get(&self.line));
        }
        serde_json::from_str::<Whole<T>>(&self.line).map(|whole| whole.result)
    }

    /// Reads the result as a tool's.
    ///
    /// # Errors
    /// It is none.
    pub fn tool_result(&self) -> Result<CallToolResult, serde_json::Error> {
        match &self.result {
            Some(result) => {
                let meta = self.meta.as_ref().map(|meta| meta.get(&self.line));
                CallToolResult::from_json_knowing(result.get(&self.line), meta)
            }
            None => self.result(),
        }
    }

    /// The request was sent again with answers or state before this came, so the result depends on more than the
    /// params of the call and must not be cached (server/utilities/caching, "Cache Key").
    pub fn is_after_input(&self) -> bool {
        self.after_input
    }

    /// The whole response message.
    pub fn message(&self) -> &str {
        &self.line
    }
}

/// An error response of the peer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message} ({code})")]
#[non_exhaustive]
pub struct PeerError {
    /// The code; see [`crate::code::wire`].
    pub code: i64,
    /// The message.
    pub message: String,
    /// `data`: the text of a JSON value.
    pub data: Option<Box<str>>,
}

/// Why a transport gave a request up whose answer it was to bring: what came was none. Unlike a loss, it says what the other
/// side did.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{cause}")]
#[non_exhaustive]
pub struct TransportError {
    /// The stable name of the kind of failure.
    pub code: &'static str,
    /// The cause, for people.
    pub cause: Box<str>,
    /// The status that came instead of an answer, where the transport has such.
    pub status: Option<u16>,
    /// The server is too busy; it has not run the call.
    pub busy: bool,
    /// How long it asks to wait before another try.
    pub retry_after: Option<Duration>,
}

impl TransportError {
    /// A failure of this kind and cause.
    pub fn new(code: &'static str, cause: impl Into<Box<str>>) -> Self {
        Self { code, cause: cause.into(), status: None, busy: false, retry_after: None }
    }

    /// Adds the status that came.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// Says that the server is too busy, and how long it asks to wait.
    #[must_use]
    pub fn as_busy(mut self, retry_after: Option<Duration>) -> Self {
        (self.busy, self.retry_after) = (true, retry_after);
        self
    }

    /// The server, or something before it, failed or was busy: the same may go well later.
    pub fn is_transient(&self) -> bool {
        self.busy || self.status.is_some_and(|status| (500..600).contains(&status))
    }
}

/// Which deadline passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timeout {
    /// Neither an answer nor progress came for too long.
    Idle,
    /// The call took too long altogether.
    Total,
}

/// How a call ended; every call ends exactly once.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// With a complete result.
    Complete(Answer),
    /// With an error response.
    Error(PeerError),
    /// With a response that breaks the specification.
    BadPeer(PeerViolation),
    /// A ninth round of input was asked for.
    RoundsExceeded,
    /// The application cancelled it.
    Cancelled,
    /// A deadline passed.
    TimedOut(Timeout),
    /// The channel, or the stream of the attempt, was lost; the cause is the transport's.
    Lost(Arc<str>),
    /// The transport got no answer to it, but something else.
    Transport(Arc<TransportError>),
    /// The application closed the client.
    Closed,
}

impl Outcome {
    /// The stable name of this outcome. None of them has the form of a peer's answer.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Complete(_) => "COMPLETE",
            Self::Error(_) => "PEER_ERROR",
            Self::BadPeer(_) => "BAD_PEER",
            Self::RoundsExceeded => "ROUNDS_EXCEEDED",
            Self::Cancelled => "CANCELLED",
            Self::TimedOut(Timeout::Idle) => "TIMED_OUT_IDLE",
            Self::TimedOut(Timeout::Total) => "TIMED_OUT_TOTAL",
            Self::Lost(_) => "LOST",
            Self::Transport(error) => error.code,
            Self::Closed => "CLOSED",
        }
    }
}

/// One question of a round: its key and the request to put to a person, a model or the file system.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Question {
    /// The key to answer under.
    pub key: Box<str>,
    /// The request: the text of a JSON object with `method` and `params`.
    pub request: Box<str>,
}

/// A log message of the server (server/utilities/logging).
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LogMessage {
    /// How severe it is.
    pub level: LoggingLevel,
    /// Who says it.
    pub logger: Option<Box<str>>,
    /// What it says: the text of a JSON value.
    pub data: Box<str>,
}

impl LogMessage {
    /// Reads what it says as a type.
    ///
    /// # Errors
    /// It is not of that type.
    pub fn data_as<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.data)
    }
}

impl Question {
    /// The request as a value; [`typed`](InputRequest::typed) says what it asks.
    ///
    /// # Errors
    /// It is not of the form of a request.
    pub fn read(&self) -> Result<InputRequest, serde_json::Error> {
        serde_json::from_str(&self.request)
    }
}

/// What a client has to tell its application.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum ClientEvent {
    /// Progress of a call, in order, before its outcome.
    Progress {
        /// Which call.
        call: CallId,
        /// Increases with each event of one attempt; the next, after a round of input, starts again.
        progress: f64,
        /// The value at the end, if it is known.
        total: Option<f64>,
        /// For a person.
        message: Option<Box<str>>,
    },
    /// The server needs input (basic/patterns/mrtr); answer with [`Client::answer`](super::Client::answer).
    InputRequired {
        /// Which call.
        call: CallId,
        /// The round, from 1.
        round: u8,
        /// All questions of the round.
        questions: Vec<Question>,
    },
    /// The server has acknowledged a subscription; changes follow (basic/patterns/subscriptions).
    Listening {
        /// Which, as [`Client::listen`](super::Client::listen) named it.
        call: CallId,
        /// What the server agreed to tell of: the text of a JSON object.
        acknowledged: Box<str>,
    },
    /// Something changed that a subscription asked for. An equal event that the application has not collected stands
    /// for this one too.
    Changed {
        /// Which subscription.
        call: CallId,
        /// What changed.
        change: Changed,
    },
    /// The server logged something for a call that asked for it ([`CallSpec::log_level`](super::CallSpec::log_level)).
    Log {
        /// Which call. On a channel that all calls share nothing says so: it is the call that asked for messages of
        /// this level if only one did, and `None` if several did.
        call: Option<CallId>,
        /// The message.
        message: LogMessage,
    },
    /// The server refused the headers of a call of a tool (-32020), and [`Client::correct_headers`](super::Client::correct_headers)
    /// was asked for: the call waits for [`Client::corrected`](super::Client::corrected).
    HeadersRefused {
        /// Which call.
        call: CallId,
    },
    /// A call has ended. Nothing follows about it.
    Finished {
        /// Which call.
        call: CallId,
        /// How.
        outcome: Outcome,
    },
    /// The peer broke a rule; for the operator's log.
    Violation(PeerViolation),
}

/// An answer to one question: its key and the result, the text of a JSON object.
#[derive(Clone, Copy, Debug)]
pub struct InputAnswer<'a> {
    /// The key of the question.
    pub key: &'a str,
    /// The result.
    pub result: JsonText<'a>,
}

impl<'a> InputAnswer<'a> {
    /// The answer to the question of this key. An [`ElicitResult`](crate::model::ElicitResult), a
    /// [`CreateMessageResult`](crate::model::CreateMessageResult) or a
    /// [`ListRootsResult`](crate::model::ListRootsResult) becomes its `result` with `into`.
    pub fn new(key: &'a str, result: &'a RawJson) -> Self {
        Self { key, result: result.as_raw() }
    }
}
