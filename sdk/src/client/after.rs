//! What is done once the lock is given back: waking may run other people's code, logging does.

use std::task::Waker;

use sansio_mcp::violation::PeerViolation;

/// Wakers kept without an allocation.
const INLINE: usize = 16;

/// Wakers to wake and facts to log.
#[derive(Default)]
pub(super) struct After {
    first: [Option<Waker>; INLINE],
    used: usize,
    more: Vec<Waker>,
    violations: Vec<PeerViolation>,
}

impl After {
    pub(super) fn wake(&mut self, waker: Waker) {
        match self.first.get_mut(self.used) {
            Some(place) => {
                *place = Some(waker);
                self.used += 1;
            }
            None => self.more.push(waker),
        }
    }

    pub(super) fn violation(&mut self, violation: PeerViolation) {
        self.violations.push(violation);
    }

    /// Must be called without the lock.
    pub(super) fn run(self) {
        for violation in self.violations {
            tracing::debug!(%violation, "the server broke a rule");
        }
        for waker in self.first.into_iter().take(self.used).flatten().chain(self.more) {
            waker.wake();
        }
    }
}
