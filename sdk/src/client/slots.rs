//! Calls as their owners see them.
//!
//! The core forgets a call when it ends; its slot here stays until the owner has collected the outcome. So a slot
//! has one owner from beginning to end, and an index that the core has given to another call means another slot.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::task::{Context, Waker};

use sansio_mcp::client::{LogMessage, Outcome};
use sansio_mcp::id::CallId;
use sansio_mcp::limits::MAX_WAITING_PROGRESS;
use sansio_mcp::time::Mono;

use super::Progress;
use super::extra::{Asked, Extra, Logs};

/// Ended calls whose outcome nobody has collected. One more call is refused: whoever begins calls and never looks
/// at them must not fill memory.
pub(super) const MAX_UNCOLLECTED: usize = 65_536;

/// One call.
pub(super) struct Slot {
    pub(super) call: CallId,
    pub(super) waker: Option<Waker>,
    pub(super) progress: VecDeque<Progress>,
    pub(super) outcome: Option<Outcome>,
    /// Somebody wants to see progress.
    pub(super) watched: bool,
    /// It was cancelled because it asked for input.
    pub(super) asked_for_input: bool,
    /// What only some calls have.
    pub(super) extra: Option<Box<Extra>>,
}

impl Slot {
    /// Keeps the waker; the old one is returned so that it can be dropped outside the lock.
    pub(super) fn wait(&mut self, cx: &Context<'_>) -> Option<Waker> {
        if self.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            return None;
        }
        self.waker.replace(cx.waker().clone())
    }
}

/// All slots.
#[derive(Default)]
pub(super) struct Slots {
    entries: Vec<Option<Slot>>,
    free: Vec<u32>,
    /// The slot of the call that has this index in the core.
    of_call: Vec<u32>,
    uncollected: usize,
    /// Slots whose owners want log messages.
    logging: BTreeSet<u32>,
}

impl Slots {
    pub(super) fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.uncollected >= MAX_UNCOLLECTED
    }

    pub(super) fn insert(&mut self, slot: Slot) -> u32 {
        let of_call = slot.call.index() as usize;
        let at = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            u32::try_from(self.entries.len() - 1).unwrap_or(u32::MAX)
        });
        if slot.extra.as_ref().is_some_and(|extra| extra.logs.is_some()) {
            self.logging.insert(at);
        }
        if let Some(entry) = self.entries.get_mut(at as usize) {
            *entry = Some(slot);
        }
        if self.of_call.len() <= of_call {
            self.of_call.resize(of_call + 1, u32::MAX);
        }
        if let Some(owner) = self.of_call.get_mut(of_call) {
            *owner = at;
        }
        at
    }

    pub(super) fn get_mut(&mut self, at: u32) -> Option<&mut Slot> {
        self.entries.get_mut(at as usize)?.as_mut()
    }

    pub(super) fn remove(&mut self, at: u32) -> Option<Slot> {
        let slot = self.entries.get_mut(at as usize)?.take()?;
        self.free.push(at);
        if slot.extra.is_some() {
            self.logging.remove(&at);
        }
        if slot.outcome.is_some() {
            self.uncollected -= 1;
        }
        Some(slot)
    }

    /// The slot of a call that has not ended.
    fn of(&mut self, call: CallId) -> Option<&mut Slot> {
        let at = *self.of_call.get(call.index() as usize)?;
        self.get_mut(at).filter(|slot| slot.call == call)
    }

    /// Hands progress to the owner of a call, who may have to be woken.
    pub(super) fn progress(&mut self, call: CallId, progress: Progress) -> Option<Waker> {
        let slot = self.of(call).filter(|slot| slot.watched)?;
        if slot.progress.len() >= MAX_WAITING_PROGRESS {
            slot.progress.pop_back();
        } else if slot.progress.capacity() == 0 {
            slot.progress.reserve(MAX_WAITING_PROGRESS);
        }
        slot.progress.push_back(progress);
        slot.waker.take()
    }

    /// Hands something to the owner of a call, who may have to be woken.
    pub(super) fn tell(&mut self, call: CallId, what: impl FnOnce(&mut Extra)) -> Option<Waker> {
        let slot = self.of(call)?;
        what(slot.extra.get_or_insert_default());
        slot.waker.take()
    }

    /// Hands a round of questions to the owner of a call.
    pub(super) fn asked(&mut self, call: CallId, asked: Asked) -> Option<Waker> {
        self.tell(call, |extra| extra.questions = Some(asked))
    }

    /// Hands a log message to the owner of its call; where nobody knows which that is, to all that asked for messages
    /// this severe.
    pub(super) fn log(
        &mut self,
        call: Option<CallId>,
        message: &Arc<LogMessage>,
        mut wake: impl FnMut(Waker),
    ) {
        let mut push = |slot: &mut Slot| {
            let logs = slot.extra.as_mut().and_then(|extra| extra.logs.as_mut());
            if let Some(logs) = logs.filter(|logs: &&mut Logs| logs.level <= message.level) {
                logs.push(message);
                slot.waker.take().into_iter().for_each(&mut wake);
            }
        };
        if let Some(call) = call {
            return self.of(call).into_iter().for_each(push);
        }
        for at in &self.logging {
            let slot = self.entries.get_mut(*at as usize).and_then(Option::as_mut);
            slot.filter(|slot| slot.outcome.is_none()).into_iter().for_each(&mut push);
        }
    }

    /// Notes that a call is given up because it asked for input.
    pub(super) fn asked_for_input(&mut self, call: CallId) {
        if let Some(slot) = self.of(call) {
            slot.asked_for_input = true;
        }
    }

    /// Hands the outcome to the owner of a call, who may have to be woken.
    pub(super) fn finish(&mut self, call: CallId, outcome: Outcome, now: Mono) -> Option<Waker> {
        let slot = self.of(call).filter(|slot| slot.outcome.is_none())?;
        if let Some(fetch) = slot.extra.as_mut().and_then(|extra| extra.fetch.take())
            && let Outcome::Complete(answer) = &outcome
        {
            fetch.keep(answer, now);
        }
        slot.outcome = Some(outcome);
        let waker = slot.waker.take();
        self.uncollected += 1;
        waker
    }
}
