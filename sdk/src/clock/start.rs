//! The system's clocks, without timers.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sansio_mcp::time::{Mono, Now};

/// The moment that the system's monotonic clock counts from: all of a [`Clock`](super::Clock) but its timers, which are
/// those of a runtime.
#[derive(Clone, Copy, Debug)]
pub struct Start(Instant);

impl Start {
    /// This moment.
    pub fn now() -> Self {
        Self(Instant::now())
    }

    /// The time since, to the nanosecond: for [`Clock::mono`](super::Clock::mono).
    pub fn mono(self) -> Mono {
        Mono::from_nanos(u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// The time since, and the calendar, to the millisecond: for [`Clock::now`](super::Clock::now). A calendar that stands
    /// before 1970 stands there.
    pub fn read(self) -> Now {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Now { mono: self.mono(), unix_millis: u64::try_from(unix.as_millis()).unwrap_or(u64::MAX) }
    }

    /// The moment in the system's terms, for a timer. One too far away to be told is half a century away.
    pub fn instant(self, at: Mono) -> Instant {
        const FAR: Duration = Duration::from_hours(24 * 365 * 50);
        self.0.checked_add(Duration::from_nanos(at.as_nanos())).unwrap_or_else(|| self.0 + FAR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_from_the_start() {
        let start = Start::now();
        let (first, second) = (start.mono(), start.read());
        assert!(first <= second.mono);
        assert!(second.unix_millis > 0);
        assert!(start.instant(second.mono) <= Instant::now());
        assert_eq!(start.instant(Mono::from_nanos(7)) - start.instant(Mono::ZERO), Duration::from_nanos(7));
    }

    #[test]
    fn no_moment_is_too_far_to_be_told() {
        let start = Start::now();
        assert!(start.instant(Mono::from_nanos(u64::MAX)) > start.instant(Mono::from_nanos(u64::MAX / 16)));
    }
}
