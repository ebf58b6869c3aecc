//! One entry of a request into its handler: what the work, the layers, the handler and its context share.

use std::any::Any;
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use sansio_mcp::admission::{LaneKey, Passed, TicketId};
use sansio_mcp::id::ServingId;
use sansio_mcp::misuse::Misuse;
use sansio_mcp::model::InputRequiredResult;
use sansio_mcp::server::{Progress, Reported, Request};

use super::channel::ChannelId;
use super::hub::{Assigned, Hub, Left};
use super::rounds::{Asker, Recall};
use super::signal::Signal;
use super::values::Values;
use super::watch::moved;
use super::work::contained;
use crate::mode::{Mode, Shared};
use crate::server::{Failure, InputRequired, Reply, Report};

/// Clean-up that a handler registered, and how long it may take.
pub(crate) struct Cleanup<M: Mode> {
    pub(crate) future: M::Future<()>,
    /// Its own bound; the engine's otherwise.
    pub(crate) bound: Option<Duration>,
}

/// The clean-up of one request that has not begun, each with its number.
struct Pending<M: Mode>(Mutex<Vec<(usize, Cleanup<M>)>>);

impl<M: Mode> Pending<M> {
    fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(usize, Cleanup<M>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shared by everything that takes part in one entry of one request.
pub(crate) struct Call<M: Mode> {
    pub(crate) hub: Arc<Hub>,
    pub(crate) channel: ChannelId,
    pub(crate) serving: ServingId,
    pub(crate) ticket: Option<TicketId>,
    pub(crate) request: Arc<Request>,
    pub(crate) signal: Arc<Signal>,
    /// Reports of progress go nowhere: the request carried no token, or nothing can be sent before its answer.
    pub(crate) silent: bool,
    /// Nothing can be sent before the answer.
    pub(crate) answer_only: bool,
    recall: Recall,
    /// How much clean-up was ever registered; looked at without the lock.
    registered: AtomicUsize,
    cleanups: Pending<M>,
    values: Values<M>,
    /// The view of this call that a blocking body has where the call itself cannot leave its thread.
    twin: OnceLock<Arc<Call<Shared>>>,
}

impl<M: Mode> Call<M> {
    pub(crate) fn new(hub: Arc<Hub>, assigned: Assigned) -> Arc<Self> {
        let Assigned { channel, serving, ticket, request, signal, continuation, answer_only } = assigned;
        let silent = answer_only || request.progress_token().is_none();
        #[allow(clippy::arc_with_non_send_sync)] // Send in the mode that needs it
        Arc::new(Self {
            hub,
            channel,
            serving,
            ticket,
            request,
            signal,
            silent,
            answer_only,
            recall: Recall::new(continuation),
            registered: AtomicUsize::new(0),
            cleanups: Pending::new(),
            values: Values::default(),
            twin: OnceLock::new(),
        })
    }

    /// Lets go of the call, about which everything is over. Whatever of it nobody else holds can serve another.
    pub(super) fn leave(self: Arc<Self>) -> Left {
        let (channel, ticket) = (self.channel, self.ticket);
        let memory = Arc::into_inner(self).and_then(|Self { request, mut signal, .. }| {
            // The wakers in the old one are dropped here, outside the lock.
            *Arc::get_mut(&mut signal)? = Signal::default();
            Some((request, signal))
        });
        Left { channel, ticket, memory }
    }

    /// A view of this call that may leave the thread. Clean-up registered with it runs with this call's own.
    #[cfg(feature = "blocking")]
    pub(crate) fn twin(&self) -> Arc<Call<Shared>> {
        let twin = self.twin.get_or_init(|| {
            Arc::new(Call {
                hub: Arc::clone(&self.hub),
                channel: self.channel,
                serving: self.serving,
                ticket: self.ticket,
                request: Arc::clone(&self.request),
                signal: Arc::clone(&self.signal),
                silent: self.silent,
                answer_only: self.answer_only,
                recall: self.recall.twin(),
                registered: AtomicUsize::new(0),
                cleanups: Pending::new(),
                values: self.values.twin(),
                twin: OnceLock::new(),
            })
        });
        Arc::clone(twin)
    }

    /// The gate is behind the request: takes the lane, waiting for it if it is taken. The error is the reply
    /// of a request that may not even wait, or that is over: what a layer has handed to another task may come
    /// here late, and nothing would ever wake it.
    pub(crate) async fn pass(&self, lane: Option<LaneKey>) -> Result<(), Reply> {
        let Some(ticket) = self.ticket else { return Ok(()) };
        let passed = self.hub.lock().pass(ticket, lane);
        match passed {
            None => return Err(Reply::cancelled()),
            Some(Passed::Start) => {}
            Some(Passed::Busy) => {
                moved!(info, "busy", &self.request, code = "SERVER_BUSY");
                let refusal = self.hub.lock().refusal();
                return Err(crate::server::busy(&refusal));
            }
            Some(Passed::Waits) => {
                if !self.signal.is_stopped() {
                    moved!(trace, "in lane", &self.request);
                }
                if !poll_fn(|cx| self.signal.poll_turn(cx)).await {
                    return Err(Reply::cancelled());
                }
            }
        }
        moved!(trace, "running", &self.request);
        Ok(())
    }

    /// What this entry asks with.
    pub(crate) fn asker(&self) -> Asker<'_> {
        Asker { request: &self.request, recall: &self.recall }
    }

    /// The handler is no mutation: see [`Recall::adopt`].
    pub(crate) fn adopt(&self) {
        self.recall.adopt();
    }

    /// Makes a question ready to be sent, with all that is to be remembered.
    pub(super) fn prepare(&self, asks: &InputRequired) -> Result<InputRequiredResult, Failure> {
        // What a blocking body was answered is known to its own view.
        let twin = self.twin.get().filter(|twin| twin.recall.is_set());
        let asker = twin.map_or_else(|| self.asker(), |twin| twin.asker());
        asker.prepare(&self.hub, self.channel, asks)
    }

    pub(crate) fn report(&self, report: &Progress<'_>) -> Report {
        if self.silent {
            return Report::NotAsked;
        }
        let reported = self.hub.lock().progress(self.channel, self.serving, report);
        match reported {
            Ok(Reported::Queued) => Report::Queued,
            Ok(Reported::Replaced) => Report::Replaced,
            Ok(Reported::NotAsked) => Report::NotAsked,
            Err(Misuse::Over) => Report::Over,
            Ok(_) => self.refused(Report::NotIncreasing),
            Err(_) => self.refused(Report::OutOfRange),
        }
    }

    pub(crate) fn refused(&self, report: Report) -> Report {
        self.hub.refused_progress();
        tracing::debug!(?report, "a report of progress was not sent");
        report
    }

    /// Sets a value of the request's own context, for every thread.
    pub(crate) fn set<T: Any + Send + Sync>(&self, value: T) {
        self.values.set(Arc::new(value));
    }

    /// Sets a value of the request's own context that may not leave its thread.
    pub(crate) fn set_own(&self, value: Arc<M::Value>) {
        self.values.set_own(value);
    }

    pub(crate) fn get<T: Any + Clone>(&self) -> Option<T> {
        self.values.get().or_else(|| {
            let attached = self.hub.lock().attached(self.channel)?;
            attached.downcast_ref::<T>().cloned()
        })
    }

    /// Registers clean-up. Returns its number.
    pub(crate) fn on_exit(&self, cleanup: Cleanup<M>) -> usize {
        let number = self.registered.fetch_add(1, Ordering::SeqCst);
        self.cleanups.lock().push((number, cleanup));
        // The work ends first and looks for clean-up after that: one of the two sees the other.
        if self.signal.is_over() {
            self.drop_cleanups();
        }
        number
    }

    /// Takes clean-up back that has not begun.
    pub(crate) fn disarm(&self, number: usize) -> Option<Cleanup<M>> {
        let mut cleanups = self.cleanups.lock();
        let place = cleanups.iter().position(|(known, _)| *known == number)?;
        Some(cleanups.remove(place).1)
    }

    /// Drops clean-up that nobody will run. It may hold the context, and the context holds it.
    pub(crate) fn drop_cleanups(&self) {
        while let Some(cleanup) = self.next_cleanup() {
            tracing::warn!(code = "CLEANUP_TOO_LATE", "clean-up was dropped without being run");
            contained(|| drop(cleanup));
        }
    }

    /// What was registered last. A blocking body began after everything else, so its clean-up comes first.
    pub(crate) fn next_cleanup(&self) -> Option<Cleanup<M>> {
        if let Some(Cleanup { future, bound }) = self.twin.get().and_then(|twin| twin.own_cleanup()) {
            return Some(Cleanup { future: M::from_shared(future), bound });
        }
        self.own_cleanup()
    }

    fn own_cleanup(&self) -> Option<Cleanup<M>> {
        if self.registered.load(Ordering::SeqCst) == 0 {
            return None;
        }
        self.cleanups.lock().pop().map(|(_, cleanup)| cleanup)
    }
}

impl<M: Mode> Drop for Pending<M> {
    /// Clean-up is the user's: its panics are contained.
    fn drop(&mut self) {
        let cleanups = std::mem::take(self.0.get_mut().unwrap_or_else(PoisonError::into_inner));
        for cleanup in cleanups {
            contained(|| drop(cleanup));
        }
    }
}
