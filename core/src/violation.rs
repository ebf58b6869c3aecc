//! Rules of the specification that a peer broke.

use crate::limits::MAX_WAITING_VIOLATIONS;

/// What a peer did wrong, one variant a rule. Nothing is answered for most of them; they are for the
/// operator's log.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PeerViolation {
    /// The bytes are not a message (basic/index, "Messages").
    #[error("sent something that is not a JSON-RPC message")]
    NotAMessage,
    /// Clients do not send responses (basic/transports/index, "Messages").
    #[error("sent a response to a server")]
    ResponseToServer,
    /// Servers do not send requests (basic/patterns/index).
    #[error("sent a request to a client")]
    RequestToClient,
    /// A request id is unique among those not yet answered (basic/index, "Requests").
    #[error("sent a second request with the id of one that is still in flight")]
    DuplicateId,
    /// More than one request on a stream that carries one (basic/transports/streamable-http).
    #[error("sent a second request on a stream of one request")]
    SecondRequest,
    /// A response names the id of a request (basic/index, "Responses").
    #[error("answered a request that was never made")]
    UnknownResponse,
    /// A response travels on the stream of its request (basic/transports/streamable-http).
    #[error("sent a message on the stream of another request")]
    WrongStream,
    /// A response has either a result, an object whose known keys have their types, or an error with a code and a
    /// message (basic/index, "Result Responses").
    #[error("sent a response whose result or error is not of the specified form")]
    MalformedResult,
    /// An unrecognised `resultType` is invalid (basic/index).
    #[error("sent a result of an unknown resultType")]
    UnknownResultType,
    /// Only tools/call, prompts/get and resources/read may ask for input (basic/patterns/mrtr).
    #[error("asked for input on a method that may not")]
    InputNotAllowed,
    /// At least one of `inputRequests` and `requestState` (basic/patterns/mrtr).
    #[error("asked for input with neither questions nor state")]
    InputWithoutContent,
    /// Only tools/call, prompts/get and resources/read may carry state (basic/patterns/mrtr).
    #[error("sent state with a request of a method that takes none")]
    StateNotAllowed,
    /// Progress names a token of an active request (basic/patterns/progress).
    #[error("sent progress under a token that no request carries")]
    UnknownToken,
    /// Progress increases with each notification (basic/patterns/progress).
    #[error("sent progress that did not increase")]
    ProgressNotIncreasing,
    /// Progress has a token and a number (basic/patterns/progress).
    #[error("sent a progress notification of the wrong form")]
    MalformedProgress,
    /// A question is one of the three methods of the page, with its params (basic/patterns/mrtr).
    #[error("asked a question of the wrong form")]
    MalformedQuestion,
    /// Far more questions in one round than anybody would answer.
    #[error("asked too many questions at once")]
    TooManyQuestions,
    /// A log message has a level and data (server/utilities/logging).
    #[error("sent a log message of the wrong form")]
    MalformedLog,
    /// Only a request that asks for a level is logged for, that level and above (server/utilities/logging).
    #[error("sent a log message that no request has asked for")]
    LogNotAskedFor,
    /// What travels for a subscription names it, follows its acknowledgement, and is of a kind it asked for
    /// (basic/patterns/subscriptions).
    #[error("sent a notification that no subscription has asked for")]
    NotSubscribed,
    /// More requests at a time than the server accepts; those beyond are refused as busy
    /// ([`ServerLimits::in_flight`](crate::limits::ServerLimits::in_flight)).
    #[error("made more requests at a time than are accepted")]
    TooManyRequests,
    /// Messages were handed in although the channel had asked for none, and were dropped.
    #[error("sent more than the channel holds while reading nothing")]
    Flood,
}

/// How many violations wait to be collected, and how many were dropped because too many did.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    waiting: usize,
    dropped: u64,
}

impl Waiting {
    /// Whether one more may wait; if not, it counts as dropped.
    pub(crate) fn may_wait(&mut self) -> bool {
        let may = self.waiting < MAX_WAITING_VIOLATIONS;
        if may {
            self.waiting += 1;
        } else {
            self.dropped += 1;
        }
        may
    }

    pub(crate) fn taken(&mut self) {
        self.waiting -= 1;
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }
}
