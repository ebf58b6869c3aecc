//! Things of one kind that are offered, each with its handler.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use sansio_mcp::code::wire;

use super::reply::Reply;
use crate::mode::Mode;

/// Things of one kind in the order in which they came, each with its handler. A copy shares them.
pub(crate) struct Shelf<T, M: Mode> {
    in_order: BTreeMap<u64, Arc<Offered<T, M>>>,
    by_name: BTreeMap<Arc<str>, Arc<Offered<T, M>>>,
    /// How many have ever come.
    came: u64,
}

/// One of them.
pub(crate) struct Offered<T, M: Mode> {
    place: u64,
    name: Arc<str>,
    pub(crate) thing: T,
    pub(crate) handler: Arc<M::Tool>,
}

impl<T, M: Mode> Clone for Shelf<T, M> {
    fn clone(&self) -> Self {
        Self { in_order: self.in_order.clone(), by_name: self.by_name.clone(), came: self.came }
    }
}

impl<T, M: Mode> Default for Shelf<T, M> {
    fn default() -> Self {
        Self { in_order: BTreeMap::new(), by_name: BTreeMap::new(), came: 0 }
    }
}

/// A page of a list, and the cursor of the next.
pub(crate) type Page<T> = (Vec<T>, Option<String>);

impl<T, M: Mode> Shelf<T, M> {
    /// Adds one at the end; false, and nothing is changed, if there is one of that name.
    #[must_use]
    pub(crate) fn push(&mut self, name: &str, thing: T, handler: Arc<M::Tool>) -> bool {
        if self.by_name.contains_key(name) {
            return false;
        }
        let (place, name) = (self.came, Arc::<str>::from(name));
        self.came += 1;
        #[allow(clippy::arc_with_non_send_sync)] // Send in the mode that needs it
        let offered = Arc::new(Offered { place, name: Arc::clone(&name), thing, handler });
        self.in_order.insert(place, Arc::clone(&offered));
        self.by_name.insert(name, offered);
        true
    }

    /// Takes one away, if it is there.
    pub(crate) fn remove(&mut self, name: &str) {
        if let Some(offered) = self.by_name.remove(name) {
            self.in_order.remove(&offered.place);
        }
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Offered<T, M>> {
        self.by_name.get(name).map(|offered| &**offered)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.in_order.is_empty()
    }

    /// In the order in which they came.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Offered<T, M>> {
        self.in_order.values().map(|offered| &**offered)
    }

    /// Whether a later state of the same shelf holds other things, or the same in other places.
    pub(crate) fn differs(&self, later: &Self) -> bool {
        !self.in_order.keys().eq(later.in_order.keys())
    }

    /// One page of the list, and the cursor of the next.
    ///
    /// A cursor is the place and the name of the last thing of the page before. It stays good while things come and go: what is there all
    /// the time is on one page exactly, what comes meanwhile is at the end. Where the place is somebody else's (the cursor is
    /// of another replica, or of this one before it was started again) the name decides.
    pub(crate) fn page<L>(
        &self,
        cursor: Option<&str>,
        size: usize,
        listed: impl Fn(&T) -> L,
    ) -> Result<Page<L>, Reply> {
        let after = match cursor {
            None => Bound::Unbounded,
            Some(cursor) => Bound::Excluded(self.place(cursor).ok_or_else(|| {
                Reply::error(wire::INVALID_PARAMS, "unknown cursor; list again from the beginning")
            })?),
        };
        let mut rest = self.in_order.range((after, Bound::Unbounded)).map(|(_, offered)| offered);
        let page: Vec<&Arc<Offered<T, M>>> = rest.by_ref().take(size).collect();
        let more = rest.next().is_some();
        let next = page.last().filter(|_| more).map(|last| format!("{}:{}", last.place, last.name));
        Ok((page.into_iter().map(|offered| listed(&offered.thing)).collect(), next))
    }

    /// The place that a cursor means.
    fn place(&self, cursor: &str) -> Option<u64> {
        let (place, name) = cursor.split_once(':')?;
        let place = place.parse().ok()?;
        match self.in_order.get(&place) {
            Some(there) if *there.name == *name => Some(place),
            // It was here and has gone.
            None if place < self.came => Some(place),
            Some(_) | None => self.find(name).map(|known| known.place),
        }
    }
}
