//! What rows observe handlers with. Everything can leave its thread.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

/// A log of what happened, in order. Clones are the same log.
#[derive(Clone, Debug, Default)]
pub struct Trace(Arc<Mutex<Vec<String>>>);

impl Trace {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn note(&self, what: impl Into<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(what.into());
    }

    /// Everything so far.
    pub fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn count(&self, what: &str) -> usize {
        self.all().iter().filter(|entry| *entry == what).count()
    }

    pub fn has(&self, what: &str) -> bool {
        self.count(what) > 0
    }
}

/// Closed until it is opened; then whoever waits goes on.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<Mutex<(bool, Vec<Waker>)>>);

impl Gate {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn open(&self) {
        let wakers = {
            let mut gate = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            gate.0 = true;
            std::mem::take(&mut gate.1)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    pub fn is_open(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    pub async fn passed(&self) {
        poll_fn(|cx| {
            let mut gate = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if gate.0 {
                return Poll::Ready(());
            }
            gate.1.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Blocks this thread until the gate is open.
    pub fn wait(&self) {
        while !self.is_open() {
            std::thread::yield_now();
        }
    }
}

/// Notes its drop.
#[derive(Debug)]
pub struct DropFlag {
    trace: Trace,
    what: &'static str,
    dropped: AtomicBool,
}

impl DropFlag {
    pub fn new(trace: &Trace, what: &'static str) -> Self {
        Self { trace: trace.clone(), what, dropped: AtomicBool::new(false) }
    }
}

impl Drop for DropFlag {
    fn drop(&mut self) {
        if !self.dropped.swap(true, Ordering::AcqRel) {
            self.trace.note(self.what);
        }
    }
}
