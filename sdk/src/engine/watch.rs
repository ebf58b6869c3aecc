//! What an operator may watch: the states that requests go through, as `tracing` events. See
//! [`crate::server`], "Watching requests".
//!
//! A subscriber is somebody else's code, so nothing is told while the hub is locked: what is found there
//! waits as a [`Note`].

use std::sync::Arc;

use sansio_mcp::code::wire;
use sansio_mcp::server::{EncodeError, Request, Stopped};
use sansio_mcp::violation::PeerViolation;

/// The target of these events.
pub(crate) const TARGET: &str = "sansio_mcp_sdk::request";

/// Tells that a request has come to a state.
macro_rules! moved {
    ($level:ident, $state:literal, $request:expr $(, $name:ident = $value:expr)*) => {{
        let request: &sansio_mcp::server::Request = $request;
        tracing::$level!(
            target: $crate::engine::watch::TARGET,
            state = $state,
            id = %request.wire_id(),
            method = request.method().name(),
            name = request.name(),
            $($name = $value,)*
        );
    }};
}
pub(crate) use moved;

/// Something to tell once the hub is unlocked.
pub(crate) enum Note {
    Queued(Arc<Request>),
    Busy(Arc<Request>),
    Stopped {
        request: Arc<Request>,
        why: Stopped,
        /// Its handler had begun.
        started: bool,
    },
    Violation(PeerViolation),
    NotEncoded(EncodeError),
}

impl Note {
    /// Whether anybody may want to hear of requests that queue. Asks no subscriber: this is called under the lock.
    pub(crate) fn queued_may_be_wanted() -> bool {
        tracing::level_filters::LevelFilter::current() >= tracing::Level::TRACE
    }

    pub(crate) fn tell(self) {
        match self {
            Self::Queued(request) => moved!(trace, "queued", &request),
            Self::Busy(request) => moved!(info, "busy", &request, code = "SERVER_BUSY"),
            Self::Stopped { request, why, started } => {
                let reason = match &why {
                    Stopped::Cancelled(reason) => reason.as_deref(),
                    _ => None,
                };
                moved!(debug, "stopped", &request, code = why.code(), reason = reason, started = started);
            }
            Self::NotEncoded(error) => {
                tracing::error!(code = wire::INTERNAL_ERROR, %error, "a result could not be encoded");
            }
            Self::Violation(violation @ PeerViolation::TooManyRequests) => {
                tracing::info!(code = "SERVER_BUSY", %violation, "a request was refused");
            }
            Self::Violation(violation @ PeerViolation::StateNotAllowed) => {
                tracing::info!(code = "STATE_NOT_ALLOWED", %violation, "a request was refused");
            }
            Self::Violation(violation) => tracing::info!(%violation, "the peer broke a rule"),
        }
    }
}
