//! Smol's timers.

use std::time::Instant;

use async_io::Timer;
use sansio_mcp_sdk::clock::{self, Sleep, Timers};

/// The system's monotonic clock, starting when this value is made, and its calendar; timers on smol's reactor.
pub type SystemClock = clock::SystemClock<SmolTimers>;

/// The timers of smol's reactor.
#[derive(Clone, Copy, Debug)]
pub enum SmolTimers {}

impl Timers for SmolTimers {
    fn sleep_until(at: Instant) -> Sleep {
        Box::pin(async move {
            Timer::at(at).await;
        })
    }
}
