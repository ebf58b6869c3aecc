//! The ids of the requests that a channel is serving: a peer's choice, most often integers in order.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;

use crate::id::RequestId;
use crate::slab::Key;
use crate::window::Window;

#[derive(Debug, Default)]
pub(super) struct Ids {
    numbers: Window,
    texts: BTreeMap<Box<str>, Key>,
}

impl Ids {
    /// Which request has this id.
    pub(super) fn get(&self, id: &RequestId) -> Option<Key> {
        match id {
            RequestId::Int(number) => self.numbers.get(*number),
            RequestId::Str(text) => self.texts.get(text).copied(),
        }
    }

    pub(super) fn contains(&self, id: &RequestId) -> bool {
        self.get(id).is_some()
    }

    /// An id that is not in use is, from now on.
    pub(super) fn insert(&mut self, id: RequestId, at: Key) {
        match id {
            RequestId::Int(number) => self.numbers.insert(number, at),
            RequestId::Str(text) => {
                self.texts.insert(text, at);
            }
        }
    }

    pub(super) fn remove(&mut self, id: &RequestId) {
        match id {
            RequestId::Int(number) => self.numbers.remove(*number),
            RequestId::Str(text) => {
                self.texts.remove(text);
            }
        }
    }
}
