//! What subscriptions are told, on all channels.

use std::cell::RefCell;
use std::collections::BTreeSet;

use sansio_mcp::misuse::Misuse;
use sansio_mcp::subscription::Change;

use super::Hub;
use super::channel::{ChannelId, Published};
use super::hub::HubState;

impl Hub {
    pub(crate) fn publish(&self, change: Change<'_>) -> Result<(), Misuse> {
        if !self.config.tells_of(change) {
            return Err(Misuse::NotOffered);
        }
        self.tell_all(&Published::One(change));
        Ok(())
    }

    /// `matches` is the application's, and may call the engine: nothing is locked while it looks.
    pub(crate) fn publish_resources(&self, matches: &dyn Fn(&str) -> bool) -> Result<(), Misuse> {
        if !self.config.tells_of(Change::Resource("")) {
            return Err(Misuse::NotOffered);
        }
        let asked = RefCell::new(BTreeSet::new());
        self.tell_all(&Published::Matching(&|uri| {
            let mut asked = asked.borrow_mut();
            if !asked.contains(uri) {
                asked.insert(uri.to_owned());
            }
            false
        }));
        let mut hits = asked.into_inner();
        hits.retain(|uri| matches(uri));
        self.publish_known(&|uri| hits.contains(uri));
        Ok(())
    }

    /// As [`publish_resources`](Self::publish_resources), with a function of our own, which only looks.
    pub(crate) fn publish_known(&self, matches: &dyn Fn(&str) -> bool) {
        self.tell_all(&Published::Matching(matches));
    }

    /// What is offered is something else: these lists have changed.
    pub(crate) fn offers_changed(&self, changes: &[Change<'_>]) {
        let mut state = self.lock();
        for change in changes.iter().filter(|change| self.config.tells_of(**change)) {
            state.tell_all(&Published::One(*change));
        }
        // It holds what is no longer offered until it looks.
        state.wake_driver();
    }

    fn tell_all(&self, what: &Published<'_>) {
        self.lock().tell_all(what);
    }
}

impl HubState {
    fn tell_all(&mut self, what: &Published<'_>) {
        for index in 0..self.channels.len() {
            self.tell(index, what);
        }
    }

    fn tell(&mut self, index: usize, what: &Published<'_>) {
        let Some(id) = self.channel_at(index) else { return };
        let Some(channel) = self.channel(id) else { return };
        if channel.subscriptions == 0 {
            return;
        }
        let unsent = channel.port.unsent_bytes();
        channel.port.publish(what);
        if channel.port.unsent_bytes() == unsent {
            return;
        }
        let writer = channel.writer.take();
        self.wakes.extend(writer);
        self.count_subscriptions(id);
        self.congestion(id);
    }

    /// Brings the number of all subscriptions up to date with those of this channel.
    pub(super) fn count_subscriptions(&mut self, id: ChannelId) {
        let Some(channel) = self.channel(id) else { return };
        let now = channel.port.subscriptions();
        let before = std::mem::replace(&mut channel.subscriptions, now);
        self.subscriptions = self.subscriptions + now - before;
    }
}
