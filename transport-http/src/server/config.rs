//! What a service is told.

use super::limits::Limits;
use crate::origin::Policy;

/// Which form answers have.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Mode {
    /// JSON, unless there is something to say before the answer: the first notification, the opening of a subscription, or
    /// [`Limits::commit_time`] makes it a stream of events. A client that takes only one form gets that one.
    #[default]
    Auto,
    /// JSON always, for hosts that cannot stream. There is no progress and no log to the client: handlers are told so by
    /// [`Context::carries_answer_only`](sansio_mcp_sdk::server::Context::carries_answer_only), and what they report is suppressed. A
    /// subscription is refused as an unknown method. A client that takes events alone is refused with 406.
    ///
    /// A client that takes JSON alone is answered like this in every mode.
    JsonOnly,
    /// A stream of events always. Only a refusal whose status is not 200 is JSON, because readers of events look at no other
    /// status.
    SseOnly,
}

/// How a [`Service`](super::Service) serves.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
#[must_use = "a configuration does nothing by itself"]
pub struct Config {
    /// Which form answers have.
    pub mode: Mode,
    /// Bounds.
    pub limits: Limits,
    /// Which hosts and origins are served. By default those of this machine.
    pub policy: Policy,
}

impl Config {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`mode`](Self::mode).
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets [`limits`](Self::limits).
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets [`policy`](Self::policy).
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }
}
