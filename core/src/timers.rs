//! Deadlines: a heap that forgets lazily, so that arming and forgetting cost next to nothing.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

use crate::time::Mono;

/// Deadlines, each naming what it is for. An owner that no longer wants one simply stops recognising it:
/// whether an entry is still wanted is asked with `live` when it matters.
#[derive(Debug)]
pub(crate) struct Timers<K> {
    heap: BinaryHeap<Reverse<(Mono, K)>>,
    /// At this length it is worth looking for entries that nobody wants any more.
    sweep_at: usize,
}

impl<K: Copy + Ord> Timers<K> {
    pub(crate) fn new() -> Self {
        Self { heap: BinaryHeap::new(), sweep_at: 64 }
    }

    /// Adds a deadline. `live` says of any entry whether it is still wanted; those that are not are swept out
    /// whenever the heap has doubled since the last sweep, so it stays proportional to what is really waiting
    /// and a sweep is paid for by what was added since.
    pub(crate) fn arm(&mut self, at: Mono, key: K, live: impl Fn(Mono, K) -> bool) {
        if self.heap.len() >= self.sweep_at {
            self.heap.retain(|Reverse((at, key))| live(*at, *key));
            self.sweep_at = self.heap.len() * 2 + 64;
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
