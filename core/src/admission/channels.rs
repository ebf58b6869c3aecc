//! Which channels have waiters, and which are held.

use alloc::collections::BTreeMap;

use super::list::List;

/// The caller's own key of a channel: whatever carries messages for one peer. Never what a peer chose.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ChannelKey(pub u64);

#[derive(Debug, Default)]
pub(super) struct Channel {
    /// Waiters for a slot, in order of arrival.
    pub(super) queued: List,
    /// Waiters in any lane, in order of arrival at it.
    pub(super) in_lanes: List,
    pub(super) held: bool,
    /// Under which arrival the first of `queued` stands among the candidates for a slot.
    pub(super) candidate: Option<u64>,
}

/// Channels with waiters or held; others do not exist.
#[derive(Debug, Default)]
pub(super) struct Channels(BTreeMap<ChannelKey, Channel>);

impl Channels {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_held(&self, key: ChannelKey) -> bool {
        self.0.get(&key).is_some_and(|channel| channel.held)
    }

    pub(super) fn get_mut(&mut self, key: ChannelKey) -> Option<&mut Channel> {
        self.0.get_mut(&key)
    }

    pub(super) fn entry(&mut self, key: ChannelKey) -> &mut Channel {
        self.0.entry(key).or_default()
    }

    /// Forgets a channel without waiters that is not held.
    pub(super) fn tidy(&mut self, key: ChannelKey) {
        if self
            .0
            .get(&key)
            .is_some_and(|channel| !channel.held && channel.queued.is_empty() && channel.in_lanes.is_empty())
        {
            self.0.remove(&key);
        }
    }
}
