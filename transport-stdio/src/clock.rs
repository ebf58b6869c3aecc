//! The system's clocks.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use async_io::Timer;
use sansio_mcp_sdk::clock::{Clock, Sleep};
use sansio_mcp_sdk::protocol::time::{Mono, Now};

/// The system's monotonic clock, starting when this value is made, and its calendar; timers on smol's reactor.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// A clock that starts now.
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn mono(&self) -> Mono {
        Mono::from_nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn now(&self) -> Now {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Now { mono: self.mono(), unix_millis: u64::try_from(unix.as_millis()).unwrap_or(u64::MAX) }
    }

    fn sleep_until(&self, at: Mono) -> Sleep {
        let at = self.start + std::time::Duration::from_nanos(at.as_nanos());
        Box::pin(async move {
            Timer::at(at).await;
        })
    }
}
