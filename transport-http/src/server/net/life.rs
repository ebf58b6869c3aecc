//! What a connection is doing, for the times that it may take.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use sansio_mcp_sdk::clock::Clock;
use sansio_mcp_sdk::protocol::time::Mono;

use crate::server::Limits;

/// Shared by a connection, what it reads from, and the requests on it.
pub(super) struct Life {
    clock: Arc<dyn Clock>,
    /// Requests whose response has not ended.
    open: AtomicUsize,
    /// When the head that is being read began, in nanoseconds; 0: there is none.
    head: AtomicU64,
    /// Since when there is no request.
    quiet: AtomicU64,
    /// A request was refused, and its client may still be sending it.
    refused: AtomicBool,
}

impl Life {
    /// A connection whose first request is awaited from now on.
    pub(super) fn new(clock: Arc<dyn Clock>) -> Arc<Self> {
        let now = nanos(&*clock);
        Arc::new(Self {
            clock,
            open: AtomicUsize::new(0),
            head: AtomicU64::new(now),
            quiet: AtomicU64::new(now),
            refused: AtomicBool::new(false),
        })
    }

    /// Bytes came in: if no request is open, those of a head.
    pub(super) fn read(&self) {
        if self.open.load(Ordering::SeqCst) == 0 && self.head.load(Ordering::SeqCst) == 0 {
            self.head.store(nanos(&*self.clock), Ordering::SeqCst);
        }
    }

    /// The head of a request is there. It is open until this is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> Request {
        self.open.fetch_add(1, Ordering::SeqCst);
        self.head.store(0, Ordering::SeqCst);
        Request(Arc::clone(self))
    }

    pub(super) fn refuse(&self) {
        self.refused.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_refused(&self) -> bool {
        self.refused.load(Ordering::SeqCst)
    }

    /// When the connection has been waited for too long.
    pub(super) fn deadline(&self, limits: &Limits) -> Option<Mono> {
        if self.open.load(Ordering::SeqCst) > 0 {
            return None;
        }
        Some(match self.head.load(Ordering::SeqCst) {
            0 => Mono::from_nanos(self.quiet.load(Ordering::SeqCst)) + limits.idle_time,
            head => Mono::from_nanos(head) + limits.header_time,
        })
    }
}

/// A request that is open.
pub(super) struct Request(pub(super) Arc<Life>);

impl Drop for Request {
    fn drop(&mut self) {
        self.0.quiet.store(nanos(&*self.0.clock), Ordering::SeqCst);
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Never 0.
fn nanos(clock: &dyn Clock) -> u64 {
    clock.mono().as_nanos().max(1)
}
