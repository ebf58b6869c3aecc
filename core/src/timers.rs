//! Deadlines: a heap that forgets lazily, so that arming and forgetting cost next to nothing.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

use crate::time::Mono;

/// Deadlines, each naming what it is for. An owner that no longer wants one simply stops recognising it:
/// whether an entry is still wanted is asked with `live` when it matters.
#[derive(Debug)]
pub(crate) struct Timers<K> {
    heap: BinaryHeap<Reverse<(Mono, K)>>,
}

impl<K: Copy + Ord> Timers<K> {
    pub(crate) fn new() -> Self {
        Self { heap: BinaryHeap::new() }
    }

    /// Adds a deadline. `live` says of any entry whether it is still wanted; entries that are not are swept
    /// out once they outnumber `owners`, so the heap stays proportional to what is really waiting.
    pub(crate) fn arm(&mut self, at: Mono, key: K, owners: usize, live: impl Fn(Mono, K) -> bool) {
        if self.heap.len() >= owners * 4 + 64 {
            self.heap.retain(|Reverse((at, key))| live(*at, *key));
        }
        self.heap.push(Reverse((at, key)));
    }

    /// Drops entries that are no longer wanted from the front, so that [`next`](Self::next) tells the truth.
    pub(crate) fn settle(&mut self, live: impl Fn(Mono, K) -> bool) {
        while let Some(Reverse((at, key))) = self.heap.peek() {
            if live(*at, *key) {
                return;
            }
            self.heap.pop();
        }
    }

    /// The nearest deadline.
    pub(crate) fn next(&self) -> Option<(Mono, K)> {
        self.heap.peek().map(|Reverse(entry)| *entry)
    }

    /// Takes the nearest deadline if it has come.
    pub(crate) fn pop_due(&mut self, now: Mono) -> Option<(Mono, K)> {
        if self.next()?.0 > now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry)
    }

    pub(crate) fn clear(&mut self) {
        self.heap.clear();
    }
}
