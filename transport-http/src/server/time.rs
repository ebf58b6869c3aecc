//! The system's clocks, without timers.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sansio_mcp_sdk::protocol::time::{Mono, Now};

/// Where the monotonic clock begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start(Instant);

impl Start {
    pub(super) fn now() -> Self {
        Self(Instant::now())
    }

    /// The time since.
    pub(super) fn mono(self) -> Mono {
        Mono::from_nanos(u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// The time since, and the calendar.
    pub(super) fn read(self) -> Now {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Now { mono: self.mono(), unix_millis: u64::try_from(unix.as_millis()).unwrap_or(u64::MAX) }
    }

    /// The moment in the system's terms. One too far away to be told is half a century away.
    pub(super) fn instant(self, at: Mono) -> Instant {
        const FAR: Duration = Duration::from_hours(24 * 365 * 50);
        self.0.checked_add(Duration::from_nanos(at.as_nanos())).unwrap_or_else(|| self.0 + FAR)
    }
}
