//! The system's clocks.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sansio_mcp::time::{Mono, Now};

/// The moment that a monotonic clock counts from.
#[derive(Clone, Copy, Debug)]
pub(in crate::client) struct Start(Instant);

impl Start {
    pub(in crate::client) fn now() -> Self {
        Self(Instant::now())
    }

    pub(in crate::client) fn mono(self) -> Mono {
        Mono::from_nanos(u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    pub(in crate::client) fn read(self) -> Now {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Now { mono: self.mono(), unix_millis: u64::try_from(unix.as_millis()).unwrap_or(u64::MAX) }
    }

    /// The moment in the system's terms; one too far away is half a century away.
    pub(in crate::client) fn instant(self, at: Mono) -> Instant {
        const FAR: Duration = Duration::from_hours(24 * 365 * 50);
        self.0.checked_add(Duration::from_nanos(at.as_nanos())).unwrap_or_else(|| self.0 + FAR)
    }
}
