//! How a call can fail.

use std::sync::Arc;

use sansio_mcp::client::{Outcome, PeerError, Refused, Timeout, TransportError};
use sansio_mcp::code::wire;
use sansio_mcp::model::ServerBusy;
use sansio_mcp::violation::PeerViolation;

/// Why a call gave no result. [`code`](Self::code) is for programs, the text for people.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The server answered with an error.
    #[error("the server answered with an error: {0}")]
    Peer(PeerError),
    /// The server answered with something that breaks the specification.
    #[error("the server {0}")]
    BadPeer(PeerViolation),
    /// The server asked for input a ninth time.
    #[error("the server asked for input too many times")]
    RoundsExceeded,
    /// The server asked for input, and there is nobody to answer.
    #[error("the server asked for input, which this client cannot give")]
    InputUnsupported,
    /// A question of the server could not be answered, for this reason; the call was given up.
    #[error("a question of the server could not be answered: {0}")]
    InputFailed(Arc<str>),
    /// A question of the server was not answered in time; the call was given up.
    #[error("a question of the server was not answered in time")]
    InputTimedOut,
    /// The call was cancelled here.
    #[error("the call was cancelled")]
    Cancelled,
    /// A deadline passed.
    #[error("the call timed out: {}", timeout(*.0))]
    TimedOut(Timeout),
    /// The connection was lost, before the call or during it, with the transport's cause.
    #[error("the connection was lost: {0}")]
    Lost(Arc<str>),
    /// The transport got no answer, but something else, such as a status of HTTP; its code is that of the error.
    #[error("the server gave no answer: {0}")]
    Transport(Arc<TransportError>),
    /// The client was closed here.
    #[error("the client was closed")]
    Closed,
    /// The call could not be made; nothing was sent.
    #[error("the call could not be made: {0}")]
    Refused(Refused),
    /// The result is not of the type that was asked for.
    #[error("the result is not of the expected form: {0}")]
    Decode(Arc<str>),
    /// A list has no end.
    #[error("the list could not be read to its end: {0}")]
    List(ListError),
}

/// Why a list of pages was given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// A cursor was given a second time: the pages go in circles.
    #[error("a cursor was given twice")]
    RepeatedCursor,
    /// More than 1,000 pages, or more than 100,000 items.
    #[error("there are too many pages")]
    TooLong,
}

impl CallError {
    /// The stable name of this error. What the core decides has the name it gives it
    /// ([`Outcome::code`]).
    pub fn code(&self) -> &'static str {
        match self {
            Self::Peer(_) if self.is_busy() => ServerBusy::CODE,
            Self::Transport(error) => error.code,
            Self::Peer(_) => "PEER_ERROR",
            Self::BadPeer(_) => "BAD_PEER",
            Self::RoundsExceeded => "ROUNDS_EXCEEDED",
            Self::InputUnsupported => "INPUT_UNSUPPORTED",
            Self::InputFailed(_) => "INPUT_FAILED",
            Self::InputTimedOut => "INPUT_TIMED_OUT",
            Self::Cancelled => "CANCELLED",
            Self::TimedOut(Timeout::Idle) => "TIMED_OUT_IDLE",
            Self::TimedOut(Timeout::Total) => "TIMED_OUT_TOTAL",
            Self::Lost(_) => "LOST",
            Self::Closed => "CLOSED",
            Self::Refused(_) => "REFUSED",
            Self::Decode(_) => "DECODE",
            Self::List(ListError::RepeatedCursor) => "REPEATED_CURSOR",
            Self::List(ListError::TooLong) => "LIST_TOO_LONG",
        }
    }

    /// The server refused the call because too much is waiting already; it has not run.
    pub fn is_busy(&self) -> bool {
        match self {
            Self::Transport(error) => error.busy,
            _ => self.busy().is_some(),
        }
    }

    /// How long the busy server asks to wait before another try, in milliseconds.
    pub fn retry_after_ms(&self) -> Option<u64> {
        if let Self::Transport(error) = self {
            return error.retry_after.and_then(|time| u64::try_from(time.as_millis()).ok());
        }
        self.busy()?.retry_after_ms
    }

    fn busy(&self) -> Option<ServerBusy> {
        let Self::Peer(PeerError { code: wire::BUSY, data: Some(data), .. }) = self else {
            return None;
        };
        serde_json::from_str::<ServerBusy>(data).ok().filter(|busy| busy.code == ServerBusy::CODE)
    }
}

fn timeout(which: Timeout) -> &'static str {
    match which {
        Timeout::Idle => "neither an answer nor progress came",
        Timeout::Total => "it took too long altogether",
    }
}

impl From<Refused> for CallError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Closed => Self::Closed,
            refused => Self::Refused(refused),
        }
    }
}

/// The result, or the error that an outcome other than a result is.
pub(super) fn settled(
    outcome: Outcome,
    asked_for_input: bool,
) -> Result<sansio_mcp::client::Answer, CallError> {
    Err(match outcome {
        Outcome::Complete(answer) => return Ok(answer),
        Outcome::Error(error) => CallError::Peer(error),
        Outcome::BadPeer(violation) => CallError::BadPeer(violation),
        Outcome::RoundsExceeded => CallError::RoundsExceeded,
        Outcome::Cancelled if asked_for_input => CallError::InputUnsupported,
        Outcome::Cancelled => CallError::Cancelled,
        Outcome::TimedOut(which) => CallError::TimedOut(which),
        Outcome::Lost(cause) => CallError::Lost(cause),
        Outcome::Transport(error) => CallError::Transport(error),
        // Outcome is open: what a later core adds is at least over.
        _ => CallError::Closed,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn outcomes() -> Vec<Outcome> {
        vec![
            Outcome::BadPeer(PeerViolation::MalformedResult),
            Outcome::RoundsExceeded,
            Outcome::Cancelled,
            Outcome::TimedOut(Timeout::Idle),
            Outcome::TimedOut(Timeout::Total),
            Outcome::Lost("x".into()),
            Outcome::Transport(TransportError::new("NO_ANSWER", "x").into()),
            Outcome::Closed,
        ]
    }

    #[test]
    fn codes_are_those_of_the_core() {
        for outcome in outcomes() {
            let code = outcome.code();
            assert_eq!(settled(outcome, false).unwrap_err().code(), code);
        }
        assert_eq!(settled(Outcome::Cancelled, true).unwrap_err().code(), "INPUT_UNSUPPORTED");
    }
}
