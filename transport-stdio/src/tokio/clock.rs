//! The system's clock with tokio's timers.

use std::time::Instant;

use sansio_mcp_sdk::clock::{self, Sleep, Timers};

/// The system's monotonic clock, starting when this value is made, and its calendar; timers of the tokio runtime in
/// which they are polled, which must have its timer enabled.
pub type SystemClock = clock::SystemClock<TokioTimers>;

/// The timers of the tokio runtime in which they are polled.
#[derive(Clone, Copy, Debug)]
pub enum TokioTimers {}

impl Timers for TokioTimers {
    fn sleep_until(at: Instant) -> Sleep {
        // Inside, so that the runtime is asked for where the timer is polled, not where it is made.
        Box::pin(async move { ::tokio::time::sleep_until(at.into()).await })
    }
}
