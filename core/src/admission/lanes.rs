//! Lanes: one at a time per key, first come first served.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;

use crate::slab::{Key, Slab};

/// What a lane is known by: a tool, or a tool and what it computed from its arguments (an invoice, a tenant).
///
/// `("ab", "c")`, `("a", "bc")` and the tool `"abc"` are three lanes. A key lives as long as its lane is taken or waited for;
/// its length is not limited here, the limit on a message does that.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LaneKey {
    text: Box<str>,
    /// Where the computed part starts.
    computed: Option<usize>,
}

impl LaneKey {
    /// The lane of all calls of a tool.
    pub fn tool(name: impl Into<Box<str>>) -> Self {
        Self { text: name.into(), computed: None }
    }

    /// The lane of those calls of a tool that compute the same key.
    pub fn computed(tool: &str, key: &str) -> Self {
        let mut text = String::with_capacity(tool.len() + key.len());
        text.push_str(tool);
        text.push_str(key);
        Self { text: text.into_boxed_str(), computed: Some(tool.len()) }
    }
}

#[derive(Debug)]
struct Lane {
    key: LaneKey,
    taken: bool,
    /// All waiters, those on held channels too.
    waiters: usize,
    /// Waiters on channels that are not held, by arrival at any lane.
    ready: BTreeMap<u64, Key>,
    /// Under which arrival a waiter of this lane stands among the candidates for a slot.
    candidate: Option<u64>,
}

/// Lanes that are taken or waited for; others do not exist.
#[derive(Debug)]
pub(super) struct Lanes {
    by_key: BTreeMap<LaneKey, Key>,
    lanes: Slab<Lane>,
}

impl Lanes {
    pub(super) const fn new() -> Self {
        Self { by_key: BTreeMap::new(), lanes: Slab::new() }
    }

    pub(super) const fn len(&self) -> usize {
        self.lanes.len()
    }

    /// Whether a newcomer may take the lane: nobody has it, and nobody waits for it whom the newcomer would overtake. Waiters
    /// on held channels are passed over, but not by a newcomer on a held channel.
    pub(super) fn is_open(&self, key: &LaneKey, newcomer_ready: bool) -> bool {
        let lane = self.by_key.get(key).and_then(|at| self.lanes.get(*at));
        lane.is_none_or(|lane| !lane.taken && newcomer_ready && lane.ready.is_empty())
    }

    /// The lane of this key, which must then be taken or joined.
    pub(super) fn intern(&mut self, key: LaneKey) -> Option<Key> {
        if let Some(at) = self.by_key.get(&key) {
            return Some(*at);
        }
        let lane =
            Lane { key: key.clone(), taken: false, waiters: 0, ready: BTreeMap::new(), candidate: None };
        let at = self.lanes.insert(lane)?;
        self.by_key.insert(key, at);
        Some(at)
    }

    pub(super) fn set_taken(&mut self, lane: Key, taken: bool) {
        if let Some(lane) = self.lanes.get_mut(lane) {
            lane.taken = taken;
        }
    }

    /// A ticket joins as the last waiter. On a held channel it keeps its place but is not ready.
    pub(super) fn join(&mut self, lane: Key, arrival: u64, ticket: Key, ready: bool) {
        if let Some(lane) = self.lanes.get_mut(lane) {
            lane.waiters += 1;
            if ready {
                lane.ready.insert(arrival, ticket);
            }
        }
    }

    pub(super) fn leave(&mut self, lane: Key, arrival: u64) {
        if let Some(lane) = self.lanes.get_mut(lane) {
            lane.waiters = lane.waiters.saturating_sub(1);
            lane.ready.remove(&arrival);
        }
    }

    /// The channel of a waiter was held or released.
    pub(super) fn set_ready(&mut self, lane: Key, arrival: u64, ticket: Key, ready: bool) {
        if let Some(lane) = self.lanes.get_mut(lane) {
            if ready {
                lane.ready.insert(arrival, ticket);
            } else {
                lane.ready.remove(&arrival);
            }
        }
    }

    /// Who takes the lane next, if it is free.
    pub(super) fn next(&self, lane: Key) -> Option<Key> {
        let lane = self.lanes.get(lane)?;
        if lane.taken { None } else { lane.ready.first_key_value().map(|(_, ticket)| *ticket) }
    }

    /// Notes the candidate of this lane and returns the one before.
    pub(super) fn replace_candidate(&mut self, lane: Key, candidate: Option<u64>) -> Option<u64> {
        let lane = self.lanes.get_mut(lane)?;
        core::mem::replace(&mut lane.candidate, candidate)
    }

    /// Forgets a lane that nobody has or waits for.
    pub(super) fn tidy(&mut self, at: Key) {
        if self.lanes.get(at).is_some_and(|lane| !lane.taken && lane.waiters == 0)
            && let Some(lane) = self.lanes.remove(at)
        {
            self.by_key.remove(&lane.key);
        }
    }

    #[cfg(test)]
    pub(super) fn visits(&self) -> u64 {
        self.lanes.visits()
    }
}
