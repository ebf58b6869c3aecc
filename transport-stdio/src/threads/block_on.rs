//! A thread as an executor of one future.

use std::future::{Future, IntoFuture};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Wakes a thread that parks. The flag counts, not the thread's token: other code parks on the same thread too and may
/// take the token.
#[derive(Debug)]
pub(super) struct Parked {
    thread: Thread,
    woken: AtomicBool,
}

impl Parked {
    pub(super) fn current() -> Arc<Self> {
        Arc::new(Self { thread: thread::current(), woken: AtomicBool::new(false) })
    }

    /// Lets the thread look at its timers again, if it parks.
    pub(super) fn unpark(&self) {
        if self.thread.id() != thread::current().id() {
            self.thread.unpark();
        }
    }

    /// Whether it was woken since this was last asked.
    pub(super) fn take(&self) -> bool {
        self.woken.swap(false, Ordering::AcqRel)
    }
}

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.woken.swap(true, Ordering::AcqRel) {
            self.thread.unpark();
        }
    }
}

/// Polls a future on this thread until it completes; the thread parks meanwhile.
///
/// Timers are not driven by this: a future that sleeps by a [`SystemClock`](super::SystemClock) needs a thread in that clock's own
/// [`block_on`](super::SystemClock::block_on).
pub fn block_on<F: Future>(future: F) -> F::Output {
    drive(future, &Parked::current(), thread::park)
}

/// Polls until the future completes. `park` returns when it likes.
pub(super) fn drive<F: Future>(future: F, parked: &Arc<Parked>, park: impl Fn()) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::clone(parked));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut cx) {
            return value;
        }
        while !parked.take() {
            park();
        }
    }
}

/// `wait()` on calls, and on whatever else can be awaited.
pub trait Wait: IntoFuture + Sized {
    /// Blocks this thread until the value is there; see [`block_on`].
    fn wait(self) -> Self::Output {
        block_on(self.into_future())
    }
}

impl<F: IntoFuture> Wait for F {}
