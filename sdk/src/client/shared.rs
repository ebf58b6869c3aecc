//! The state behind the lock: the core's client, and the slots of its calls.

use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use sansio_mcp::client::{self as core, Answer, CallSpec, ClientConfig, ClientEvent, Refused};
use sansio_mcp::id::CallId;
use sansio_mcp::time::{Mono, Now};

use super::after::After;
use super::error::{CallError, settled};
use super::progress::Progress;
use super::slots::{Slot, Slots};
use crate::clock::Clock;

/// What all halves of one connection share.
pub(super) struct Shared {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    /// Copies of facts that a transport asks for at every turn.
    closed: AtomicBool,
    deadline: AtomicU64,
}

/// The state behind the lock.
pub(super) struct State {
    pub(super) core: core::Client,
    slots: Slots,
    /// The transport, asleep.
    pub(super) transport: Option<Waker>,
    /// What is to be done without the lock; empty whenever it is free.
    after: After,
}

/// What the application holds: when the last one goes, nobody can call any more.
pub(super) struct Handle {
    pub(super) shared: Arc<Shared>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl Shared {
    pub(super) fn new(config: Arc<ClientConfig>, clock: Arc<dyn Clock>) -> Self {
        let state = State {
            core: core::Client::new(config),
            slots: Slots::default(),
            transport: None,
            after: After::default(),
        };
        Self {
            clock,
            state: Mutex::new(state),
            closed: AtomicBool::new(false),
            deadline: AtomicU64::new(u64::MAX),
        }
    }

    /// A panic of ours inside the lock would be a bug, but no reason to take every caller along.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works on the state, hands out the events that came of it, and wakes whom they concern.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut State, Now) -> T) -> T {
        // Nothing here seals state, so the calendar is not asked.
        let now = Now::at(self.clock.mono());
        let (value, mut after) = {
            let mut state = self.lock();
            let value = work(&mut state, now);
            state.hand_out(now);
            let deadline = state.core.poll_timeout().map_or(u64::MAX, |deadline| deadline.at().as_nanos());
            self.deadline.store(deadline, Ordering::Release);
            self.closed.store(state.core.is_closed(), Ordering::Release);
            if (state.core.has_output() || state.core.is_closed())
                && let Some(transport) = state.transport.take()
            {
                state.after.wake(transport);
            }
            if state.after.is_empty() {
                return value;
            }
            (value, mem::take(&mut state.after))
        };
        after.run();
        self.lock().keep(after);
        value
    }

    pub(super) fn close(&self) {
        self.with(|state, now| state.core.close(now));
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(super) fn next_deadline(&self) -> Option<Mono> {
        let at = self.deadline.load(Ordering::Acquire);
        (at != u64::MAX).then(|| Mono::from_nanos(at))
    }

    pub(super) fn open_calls(&self) -> usize {
        self.lock().slots.len()
    }

    /// Begins a call; `watched` if somebody wants to see progress.
    pub(super) fn begin(&self, spec: CallSpec, watched: bool, waker: &Waker) -> Result<u32, CallError> {
        self.with(|state, now| {
            if state.slots.is_full() {
                return Err(CallError::Refused(Refused::TooManyCalls));
            }
            let call = state.core.call(now, spec)?;
            Ok(state.slots.insert(Slot {
                call,
                waker: Some(waker.clone()),
                progress: VecDeque::new(),
                outcome: None,
                watched,
                asked_for_input: false,
            }))
        })
    }

    /// Collects what a call has for its owner: progress into `batch`, which must be empty, and the outcome, with
    /// which the slot is free again.
    pub(super) fn collect(
        &self,
        at: u32,
        batch: &mut VecDeque<Progress>,
        cx: &Context<'_>,
    ) -> Poll<(Option<CallId>, Result<Answer, CallError>)> {
        // Dropped after the lock was given back: that may run an executor's code.
        let _old: Option<Waker>;
        let mut state = self.lock();
        // Nobody but the owner frees a slot.
        let Some(slot) = state.slots.get_mut(at) else {
            return Poll::Ready((None, Err(CallError::Closed)));
        };
        mem::swap(&mut slot.progress, batch);
        if slot.outcome.is_none() {
            if !slot.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
                _old = slot.waker.replace(cx.waker().clone());
            }
            drop(state);
            return Poll::Pending;
        }
        let slot = state.slots.remove(at);
        drop(state);
        let Some(Slot { call, outcome: Some(outcome), asked_for_input, .. }) = slot else {
            return Poll::Ready((None, Err(CallError::Closed)));
        };
        Poll::Ready((Some(call), settled(outcome, asked_for_input)))
    }

    /// Cancels a call if it has not ended; its owner still has to collect the outcome.
    pub(super) fn cancel(&self, at: u32, reason: Option<&str>) {
        self.with(|state, now| state.cancel(now, at, reason));
    }

    /// The owner of a call is gone: cancels it if it has not ended, and frees its slot. Returns the call if it was
    /// cancelled by this.
    pub(super) fn abandon(&self, at: u32) -> Option<CallId> {
        let slot = self.with(|state, now| {
            state.cancel(now, at, None);
            // What comes of that finds no slot and is forgotten.
            state.slots.remove(at)
        })?;
        slot.outcome.is_none().then_some(slot.call)
    }
}

impl State {
    /// Takes back `after`, which has been run, for its memory.
    fn keep(&mut self, after: After) {
        if self.after.is_empty() {
            self.after = after;
        }
    }

    fn cancel(&mut self, now: Now, at: u32, reason: Option<&str>) {
        if let Some(slot) = self.slots.get_mut(at)
            && slot.outcome.is_none()
        {
            // It may be over in the core only if its outcome is here: events are handed out under the same lock.
            let _ = self.core.cancel(now, slot.call, reason);
        }
    }

    fn hand_out(&mut self, now: Now) {
        while let Some(event) = self.core.poll_event() {
            let waker = match event {
                ClientEvent::Progress { call, progress, total, message } => {
                    self.slots.progress(call, Progress { progress, total, message })
                }
                ClientEvent::Finished { call, outcome } => self.slots.finish(call, outcome),
                ClientEvent::InputRequired { call, .. } => {
                    // There is no input handler yet: the call ends here, and nothing of it is on the wire.
                    self.slots.asked_for_input(call);
                    let _ = self.core.cancel(now, call, None);
                    None
                }
                ClientEvent::Violation(violation) => {
                    self.after.violation(violation);
                    None
                }
                _ => None,
            };
            if let Some(waker) = waker {
                self.after.wake(waker);
            }
        }
    }
}
