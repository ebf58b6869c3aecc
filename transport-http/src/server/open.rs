//! What is being served, counted.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use super::limits::Limits;
use crate::status::Rejection;

/// What a service is doing at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Facts {
    /// Requests that are being read or served.
    pub streams: usize,
    /// Bytes of their bodies.
    pub held_bytes: usize,
}

#[derive(Default)]
pub(super) struct Counts {
    streams: AtomicUsize,
    bytes: AtomicUsize,
    closing: AtomicBool,
    /// Those who wait until there is none.
    idle: Mutex<Vec<Waker>>,
}

/// One request that is being read or served.
pub(super) struct Open {
    counts: Arc<Counts>,
    bytes: usize,
}

impl Counts {
    pub(super) fn facts(&self) -> Facts {
        Facts { streams: self.streams.load(Ordering::SeqCst), held_bytes: self.bytes.load(Ordering::SeqCst) }
    }

    /// Nothing is opened from here on.
    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }

    pub(super) fn open(self: &Arc<Self>, limits: &Limits) -> Result<Open, Rejection> {
        // Counted first: whoever closes and then finds none can rely on it.
        let before = self.streams.fetch_add(1, Ordering::SeqCst);
        let open = Open { counts: Arc::clone(self), bytes: 0 };
        if self.is_closing() {
            return Err(Rejection::Closing);
        }
        if before >= limits.streams { Err(Rejection::TooMany) } else { Ok(open) }
    }

    fn wakers(&self) -> std::sync::MutexGuard<'_, Vec<Waker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// So many bytes more are held for it.
    pub(super) fn hold(&mut self, bytes: usize, limits: &Limits) -> Result<(), Rejection> {
        self.bytes += bytes;
        let before = self.counts.bytes.fetch_add(bytes, Ordering::SeqCst);
        if before.saturating_add(bytes) > limits.held_bytes { Err(Rejection::TooMany) } else { Ok(()) }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.counts.bytes.fetch_sub(self.bytes, Ordering::SeqCst);
        }
        let last = self.counts.streams.fetch_sub(1, Ordering::SeqCst) == 1;
        if last && self.counts.is_closing() {
            let wakers = std::mem::take(&mut *self.counts.wakers());
            wakers.into_iter().for_each(Waker::wake);
        }
    }
}

/// Completes once a service that is [closing](super::Service::close) serves nothing any more.
#[must_use = "futures do nothing unless polled"]
pub struct Idle {
    pub(super) counts: Arc<Counts>,
}

impl Future for Idle {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let idle = || self.counts.is_closing() && self.counts.facts().streams == 0;
        if idle() {
            return Poll::Ready(());
        }
        {
            let mut wakers = self.counts.wakers();
            if !wakers.iter().any(|known| known.will_wake(cx.waker())) {
                wakers.push(cx.waker().clone());
            }
        }
        // The last may have gone in between.
        if idle() { Poll::Ready(()) } else { Poll::Pending }
    }
}
