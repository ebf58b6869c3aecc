//! The system's clock with smol's timers.

use async_io::Timer;
use sansio_mcp_sdk::clock::{Clock, Sleep, Start};
use sansio_mcp_sdk::protocol::time::{Mono, Now};

/// The system's monotonic clock, starting when this value is made, and its calendar; timers on smol's reactor.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    start: Start,
}

impl SystemClock {
    /// A clock that starts now.
    pub fn new() -> Self {
        Self { start: Start::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn mono(&self) -> Mono {
        self.start.mono()
    }

    fn now(&self) -> Now {
        self.start.read()
    }

    fn sleep_until(&self, at: Mono) -> Sleep {
        let at = self.start.instant(at);
        Box::pin(async move {
            Timer::at(at).await;
        })
    }
}
