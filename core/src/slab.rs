//! A slab whose keys carry a generation, so that a key is never mistaken for a later one's.

use alloc::vec::Vec;

#[derive(Debug)]
pub(crate) struct Slab<T> {
    entries: Vec<Entry<T>>,
    free: Vec<u32>,
    len: usize,
}

#[derive(Debug)]
struct Entry<T> {
    generation: u32,
    value: Option<T>,
}

/// Index and generation.
pub(crate) type Key = (u32, u32);

impl<T> Slab<T> {
    pub(crate) const fn new() -> Self {
        Self { entries: Vec::new(), free: Vec::new(), len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Stores a value; `None` when 2^32 slots are taken.
    #[inline]
    pub(crate) fn insert(&mut self, value: T) -> Option<Key> {
        let index = if let Some(index) = self.free.pop() {
            index
        } else {
            let index = u32::try_from(self.entries.len()).ok()?;
            self.entries.push(Entry { generation: 0, value: None });
            index
        };
        let entry = self.entries.get_mut(index as usize)?;
        entry.value = Some(value);
        self.len += 1;
        Some((index, entry.generation))
    }

    #[inline]
    pub(crate) fn get(&self, (index, generation): Key) -> Option<&T> {
        let entry = self.entries.get(index as usize)?;
        if entry.generation == generation { entry.value.as_ref() } else { None }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, (index, generation): Key) -> Option<&mut T> {
        let entry = self.entries.get_mut(index as usize)?;
        if entry.generation == generation { entry.value.as_mut() } else { None }
    }

    #[inline]
    pub(crate) fn remove(&mut self, (index, generation): Key) -> Option<T> {
        let entry = self.entries.get_mut(index as usize)?;
        if entry.generation != generation {
            return None;
        }
        let value = entry.value.take()?;
        self.len -= 1;
        // A slot whose generations are used up is retired rather than reused.
        if let Some(next) = entry.generation.checked_add(1) {
            entry.generation = next;
            self.free.push(index);
        }
        Some(value)
    }

    /// The keys of everything stored, in order of index.
    pub(crate) fn keys(&self) -> impl Iterator<Item = Key> + '_ {
        self.entries.iter().enumerate().filter(|(_, entry)| entry.value.is_some()).map(|(index, entry)| {
            #[allow(clippy::cast_possible_truncation)] // insert() made every index from a u32
            (index as u32, entry.generation)
        })
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
        assert_eq!(slab.remove(first), None);
        assert_eq!(slab.get(second), Some(&'b'));
        assert_eq!(slab.len(), 1);
    }

    #[test]
    fn a_slot_whose_generations_are_used_up_is_retired() {
        let mut slab = Slab::new();
        let key = slab.insert('a').unwrap();
        slab.entries[0].generation = u32::MAX;
        assert_eq!(slab.remove((key.0, u32::MAX)), Some('a'));
        assert_ne!(slab.insert('b').unwrap().0, key.0);
    }
}
