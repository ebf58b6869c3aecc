//! The ids we issue: integers in order. Whether one was ever issued is a comparison; whose it is, an index.

use crate::slab::Key;
use crate::window::Window;

#[derive(Debug)]
pub(super) struct Issued {
    next: i64,
    used: Window,
}

impl Issued {
    /// Ids start at 1: some peers mistake 0 for absent.
    pub(super) fn new() -> Self {
        Self { next: 1, used: Window::default() }
    }

    /// Issues the next id.
    pub(super) fn issue(&mut self, owner: Key) -> i64 {
        let id = self.next;
        self.used.insert(id, owner);
        self.next += 1;
        id
    }

    /// Whether this id was ever issued.
    pub(super) fn was_issued(&self, id: i64) -> bool {
        (1..self.next).contains(&id)
    }

    /// Whose it is, if it is in use.
    pub(super) fn owner(&self, id: i64) -> Option<Key> {
        self.used.get(id)
    }

    /// It is in use no longer.
    pub(super) fn retire(&mut self, id: i64) {
        self.used.remove(id);
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
        for id in [1, 3] {
            ids.retire(id);
        }
        assert_eq!(ids.issue((3, 0)), 4);
    }
}
