//! A slab whose keys carry a generation, so that a key is never mistaken for a later one's.

use alloc::vec::Vec;

#[derive(Debug)]
pub(crate) struct Slab<T> {
    entries: Vec<Entry<T>>,
    /// The vacant entry that is used next; each names the one after it.
    vacant: Option<u32>,
    len: usize,
    /// How often an entry was looked at: what tests count instead of time.
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
    Vacant {
        next: Option<u32>,
    },
    /// The generations are used up. Costs one entry every 2^32 uses of it.
    Retired,
}

/// Index and generation.
pub(crate) type Key = (u32, u32);

impl<T> Slab<T> {
    pub(crate) const fn new() -> Self {
        Self {
            entries: Vec::new(),
            vacant: None,
            len: 0,
            #[cfg(test)]
            visits: core::sync::atomic::AtomicU64::new(0),
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Stores a value; `None` when 2^32 entries are taken.
    #[inline]
    pub(crate) fn insert(&mut self, value: T) -> Option<Key> {
        let Some(index) = self.vacant else {
            let index = u32::try_from(self.entries.len()).ok()?;
            self.entries.push(Entry { generation: 0, content: Content::Live(value) });
            self.len += 1;
            return Some((index, 0));
        };
        let entry = self.entries.get_mut(index as usize)?;
        if let Content::Vacant { next } = entry.content {
            self.vacant = next;
        }
        entry.content = Content::Live(value);
        self.len += 1;
        Some((index, entry.generation))
    }

    #[inline]
    pub(crate) fn get(&self, (index, generation): Key) -> Option<&T> {
        self.visit();
        match self.entries.get(index as usize)? {
            Entry { generation: now, content: Content::Live(value) } if *now == generation => Some(value),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, (index, generation): Key) -> Option<&mut T> {
        self.visit();
        match self.entries.get_mut(index as usize)? {
            Entry { generation: now, content: Content::Live(value) } if *now == generation => Some(value),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn remove(&mut self, key: Key) -> Option<T> {
        self.get(key)?;
        let (index, generation) = key;
        let entry = self.entries.get_mut(index as usize)?;
        let left = match generation.checked_add(1) {
            Some(next) => {
                entry.generation = next;
                Content::Vacant { next: self.vacant.replace(index) }
            }
            None => Content::Retired,
        };
        self.len -= 1;
        match core::mem::replace(&mut entry.content, left) {
            Content::Live(value) => Some(value),
            Content::Vacant { .. } | Content::Retired => None,
        }
    }

    /// The keys of everything stored, in order of index.
    pub(crate) fn keys(&self) -> impl Iterator<Item = Key> + '_ {
        let live = |entry: &Entry<T>| matches!(entry.content, Content::Live(_));
        self.entries.iter().enumerate().filter(move |(_, entry)| live(entry)).map(|(index, entry)| {
            #[allow(clippy::cast_possible_truncation)] // insert() made every index from a u32
            (index as u32, entry.generation)
        })
    }

    #[cfg(test)]
    fn visit(&self) {
        self.visits.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
    }

    #[cfg(not(test))]
    #[allow(clippy::unused_self, reason = "counts in tests only")]
    const fn visit(&self) {}

    #[cfg(test)]
    pub(crate) fn visits(&self) -> u64 {
        self.visits.load(core::sync::atomic::Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_reused() {
        let mut slab = Slab::new();
        let first = slab.insert('a').unwrap();
        assert_eq!(slab.remove(first), Some('a'));
        let second = slab.insert('b').unwrap();
        assert_eq!(first.0, second.0);
        assert_eq!(slab.get(first), None);
        assert_eq!(slab.get_mut(first), None);
        assert_eq!(slab.remove(first), None);
        assert_eq!(slab.get(second), Some(&'b'));
        assert_eq!(slab.len(), 1);
    }

    #[test]
    fn vacant_entries_are_used_again_the_latest_first() {
        let mut slab = Slab::new();
        let keys: Vec<Key> = (0..4).map(|n| slab.insert(n).unwrap()).collect();
        for key in &keys[1..] {
            slab.remove(*key);
        }
        let again: Vec<u32> = (0..4).map(|n| slab.insert(n).unwrap().0).collect();
        assert_eq!(again, [3, 2, 1, 4]);
        assert_eq!((slab.len(), slab.keys().map(|key| key.0).collect()), (5, Vec::from([0, 1, 2, 3, 4])));
    }

    #[test]
    fn an_entry_whose_generations_are_used_up_is_retired() {
        let mut slab = Slab::new();
        let key = slab.insert('a').unwrap();
        slab.entries[0].generation = u32::MAX;
        let last = (key.0, u32::MAX);
        assert_eq!((slab.remove(last), slab.remove(last), slab.is_empty()), (Some('a'), None, true));
        assert_ne!(slab.insert('b').unwrap().0, key.0);
    }
}
