//! The state behind the lock: the core's client, and the slots of its calls.

use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use sansio_mcp::client::{
    self as core, Answer, CallSpec, ClientEvent, InputAnswer, ListenSpec, LogMessage, Refused, StreamId,
};
use sansio_mcp::id::CallId;
use sansio_mcp::model::RawJson;
use sansio_mcp::subscription::Changed;
use sansio_mcp::time::{Mono, Now};

use super::after::After;
use super::cache::Member;
use super::error::{CallError, settled};
use super::extra::{Asked, Extra, Heard};
use super::progress::Progress;
use super::setup::{ClientSetup, OnLog};
use super::slots::{Slot, Slots};
use crate::clock::Clock;

/// What all halves of one connection share.
pub(super) struct Shared {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) setup: ClientSetup,
    pub(super) cache: Option<Arc<Member>>,
    state: Mutex<State>,
    /// Copies of facts that a transport asks for at every turn.
    closed: AtomicBool,
    deadline: AtomicU64,
}

/// The state behind the lock.
pub(super) struct State {
    pub(super) core: core::Client,
    slots: Slots,
    /// Why nothing can be called any more, if the connection was lost.
    lost: Option<Arc<str>>,
    /// Calls whose headers were refused, for the transport.
    pub(super) refused: VecDeque<CallId>,
    /// The transport, asleep.
    pub(super) transport: Option<Waker>,
    /// What is to be done without the lock; empty whenever it is free.
    after: After,
    /// Somebody answers questions.
    answers: bool,
    on_log: Option<OnLog>,
    cache: Option<Arc<Member>>,
}

/// What a call has for its owner.
pub(super) enum Collected {
    /// A round of questions, to be [answered](Shared::answer).
    Asked(Asked),
    /// The end; the slot is free again.
    Over(Option<CallId>, Result<Answer, CallError>),
}

/// What a subscription has for its owner.
pub(super) enum Told {
    Acknowledged(Box<str>),
    Changed(Changed),
    /// The slot is free again.
    Ended(Result<Answer, CallError>),
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
    pub(super) fn new(setup: ClientSetup, clock: Arc<dyn Clock>) -> Self {
        let cache = setup.cache.as_ref().map(|cache| Arc::new(cache.join()));
        let state = State {
            core: core::Client::new(Arc::clone(&setup.config)),
            answers: setup.inputs.is_some(),
            on_log: setup.on_log.clone(),
            cache: cache.clone(),
            slots: Slots::default(),
            lost: None,
            refused: VecDeque::new(),
            transport: None,
            after: After::default(),
        };
        Self {
            clock,
            setup,
            cache,
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
            if (state.core.has_output() || state.core.is_closed() || !state.refused.is_empty())
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

    /// A stream has gone; the connection with it, if it was the shared one.
    pub(super) fn stream_end(&self, stream: StreamId, cause: &str) {
        self.with(|state, now| {
            let open = !state.core.is_closed();
            state.core.handle_stream_end(now, stream, cause);
            if open && state.core.is_closed() {
                state.lost = Some(cause.into());
            }
        });
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
    pub(super) fn begin(
        &self,
        spec: CallSpec,
        watched: bool,
        extra: Option<Box<Extra>>,
        waker: &Waker,
    ) -> Result<(u32, CallId), CallError> {
        self.with(|state, now| {
            if state.slots.is_full() {
                return Err(CallError::Refused(Refused::TooManyCalls));
            }
            let call = state.core.call(now, spec).map_err(|refused| state.refused(refused))?;
            Ok((state.insert(call, watched, extra, waker), call))
        })
    }

    /// Opens a subscription.
    pub(super) fn listen(&self, spec: &ListenSpec, waker: &Waker) -> Result<u32, CallError> {
        self.with(|state, now| {
            if state.slots.is_full() {
                return Err(CallError::Refused(Refused::TooManyCalls));
            }
            let call = state.core.listen(now, spec).map_err(|refused| state.refused(refused))?;
            let extra = Extra { heard: Some(Heard::default()), ..Extra::default() };
            Ok(state.insert(call, false, Some(Box::new(extra)), waker))
        })
    }

    /// What a subscription has for its owner: the acknowledgement, changes, the end.
    pub(super) fn hear(&self, at: u32, cx: &Context<'_>) -> Poll<Told> {
        let _old: Option<Waker>;
        let mut state = self.lock();
        let Some(slot) = state.slots.get_mut(at) else {
            return Poll::Ready(Told::Ended(Err(CallError::Closed)));
        };
        if let Some(heard) = slot.extra.as_mut().and_then(|extra| extra.heard.as_mut()) {
            if let Some(filter) = heard.acknowledged.take() {
                return Poll::Ready(Told::Acknowledged(filter));
            }
            if let Some(change) = heard.pop() {
                return Poll::Ready(Told::Changed(change));
            }
        }
        if slot.outcome.is_none() {
            _old = slot.wait(cx);
            drop(state);
            return Poll::Pending;
        }
        let slot = state.slots.remove(at);
        drop(state);
        Poll::Ready(Told::Ended(ended(slot).1))
    }

    /// Answers the questions of a call. If it has ended meanwhile, its owner collects that.
    pub(super) fn answer(&self, at: u32, answers: &[(Box<str>, RawJson)]) {
        let answers: Vec<InputAnswer<'_>> =
            answers.iter().map(|(key, result)| InputAnswer { key, result: result.as_raw() }).collect();
        self.with(|state, now| {
            if let Some(call) = state.slots.get_mut(at).map(|slot| slot.call) {
                let _ = state.core.answer(now, call, &answers);
            }
        });
    }

    /// Collects what a call has for its owner: progress into `batch`, and questions or the outcome, with which the
    /// slot is free again.
    pub(super) fn collect(
        &self,
        at: u32,
        batch: &mut VecDeque<Progress>,
        logs: &mut (VecDeque<Arc<LogMessage>>, u64),
        cx: &Context<'_>,
    ) -> Poll<Collected> {
        // Dropped after the lock was given back: that may run an executor's code.
        let _old: Option<Waker>;
        let mut state = self.lock();
        // Nobody but the owner frees a slot.
        let Some(slot) = state.slots.get_mut(at) else {
            return Poll::Ready(Collected::Over(None, Err(CallError::Closed)));
        };
        if batch.is_empty() {
            mem::swap(&mut slot.progress, batch);
        } else {
            batch.append(&mut slot.progress);
        }
        if let Some(waiting) = slot.extra.as_mut().and_then(|extra| extra.logs.as_mut()) {
            *logs = waiting.take();
        }
        if slot.outcome.is_none() {
            _old = slot.wait(cx);
            if let Some(asked) = slot.extra.as_mut().and_then(|extra| extra.questions.take()) {
                return Poll::Ready(Collected::Asked(asked));
            }
            drop(state);
            return Poll::Pending;
        }
        let slot = state.slots.remove(at);
        drop(state);
        let (call, result) = ended(slot);
        Poll::Ready(Collected::Over(call, result))
    }

    /// Cancels a call if it has not ended; its owner still has to collect the outcome.
    pub(super) fn cancel(&self, at: u32, reason: Option<&str>) {
        self.with(|state, now| state.cancel(now, at, reason));
    }

    /// As [`cancel`](Self::cancel), if the slot is still this call's.
    pub(super) fn cancel_call(&self, at: u32, call: CallId, reason: &str) {
        self.with(|state, now| {
            if state.slots.get_mut(at).is_some_and(|slot| slot.call == call) {
                state.cancel(now, at, Some(reason));
            }
        });
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

/// How the call of a slot ended.
fn ended(slot: Option<Slot>) -> (Option<CallId>, Result<Answer, CallError>) {
    match slot {
        Some(Slot { call, outcome: Some(outcome), asked_for_input, .. }) => {
            (Some(call), settled(outcome, asked_for_input))
        }
        _ => (None, Err(CallError::Closed)),
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

    /// A client whose connection was lost says so from then on.
    fn refused(&self, refused: Refused) -> CallError {
        match (refused, &self.lost) {
            (Refused::Closed, Some(cause)) => CallError::Lost(Arc::clone(cause)),
            (refused, _) => refused.into(),
        }
    }

    fn insert(&mut self, call: CallId, watched: bool, extra: Option<Box<Extra>>, waker: &Waker) -> u32 {
        self.slots.insert(Slot {
            call,
            waker: Some(waker.clone()),
            progress: VecDeque::new(),
            outcome: None,
            watched,
            asked_for_input: false,
            extra,
        })
    }

    fn hand_out(&mut self, now: Now) {
        while let Some(event) = self.core.poll_event() {
            let waker = match event {
                ClientEvent::Progress { call, progress, total, message } => {
                    self.slots.progress(call, Progress { progress, total, message })
                }
                ClientEvent::Finished { call, outcome } => self.slots.finish(call, outcome, now.mono),
                ClientEvent::InputRequired { call, round, questions } if self.answers => {
                    let method = self.core.method(call).unwrap_or_default().into();
                    let target = self.core.target(call).map(Into::into);
                    self.slots.asked(call, Asked { round, questions, method, target })
                }
                ClientEvent::InputRequired { call, .. } => {
                    // There is nobody to answer: the call ends here, and nothing of it is on the wire.
                    self.slots.asked_for_input(call);
                    let _ = self.core.cancel(now, call, None);
                    None
                }
                ClientEvent::Listening { call, acknowledged } => self.slots.tell(call, |extra| {
                    extra.heard.get_or_insert_default().acknowledged = Some(acknowledged);
                }),
                ClientEvent::Changed { call, change } => {
                    if let Some(cache) = &self.cache {
                        cache.invalidate(change.as_change());
                    }
                    self.slots.tell(call, |extra| extra.heard.get_or_insert_default().push(change))
                }
                ClientEvent::Log { call, message } => {
                    let message = Arc::new(message);
                    if let Some(callback) = &self.on_log {
                        self.after.log(callback, Arc::clone(&message));
                    }
                    self.slots.log(call, &message, |waker| self.after.wake(waker));
                    None
                }
                ClientEvent::HeadersRefused { call } => {
                    self.refused.push_back(call);
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
