//! The deadlines of one call.

use core::time::Duration;

use crate::slab::Key;
use crate::time::Mono;

use super::event::Timeout;

/// Whose deadline, and which.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Timer {
    pub(super) call: Key,
    pub(super) why: Why,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Why {
    Idle,
    Total,
    Retry,
}

/// A point in time that a client waits for, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ClientDeadline {
    /// A call times out then, unless something comes before.
    Timeout(Mono, Timeout),
    /// A retry that carries state alone is sent then.
    Retry(Mono),
}

impl ClientDeadline {
    /// When it is due.
    pub fn at(self) -> Mono {
        match self {
            Self::Timeout(at, _) | Self::Retry(at) => at,
        }
    }

    pub(super) fn of(at: Mono, why: Why) -> Self {
        match why {
            Why::Idle => Self::Timeout(at, Timeout::Idle),
            Why::Total => Self::Timeout(at, Timeout::Total),
            Why::Retry => Self::Retry(at),
        }
    }
}

/// When a call's deadlines are due; `None` while they are not running.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deadlines {
    pub(super) idle: Option<Mono>,
    pub(super) total: Option<Mono>,
    pub(super) retry: Option<Mono>,
    /// What is left of the total while it stands still.
    pub(super) total_left: Option<Duration>,
}

impl Deadlines {
    pub(super) fn due(&self, why: Why) -> Option<Mono> {
        match why {
            Why::Idle => self.idle,
            Why::Total => self.total,
            Why::Retry => self.retry,
        }
    }
}
