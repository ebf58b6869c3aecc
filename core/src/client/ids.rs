//! The ids we issue: integers in order. Whether one was ever issued is a comparison; whose it is, an index.

use alloc::collections::{BTreeMap, VecDeque};

use crate::slab::Key;

/// Once the oldest id of the window is this far behind, it is kept apart, so that one long call does not
/// make the window grow.
const WINDOW: usize = 4096;

#[derive(Debug)]
pub(super) struct Issued {
    /// The id of the window's first place.
    base: i64,
    window: VecDeque<Option<Key>>,
    /// Those still in use that fell out of the window.
    old: BTreeMap<i64, Key>,
}

impl Issued {
    /// Ids start at 1: some peers mistake 0 for absent.
    pub(super) fn new() -> Self {
        Self { base: 1, window: VecDeque::new(), old: BTreeMap::new() }
    }

    /// Issues the next id.
    pub(super) fn issue(&mut self, owner: Key) -> i64 {
        while self.window.front().is_some_and(Option::is_none) {
            self.window.pop_front();
            self.base += 1;
        }
        if self.window.len() >= WINDOW {
            if let Some(Some(owner)) = self.window.pop_front() {
                self.old.insert(self.base, owner);
            }
            self.base += 1;
        }
        let id = self.base + i64::try_from(self.window.len()).unwrap_or(0);
        self.window.push_back(Some(owner));
        id
    }

    /// Whether this id was ever issued.
    pub(super) fn was_issued(&self, id: i64) -> bool {
        let next = self.base + i64::try_from(self.window.len()).unwrap_or(0);
        (1..next).contains(&id)
    }

    /// Whose it is, if it is in use.
    pub(super) fn owner(&self, id: i64) -> Option<Key> {
        match usize::try_from(id.saturating_sub(self.base)) {
            Ok(at) => self.window.get(at).copied().flatten(),
            Err(_) => self.old.get(&id).copied(),
        }
    }

    /// It is in use no longer.
    pub(super) fn retire(&mut self, id: i64) {
        match usize::try_from(id.saturating_sub(self.base)) {
            Ok(at) => {
                if let Some(place) = self.window.get_mut(at) {
                    *place = None;
                }
            }
            Err(_) => {
                self.old.remove(&id);
            }
        }
    }

    #[cfg(test)]
    fn held(&self) -> usize {
        self.window.len() + self.old.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_issued_in_order_from_one() {
        let mut ids = Issued::new();
        assert_eq!([ids.issue((0, 0)), ids.issue((1, 0)), ids.issue((2, 0))], [1, 2, 3]);
        assert!(ids.was_issued(1) && ids.was_issued(3));
        assert!(!ids.was_issued(0) && !ids.was_issued(4) && !ids.was_issued(-1) && !ids.was_issued(i64::MIN));
        ids.retire(2);
        assert_eq!(ids.owner(2), None);
        assert!(ids.was_issued(2));
        assert_eq!(ids.owner(3), Some((2, 0)));
        assert_eq!(ids.owner(i64::MIN), None);
    }

    #[test]
    fn one_long_call_does_not_make_the_window_grow() {
        let mut ids = Issued::new();
        let long = ids.issue((7, 7));
        for n in 0..100_000u32 {
            let id = ids.issue((n, 0));
            assert_eq!(ids.owner(id), Some((n, 0)));
            ids.retire(id);
        }
        assert_eq!(ids.owner(long), Some((7, 7)));
        assert!(ids.held() <= WINDOW + 1, "{}", ids.held());
        ids.retire(long);
        assert_eq!(ids.owner(long), None);
    }
}
