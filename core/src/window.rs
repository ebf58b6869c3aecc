//! Whose an id in use is, for ids that mostly come in order: then looking one up is an index.
//!
//! Ids that follow one another without a gap stand in a window. What comes out of turn, or falls out of a window that one
//! long request would make grow, is kept in an ordered map; a peer that numbers oddly pays for its searches only.

use alloc::collections::{BTreeMap, VecDeque};

use crate::slab::Key;

/// Ids from the oldest one in use to the newest, at most, that the window holds.
const WINDOW: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct Window {
    /// The id of the first place.
    base: i64,
    places: VecDeque<Option<Key>>,
    /// Those that are not in the window.
    others: BTreeMap<i64, Key>,
}

impl Window {
    /// Whose an id is, if it is in use.
    pub(crate) fn get(&self, id: i64) -> Option<Key> {
        match self.place(id).and_then(|at| self.places.get(at)) {
            Some(Some(owner)) => Some(*owner),
            _ if self.others.is_empty() => None,
            _ => self.others.get(&id).copied(),
        }
    }

    /// An id that is not in use gets an owner.
    pub(crate) fn insert(&mut self, id: i64, owner: Key) {
        if self.places.is_empty() {
            self.base = id;
        }
        if self.place(id) != Some(self.places.len()) {
            self.others.insert(id, owner);
            return;
        }
        if self.places.len() == WINDOW {
            if let Some(Some(owner)) = self.places.pop_front() {
                self.others.insert(self.base, owner);
            }
            self.base += 1;
        }
        self.places.push_back(Some(owner));
    }

    /// An id is in use no longer.
    pub(crate) fn remove(&mut self, id: i64) {
        let Some(place @ Some(_)) = self.place(id).and_then(|at| self.places.get_mut(at)) else {
            self.others.remove(&id);
            return;
        };
        *place = None;
        while let Some(None) = self.places.front() {
            self.places.pop_front();
            self.base = self.base.saturating_add(1);
        }
    }

    /// Where an id stands in the window, or would stand.
    fn place(&self, id: i64) -> Option<usize> {
        usize::try_from(id.checked_sub(self.base)?).ok()
    }

    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.places.len() + self.others.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        /// The id so far behind the last one, or before it.
        Insert(i64),
        /// The nth of those in use.
        Remove(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => Just(Step::Insert(1)),
            1 => (-3_i64..4).prop_map(Step::Insert),
            1 => Just(Step::Insert(i64::MAX)),
            1 => Just(Step::Insert(i64::MIN)),
            5 => any::<usize>().prop_map(Step::Remove),
        ]
    }

    proptest! {
        #[test]
        fn it_is_a_map(start in any::<i64>(), steps in proptest::collection::vec(step(), 0..200)) {
            let (mut window, mut map, mut last) = (Window::default(), BTreeMap::new(), start);
            for (owner, step) in (0..).zip(steps) {
                match step {
                    Step::Insert(by) => {
                        last = last.wrapping_add(by);
                        if map.insert(last, (owner, 0)).is_none() {
                            prop_assert_eq!(window.get(last), None);
                            window.insert(last, (owner, 0));
                        } else {
                            window.remove(last);
                            window.insert(last, (owner, 0));
                        }
                    }
                    Step::Remove(nth) => {
                        let Some(id) = map.keys().nth(nth % map.len().max(1)).copied() else { continue };
                        map.remove(&id);
                        window.remove(id);
                        prop_assert_eq!(window.get(id), None);
                    }
                }
                for (id, owner) in &map {
                    prop_assert_eq!(window.get(*id), Some(*owner));
                    prop_assert!(id.checked_add(1).is_none_or(|next| window.get(next) == map.get(&next).copied()));
                }
            }
            for id in map.keys() {
                window.remove(*id);
            }
            prop_assert_eq!(window.held(), 0);
        }
    }

    #[test]
    fn one_long_request_does_not_make_it_grow() {
        let mut window = Window::default();
        window.insert(0, (7, 7));
        for id in 1..20_000 {
            window.insert(id, (1, 0));
            assert_eq!(window.get(id), Some((1, 0)));
            window.remove(id);
        }
        assert_eq!(window.get(0), Some((7, 7)));
        assert!(window.held() <= WINDOW + 1, "{}", window.held());
        window.remove(0);
        assert_eq!((window.get(0), window.held()), (None, 0));
    }

    #[test]
    fn the_last_ids_there_are() {
        let mut window = Window::default();
        for id in [i64::MAX - 1, i64::MAX, i64::MIN] {
            window.insert(id, (1, 1));
        }
        window.remove(i64::MAX - 1);
        window.remove(i64::MAX);
        assert_eq!(window.get(i64::MIN), Some((1, 1)));
        window.insert(i64::MAX, (2, 2));
        assert_eq!([i64::MIN, i64::MAX].map(|id| window.get(id)), [Some((1, 1)), Some((2, 2))]);
    }
}
