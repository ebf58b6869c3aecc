//! Time is a value that the caller passes in; nothing in this crate reads a clock.

use core::ops::Add;
use core::time::Duration;

/// A point on the caller's monotonic clock, in nanoseconds since any fixed start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Mono(u64);

impl Mono {
    /// The start of the caller's clock.
    pub const ZERO: Self = Self(0);

    /// The point `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// How long after `earlier` this is; zero if it is not after it.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Mono {
    type Output = Self;

    /// Saturates at the end of the clock (584 years).
    fn add(self, after: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(after.as_nanos()).unwrap_or(u64::MAX)))
    }
}

/// The time of one call into the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Now {
    /// Orders events and measures deadlines. Going backwards is harmless: containers clamp it.
    pub mono: Mono,
    /// Milliseconds since 1970-01-01 UTC. Used for the expiry inside sealed state, and for nothing else.
    pub unix_millis: u64,
}

impl Now {
    /// A time with a monotonic part alone, for callers that seal no state.
    pub const fn at(mono: Mono) -> Self {
        Self { mono, unix_millis: 0 }
    }
}
