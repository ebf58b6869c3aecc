//! Numbers that a seed decides.

use std::cell::Cell;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::time::Duration;

/// Numbers in an order that a seed decides. Clones go on together; a [fork](Self::fork) goes its own way.
#[derive(Clone, Debug)]
pub struct Dice {
    state: Rc<Cell<u64>>,
}

impl Dice {
    /// Dice of this seed.
    pub fn new(seed: u64) -> Self {
        Self { state: Rc::new(Cell::new(seed)) }
    }

    /// Dice of their own, for a part whose draws shall not shift those of the others.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self::new(self.number())
    }

    /// Any number. (A counter, stirred: "splitmix64".)
    pub fn number(&self) -> u64 {
        let state = self.state.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.state.set(state);
        let mut number = state;
        number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ number >> 31
    }

    /// Less than `n`; 0 if `n` is 0.
    pub fn below(&self, n: usize) -> usize {
        let n = u64::try_from(n).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.number() % n).unwrap_or(0)
    }

    /// True once in `n` times.
    pub fn one_in(&self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// A length of time, both ends included.
    pub fn time(&self, range: &RangeInclusive<Duration>) -> Duration {
        let span = range.end().saturating_sub(*range.start());
        let nanos = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        *range.start() + Duration::from_nanos(self.number() % nanos.saturating_add(1).max(1))
    }

    /// A number, both ends included.
    pub fn within(&self, range: &RangeInclusive<usize>) -> usize {
        range.start() + self.below(range.end().saturating_sub(*range.start()).saturating_add(1))
    }
}
