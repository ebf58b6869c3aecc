//! Calls as their owners see them.
//!
//! The core forgets a call when it ends; its slot here stays until the owner has collected the outcome. So a slot
//! has one owner from beginning to end, and an index that the core has given to another call means another slot.

use std::collections::VecDeque;
use std::task::Waker;

use sansio_mcp::client::Outcome;
use sansio_mcp::id::CallId;
use sansio_mcp::limits::MAX_WAITING_PROGRESS;

use super::Progress;

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
}

/// All slots.
#[derive(Default)]
pub(super) struct Slots {
    entries: Vec<Option<Slot>>,
    free: Vec<u32>,
    /// The slot of the call that has this index in the core.
    of_call: Vec<u32>,
    uncollected: usize,
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

    /// Notes that a call is given up because it asked for input.
    pub(super) fn asked_for_input(&mut self, call: CallId) {
        if let Some(slot) = self.of(call) {
            slot.asked_for_input = true;
        }
    }

    /// Hands the outcome to the owner of a call, who may have to be woken.
    pub(super) fn finish(&mut self, call: CallId, outcome: Outcome) -> Option<Waker> {
        let slot = self.of(call).filter(|slot| slot.outcome.is_none())?;
        slot.outcome = Some(outcome);
        let waker = slot.waker.take();
        self.uncollected += 1;
        waker
    }
}
