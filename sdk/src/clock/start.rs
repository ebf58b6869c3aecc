//! The system's clocks.

use std::fmt;
use std::marker::PhantomData;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sansio_mcp::time::{Mono, Now};

use super::{Clock, Sleep};

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

/// The timers of a runtime.
pub trait Timers: 'static {
    /// Completes at this moment.
    fn sleep_until(at: Instant) -> Sleep;
}

/// The system's monotonic clock, starting when this value is made, and its calendar; timers are those of a runtime.
pub struct SystemClock<T> {
    start: Start,
    timers: PhantomData<fn() -> T>,
}

impl<T> SystemClock<T> {
    /// A clock that starts now.
    pub fn new() -> Self {
        Self { start: Start::now(), timers: PhantomData }
    }
}

impl<T> Default for SystemClock<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Clone for SystemClock<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SystemClock<T> {}

impl<T> fmt::Debug for SystemClock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SystemClock").field("start", &self.start).finish()
    }
}

impl<T: Timers> Clock for SystemClock<T> {
    fn mono(&self) -> Mono {
        self.start.mono()
    }

    fn now(&self) -> Now {
        self.start.read()
    }

    fn sleep_until(&self, at: Mono) -> Sleep {
        T::sleep_until(self.start.instant(at))
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
