//! What is done once the lock is given back: waking may run other people's code, logging does.

use std::sync::Arc;
use std::task::Waker;

use sansio_mcp::client::LogMessage;
use sansio_mcp::violation::PeerViolation;

use super::input::contained;
use super::setup::OnLog;

/// Wakers to wake and facts to log.
#[derive(Default)]
pub(super) struct After {
    wakers: Vec<Waker>,
    violations: Vec<PeerViolation>,
    logs: Vec<(OnLog, Arc<LogMessage>)>,
}

impl After {
    pub(super) fn wake(&mut self, waker: Waker) {
        self.wakers.push(waker);
    }

    pub(super) fn violation(&mut self, violation: PeerViolation) {
        self.violations.push(violation);
    }

    pub(super) fn log(&mut self, callback: &OnLog, message: Arc<LogMessage>) {
        self.logs.push((Arc::clone(callback), message));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.wakers.is_empty() && self.violations.is_empty() && self.logs.is_empty()
    }

    /// Must be called without the lock. Empties this, whose memory can serve again.
    pub(super) fn run(&mut self) {
        for violation in self.violations.drain(..) {
            tracing::debug!(%violation, "the server broke a rule");
        }
        for (callback, message) in self.logs.drain(..) {
            contained(|| callback(&message));
        }
        self.wakers.drain(..).for_each(Waker::wake);
    }
}
