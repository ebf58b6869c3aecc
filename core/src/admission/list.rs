//! Lists through the entries of a slab. Joining and leaving a list, at any place, touches at most three entries,
//! however long the list is.

use crate::slab::{Key, Slab};

/// The neighbours of an entry in the one list it is in.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Links {
    prev: Option<Key>,
    pub(super) next: Option<Key>,
}

/// An entry that can be in a list, one at a time.
pub(super) trait Linked {
    fn links(&mut self) -> &mut Links;
}

/// A doubly linked list of entries of one slab, which is passed to every call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct List {
    head: Option<Key>,
    tail: Option<Key>,
    len: usize,
}

impl List {
    pub(super) const fn head(&self) -> Option<Key> {
        self.head
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// `at` must be in no list.
    pub(super) fn push_back<T: Linked>(&mut self, slab: &mut Slab<T>, at: Key) {
        let Some(entry) = slab.get_mut(at) else { return };
        *entry.links() = Links { prev: self.tail, next: None };
        match self.tail.and_then(|tail| slab.get_mut(tail)) {
            Some(last) => last.links().next = Some(at),
            None => self.head = Some(at),
        }
        self.tail = Some(at);
        self.len += 1;
    }

    /// `at` must be in this list.
    pub(super) fn remove<T: Linked>(&mut self, slab: &mut Slab<T>, at: Key) {
        let Some(entry) = slab.get_mut(at) else { return };
        let Links { prev, next } = core::mem::take(entry.links());
        match prev.and_then(|prev| slab.get_mut(prev)) {
            Some(before) => before.links().next = next,
            None => self.head = next,
        }
        match next.and_then(|next| slab.get_mut(next)) {
            Some(after) => after.links().prev = prev,
            None => self.tail = prev,
        }
        self.len = self.len.saturating_sub(1);
    }
}
