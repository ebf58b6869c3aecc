//! Where time comes from: the engine only compares, somebody else has to know.

mod start;

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use sansio_mcp::time::{Mono, Now};

pub use start::{Start, SystemClock, Timers};

/// Completes once its time has come. May complete early: whoever depends on the time looks at the clock.
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
        self.sleep_until(self.mono() + time)
    }
}

/// A sleep that is never early, whatever those of its clock are.
pub struct Alarm {
    at: Mono,
    sleep: Sleep,
}

impl Alarm {
    /// An alarm for `at`. The clock is the one it is polled with.
    pub fn new(clock: &dyn Clock, at: Mono) -> Self {
        Self { at, sleep: clock.sleep_until(at) }
    }

    /// When it goes off.
    pub fn at(&self) -> Mono {
        self.at
    }

    /// Ready once the clock has reached its time.
    pub fn poll(&mut self, clock: &dyn Clock, cx: &mut Context<'_>) -> Poll<()> {
        if self.sleep.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        if clock.mono() >= self.at {
            return Poll::Ready(());
        }
        self.sleep = clock.sleep_until(self.at);
        // Polled with the next turn: a clock whose sleeps complete at once must not keep this thread.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
