//! Where time comes from: the engine only compares, somebody else has to know.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use sansio_mcp::time::{Mono, Now};

/// Completes once its time has come. May complete early; nothing depends on its being exact.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A clock and its alarm. Executors and runtimes each have one; tests use a virtual one.
pub trait Clock: Send + Sync + 'static {
    /// The time.
    fn now(&self) -> Now;

    /// The monotonic part of the time, for who needs no other.
    fn mono(&self) -> Mono {
        self.now().mono
    }

    /// Completes when [`now`](Self::now) has reached `at`, at once if it has already.
    fn sleep_until(&self, at: Mono) -> Sleep;

    /// Completes after `time`, counted from now.
    fn sleep(&self, time: Duration) -> Sleep {
        self.sleep_until(self.now().mono + time)
    }
}
