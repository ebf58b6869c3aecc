//! How one request's work hears that it is to stop, or that it is its turn.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use sansio_mcp::admission::TicketId;
use sansio_mcp::server::Request;

use super::hub::Hub;
use super::watch::moved;

/// Shared between the hub, the work, the handler's context, and a blocking body on its own thread.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    stopped: AtomicBool,
    granted: AtomicBool,
    /// The work is over: what is registered with it from now on, nobody will run.
    over: AtomicBool,
    /// Blocking bodies that have not returned.
    outstanding: AtomicUsize,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    work: Option<Waker>,
    /// Whoever waits for the turn: layers may poll it behind wakers of their own.
    turn: Option<Waker>,
    /// Futures of user code that wait for the stop; a place is freed when its future goes.
    others: Vec<Option<Waker>>,
    /// What the last blocking body gives back when it returns: its work has gone before it.
    left_behind: Option<LeftBehind>,
}

/// The work of a request is gone, a blocking body of it is not.
pub(super) struct LeftBehind {
    pub(super) hub: Arc<Hub>,
    pub(super) ticket: Option<TicketId>,
    pub(super) request: Arc<Request>,
}

impl LeftBehind {
    /// Slot and lane are given back.
    pub(super) fn finish(self) {
        moved!(trace, "over", &self.request);
        self.hub.lock().finish(self.ticket);
    }
}

impl std::fmt::Debug for LeftBehind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LeftBehind").field("ticket", &self.ticket).finish_non_exhaustive()
    }
}

/// Keeps a waker. The old one is returned, to be dropped where no lock is held: that may run an executor's code.
pub(super) fn keep(place: &mut Option<Waker>, waker: &Waker) -> Option<Waker> {
    if place.as_ref().is_some_and(|known| known.will_wake(waker)) {
        return None;
    }
    place.replace(waker.clone())
}

impl Signal {
    fn waiting(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    pub(crate) fn is_granted(&self) -> bool {
        self.granted.load(Ordering::Acquire)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// The work is over. Whoever still waits for the turn is woken: it will not come.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
        let turn = self.waiting().turn.take();
        turn.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn is_outstanding(&self) -> bool {
        self.outstanding.load(Ordering::Acquire) > 0
    }

    /// The work goes. What is to be given back is returned, unless a blocking body has not returned: then that
    /// does it.
    pub(super) fn leave_behind(&self, what: LeftBehind) -> Option<LeftBehind> {
        let mut waiting = self.waiting();
        if !self.is_outstanding() {
            return Some(what);
        }
        waiting.left_behind = Some(what);
        None
    }

    /// The work is to stop. The wakers to wake, once no lock is held.
    pub(crate) fn stop(&self) -> impl Iterator<Item = Waker> {
        self.stopped.store(true, Ordering::Release);
        let mut waiting = self.waiting();
        let others: Vec<Waker> = waiting.others.iter_mut().filter_map(Option::take).collect();
        waiting.work.take().into_iter().chain(waiting.turn.take()).chain(others)
    }

    /// It is the work's turn. The wakers to wake, once no lock is held.
    pub(crate) fn grant(&self) -> impl Iterator<Item = Waker> + use<> {
        self.granted.store(true, Ordering::Release);
        let mut waiting = self.waiting();
        waiting.work.take().into_iter().chain(waiting.turn.take())
    }

    /// Completes when it is the work's turn, or will never be: whether it is.
    pub(crate) fn poll_turn(&self, cx: &Context<'_>) -> Poll<bool> {
        let turn = || {
            if self.is_stopped() || self.is_over() {
                return Poll::Ready(false);
            }
            if self.is_granted() { Poll::Ready(true) } else { Poll::Pending }
        };
        if turn().is_pending() {
            let _old = keep(&mut self.waiting().turn, cx.waker());
        }
        // It may have come in between.
        turn()
    }

    /// The work wants to hear of what comes. Whoever calls this looks at the facts again afterwards.
    pub(crate) fn register_work(&self, waker: &Waker) {
        let _old = keep(&mut self.waiting().work, waker);
    }

    /// A blocking body begins; it has returned when the guard is dropped.
    #[cfg(feature = "blocking")]
    pub(crate) fn begin_blocking(self: &Arc<Self>) -> Outstanding {
        self.outstanding.fetch_add(1, Ordering::AcqRel);
        Outstanding(Arc::clone(self))
    }
}

/// A blocking body that has not returned.
#[cfg(feature = "blocking")]
#[derive(Debug)]
pub(crate) struct Outstanding(Arc<Signal>);

#[cfg(feature = "blocking")]
impl Drop for Outstanding {
    fn drop(&mut self) {
        self.0.outstanding.fetch_sub(1, Ordering::AcqRel);
        let (work, left_behind) = {
            let mut waiting = self.0.waiting();
            let left_behind = if self.0.is_outstanding() { None } else { waiting.left_behind.take() };
            (waiting.work.take(), left_behind)
        };
        if let Some(work) = work {
            work.wake();
        }
        if let Some(left_behind) = left_behind {
            left_behind.finish();
        }
    }
}

/// Completes when the request is stopped: cancelled by the peer, lost with its channel, or ended by a
/// shutdown. Can be polled, awaited, and handed on.
#[derive(Debug)]
pub struct Cancelled {
    signal: Arc<Signal>,
    place: Option<usize>,
}

impl Cancelled {
    pub(crate) fn new(signal: Arc<Signal>) -> Self {
        Self { signal, place: None }
    }

    /// Whether it has happened.
    pub fn is_cancelled(&self) -> bool {
        self.signal.is_stopped()
    }
}

impl Clone for Cancelled {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.signal))
    }
}

impl Future for Cancelled {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.signal.is_stopped() {
            return Poll::Ready(());
        }
        let _old: Option<Waker>;
        let mut waiting = self.signal.waiting();
        let place = self.place.or_else(|| waiting.others.iter().position(Option::is_none));
        let place = if let Some((place, slot)) =
            place.and_then(|place| Some((place, waiting.others.get_mut(place)?)))
        {
            _old = keep(slot, cx.waker());
            place
        } else {
            waiting.others.push(Some(cx.waker().clone()));
            waiting.others.len() - 1
        };
        drop(waiting);
        self.place = Some(place);
        // It may have happened in between.
        if self.signal.is_stopped() { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        let Some(place) = self.place else { return };
        let _old = self.signal.waiting().others.get_mut(place).and_then(Option::take);
    }
}
