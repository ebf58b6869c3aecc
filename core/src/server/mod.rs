//! The server's half: requests accepted from one channel, and what is sent for them.
//!
//! [`Server`] serves a channel that all requests share (stdio, memory); [`Exchange`] is one request with a
//! stream of its own (an HTTP POST). Both run the same table, [`exchange`], and the same checks.
//!
//! What the engine answers by itself: `server/discover`, everything that is not a message, a request whose
//! revision, method, `_meta` or params are at fault, one that is too many. Such a request too is in flight until its answer
//! is taken: a cancel that is read before withdraws the answer, and its id is in use. Only beyond
//! [`ServerLimits::in_flight`](crate::limits::ServerLimits::in_flight), where there is no room to remember it, is its answer
//! past withdrawing and its id free at once. What it hands on is an event
//! ([`ServerEvent`]); the application answers with [`respond`](Server::respond), [`ask`](Server::ask)
//! or [`refuse`](Server::refuse), some time, from anywhere.

mod asking;
mod body;
mod channel;
mod config;
pub mod continuation;
mod ending;
pub mod exchange;
mod ids;
pub mod listen;
mod method;
mod needs;
mod outbox;
mod own;
mod request;
mod serving;
mod single;
mod subscribed;
mod transmit;
mod triage;

pub use crate::model::missing::missing_capabilities;
pub use body::{EncodeError, ErrorReply, ResultBody, WrittenBody};
pub use channel::{Deadline, Server};
pub use config::{ServerConfig, ServerConfigBuilder};
pub use method::Method;
pub use request::Request;
pub use serving::{Progress, Reported};
pub use single::Exchange;
pub use transmit::{Kind, Status, Transmit};

use alloc::boxed::Box;
use alloc::sync::Arc;

use crate::id::ServingId;
use crate::violation::PeerViolation;

/// Why a request ended without the application having ended it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Stopped {
    /// The peer cancelled it, perhaps saying why (basic/patterns/cancellation).
    Cancelled(Option<Box<str>>),
    /// The channel or stream has gone.
    Lost,
    /// The server is closing, or the grace time after the end of input is over.
    Closing,
}

impl Stopped {
    /// The stable name of this reason.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Cancelled(_) => "CANCELLED",
            Self::Lost => "LOST",
            Self::Closing => "CLOSING",
        }
    }
}

/// What a server has to tell its application.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServerEvent {
    /// A request to serve.
    Request {
        /// Names it in every command.
        serving: ServingId,
        /// What was asked.
        request: Arc<Request>,
    },
    /// A request that was being served is over: stop its handler. Nothing can be sent for it any more.
    Stopped {
        /// Which.
        serving: ServingId,
        /// Why.
        why: Stopped,
    },
    /// The peer broke a rule; for the operator's log.
    Violation(PeerViolation),
}
