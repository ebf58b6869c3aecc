//! Tokio's timers.

use ::tokio::task::coop::unconstrained;
use sansio_mcp_sdk::clock::{Clock, Sleep, Start};
use sansio_mcp_sdk::protocol::time::{Mono, Now};

/// The system's monotonic clock, starting when this value is made, and its calendar; timers of the tokio runtime in
/// which they are polled, which must have its timer enabled.
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
        let at = self.start.instant(at).into();
        // Inside, so that the runtime is asked for where the timer is polled, not where it is made. An alarm is no work that a
        // task's budget should count: one that is put off is not set.
        Box::pin(unconstrained(async move { ::tokio::time::sleep_until(at).await }))
    }
}
