//! A slab whose entries can be linked into lists. Joining and leaving a list, at any place, touches at most
//! three entries, however long the list is.

use alloc::vec::Vec;

/// Entries by index. An index is used again, an index with its generation never.
#[derive(Debug)]
pub(super) struct Slab<T> {
    entries: Vec<Entry<T>>,
    free: Option<u32>,
    live: usize,
    /// How often an entry was looked at: what the tests count instead of time.
    #[cfg(test)]
    visits: core::sync::atomic::AtomicU64,
}

#[derive(Debug)]
struct Entry<T> {
    generation: u32,
    content: Content<T>,
}

#[derive(Debug)]
enum Content<T> {
    Live(T),
    Free {
        next: Option<u32>,
    },
    /// The generations are used up. Costs one entry every 2^32 uses of it.
    Retired,
}

impl<T> Slab<T> {
    pub(super) const fn new() -> Self {
        Self {
            entries: Vec::new(),
            free: None,
            live: 0,
            #[cfg(test)]
            visits: core::sync::atomic::AtomicU64::new(0),
        }
    }

    /// How many entries are live.
    pub(super) const fn len(&self) -> usize {
        self.live
    }

    /// Index and generation of the new entry; `None` once 2^32 - 1 indices are in use.
    pub(super) fn insert(&mut self, value: T) -> Option<(u32, u32)> {
        if let Some(index) = self.free {
            let entry = self.entries.get_mut(index as usize)?;
            if let Content::Free { next } = entry.content {
                self.free = next;
                self.live += 1;
                entry.content = Content::Live(value);
                return Some((index, entry.generation));
            }
        }
        let index = u32::try_from(self.entries.len()).ok().filter(|index| *index != u32::MAX)?;
        self.entries.push(Entry { generation: 0, content: Content::Live(value) });
        self.live += 1;
        Some((index, 0))
    }

    pub(super) fn remove(&mut self, index: u32) -> Option<T> {
        self.visit();
        let entry = self.entries.get_mut(index as usize)?;
        if !matches!(entry.content, Content::Live(_)) {
            return None;
        }
        let vacant = match entry.generation.checked_add(1) {
            Some(generation) => {
                entry.generation = generation;
                let next = self.free.replace(index);
                Content::Free { next }
            }
            None => Content::Retired,
        };
        self.live -= 1;
        match core::mem::replace(&mut entry.content, vacant) {
            Content::Live(value) => Some(value),
            Content::Free { .. } | Content::Retired => None,
        }
    }

    pub(super) fn get(&self, index: u32) -> Option<&T> {
        self.visit();
        match &self.entries.get(index as usize)?.content {
            Content::Live(value) => Some(value),
            Content::Free { .. } | Content::Retired => None,
        }
    }

    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        self.visit();
        match &mut self.entries.get_mut(index as usize)?.content {
            Content::Live(value) => Some(value),
            Content::Free { .. } | Content::Retired => None,
        }
    }

    pub(super) fn generation(&self, index: u32) -> Option<u32> {
        self.entries.get(index as usize).map(|entry| entry.generation)
    }

    #[cfg(test)]
    fn visit(&self) {
        self.visits.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
    }

    #[cfg(not(test))]
    #[allow(clippy::unused_self, reason = "counts in tests only")]
    const fn visit(&self) {}

    #[cfg(test)]
    pub(super) fn visits(&self) -> u64 {
        self.visits.load(core::sync::atomic::Ordering::Relaxed)
    }
}

/// The neighbours of an entry in the one list it is in.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Links {
    prev: Option<u32>,
    pub(super) next: Option<u32>,
}

/// An entry that can be in a list, one at a time.
pub(super) trait Linked {
    fn links(&mut self) -> &mut Links;
}

/// A doubly linked list of entries of one slab, which is passed to every call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct List {
    head: Option<u32>,
    tail: Option<u32>,
    len: usize,
}

impl List {
    pub(super) const fn head(&self) -> Option<u32> {
        self.head
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// `index` must be in no list.
    pub(super) fn push_back<T: Linked>(&mut self, slab: &mut Slab<T>, index: u32) {
        let Some(entry) = slab.get_mut(index) else { return };
        *entry.links() = Links { prev: self.tail, next: None };
        match self.tail.and_then(|tail| slab.get_mut(tail)) {
            Some(last) => last.links().next = Some(index),
            None => self.head = Some(index),
        }
        self.tail = Some(index);
        self.len += 1;
    }

    /// `index` must be in this list.
    pub(super) fn remove<T: Linked>(&mut self, slab: &mut Slab<T>, index: u32) {
        let Some(entry) = slab.get_mut(index) else { return };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_whose_generations_are_used_up_is_never_used_again() {
        let mut slab = Slab::new();
        assert_eq!(slab.insert('a'), Some((0, 0)));
        assert_eq!(slab.remove(0), Some('a'));
        assert_eq!(slab.insert('b'), Some((0, 1)));
        slab.entries.iter_mut().for_each(|entry| entry.generation = u32::MAX);
        assert_eq!(slab.remove(0), Some('b'));
        assert_eq!(slab.remove(0), None);
        assert_eq!(slab.insert('c'), Some((1, 0)));
        assert_eq!((slab.get(0), slab.get(1), slab.len()), (None, Some(&'c'), 1));
    }
}
