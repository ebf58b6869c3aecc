//! What is kept, in the order of its last use.

use std::collections::BTreeMap;
use std::sync::Arc;

use sansio_mcp::client::{Answer, CallSpec};
use sansio_mcp::subscription::{Changed, is_part_of};
use sansio_mcp::time::Mono;

use super::CacheLimits;

/// What an entry costs beside its text.
const OVERHEAD: usize = 256;

/// Which call a result answers: whose it is, the method, and the params as they are written.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// The client that asked; `None` for what is public.
    owner: Option<u64>,
    method: Arc<str>,
    params: Arc<[u8]>,
}

impl Key {
    pub(super) fn new(owner: u64, spec: &CallSpec) -> Self {
        Self { owner: Some(owner), method: spec.method().into(), params: spec.members().into() }
    }

    pub(super) fn public(self) -> Self {
        Self { owner: None, ..self }
    }
}

struct Entry {
    answer: Answer,
    until: Mono,
    /// What makes it stale before that.
    topic: Option<Changed>,
    size: usize,
    used: u64,
}

/// Whether a change makes stale what this one does. With a resource its parts are stale.
fn is_stale(topic: Option<&Changed>, change: &Changed) -> bool {
    match (topic, change) {
        (Some(Changed::Resource(uri)), Changed::Resource(whole)) => uri == whole || is_part_of(uri, whole),
        (topic, change) => topic == Some(change),
    }
}

#[derive(Default)]
pub(super) struct Store {
    entries: BTreeMap<Key, Entry>,
    /// By last use.
    order: BTreeMap<u64, Key>,
    bytes: usize,
    uses: u64,
    /// What is being fetched, for whom, and what makes it stale. What is not here any more was made stale.
    fetches: BTreeMap<u64, (u64, Option<Changed>)>,
    next_fetch: u64,
}

impl Store {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// A fresh result for the owner of the key, or for everybody.
    pub(super) fn find(&mut self, key: &Key, now: Mono) -> Option<Answer> {
        self.find_under(key, now).or_else(|| self.find_under(&key.clone().public(), now))
    }

    fn find_under(&mut self, key: &Key, now: Mono) -> Option<Answer> {
        let entry = self.entries.get_mut(key)?;
        if now >= entry.until {
            self.remove(key);
            return None;
        }
        let answer = entry.answer.clone();
        self.uses += 1;
        let before = std::mem::replace(&mut entry.used, self.uses);
        if let Some(key) = self.order.remove(&before) {
            self.order.insert(self.uses, key);
        }
        Some(answer)
    }

    pub(super) fn keep(
        &mut self,
        key: Key,
        topic: Option<Changed>,
        answer: &Answer,
        until: Mono,
        limits: CacheLimits,
    ) {
        let size = OVERHEAD + answer.message().len() + key.params.len();
        if size > limits.bytes || limits.entries == 0 {
            return;
        }
        self.remove(&key);
        while self.entries.len() >= limits.entries || self.bytes + size > limits.bytes {
            let Some(oldest) = self.order.first_key_value().map(|(_, key)| key.clone()) else { break };
            self.remove(&oldest);
        }
        self.uses += 1;
        self.bytes += size;
        self.order.insert(self.uses, key.clone());
        self.entries.insert(key, Entry { answer: answer.clone(), until, topic, size, used: self.uses });
    }

    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.entries.remove(key) {
            self.order.remove(&entry.used);
            self.bytes -= entry.size;
        }
    }

    fn remove_all(&mut self, which: impl Fn(&Key, &Entry) -> bool) {
        let gone: Vec<Key> = self
            .entries
            .iter()
            .filter(|(key, entry)| which(key, entry))
            .map(|(key, _)| key.clone())
            .collect();
        for key in &gone {
            self.remove(key);
        }
    }

    pub(super) fn invalidate(&mut self, change: &Changed) {
        self.fetches.retain(|_, (_, topic)| !is_stale(topic.as_ref(), change));
        self.remove_all(|_, entry| is_stale(entry.topic.as_ref(), change));
    }

    /// Forgets what is private to a client.
    pub(super) fn forget(&mut self, owner: u64) {
        self.fetches.retain(|_, (of, _)| *of != owner);
        self.remove_all(|key, _| key.owner == Some(owner));
    }

    pub(super) fn clear(&mut self) {
        self.fetches.clear();
        self.remove_all(|_, _| true);
    }

    pub(super) fn fetch(&mut self, owner: u64, topic: Option<Changed>) -> u64 {
        self.next_fetch += 1;
        self.fetches.insert(self.next_fetch, (owner, topic));
        self.next_fetch
    }

    /// A fetch is over. Whether its result may be kept.
    pub(super) fn fetched(&mut self, id: u64) -> bool {
        self.fetches.remove(&id).is_some()
    }
}
