//! What lies between a client and a server.

use std::ops::RangeInclusive;
use std::time::Duration;

use sansio_mcp::client::Routing;

use super::dice::Dice;

/// One direction of a stream.
#[derive(Clone, Debug)]
#[must_use = "it says how a link behaves"]
pub struct Way {
    pub(super) delay: RangeInclusive<Duration>,
    pub(super) pieces: Option<RangeInclusive<usize>>,
    pub(super) stall: Option<(u64, Duration)>,
    pub(super) cut: Option<u64>,
}

impl Default for Way {
    fn default() -> Self {
        Self { delay: Duration::ZERO..=Duration::ZERO, pieces: None, stall: None, cut: None }
    }
}

impl Way {
    /// Everything arrives at once, as it was written.
    pub fn clear() -> Self {
        Self::default()
    }

    /// What was taken arrives so much later. Bytes stay in order, and what is written in the meantime is taken together:
    /// delay is what merges writes.
    pub fn delay(mut self, time: RangeInclusive<Duration>) -> Self {
        self.delay = time;
        self
    }

    /// What was taken arrives in pieces of so many bytes, each of them with a delay of its own.
    pub fn pieces(mut self, bytes: RangeInclusive<usize>) -> Self {
        self.pieces = Some(bytes);
        self
    }

    /// After so many bytes nothing is taken for so long: to whoever writes, the other end does not read.
    pub fn stall(mut self, after: u64, time: Duration) -> Self {
        self.stall = Some((after, time));
        self
    }

    /// After so many bytes the stream is cut, in both directions. What has arrived can still be read.
    pub fn cut(mut self, after: u64) -> Self {
        self.cut = Some(after);
        self
    }

    /// Some of all this, as the dice say. One in five is cut within its first 4,000 bytes, one in four stalls for up to half
    /// a minute.
    pub fn rough(dice: &Dice) -> Self {
        let mut way = Self::clear();
        if !dice.one_in(3) {
            way = way.delay(Duration::ZERO..=Duration::from_millis(1 << dice.below(9)));
        }
        if !dice.one_in(3) {
            way = way.pieces(1..=1 << dice.below(10));
        }
        if dice.one_in(4) {
            let time = dice.time(&(Duration::from_millis(1)..=Duration::from_secs(30)));
            way = way.stall(dice.number() % 2000, time);
        }
        if dice.one_in(5) {
            way = way.cut(dice.number() % 4000);
        }
        way
    }
}

/// How a client reaches a server.
#[derive(Clone, Debug)]
#[must_use = "it says how a client reaches a server"]
pub struct Link {
    pub(super) routing: Routing,
    pub(super) capacity: usize,
    pub(super) ways: Option<(Way, Way)>,
}

impl Link {
    /// One channel for everything, as over stdio, through which all arrives at once.
    pub fn shared() -> Self {
        Self { routing: Routing::Shared, capacity: 64 * 1024, ways: Some((Way::clear(), Way::clear())) }
    }

    /// A stream for each request, as over HTTP, through which all arrives at once. A request is abandoned by closing
    /// its stream.
    pub fn per_request() -> Self {
        Self { routing: Routing::PerRequest, ..Self::shared() }
    }

    /// Bytes that each end of each direction holds before its writer has to wait; 64 KiB unless said otherwise.
    pub fn capacity(mut self, bytes: usize) -> Self {
        self.capacity = bytes;
        self
    }

    /// How every stream carries what the client writes, and what the server writes.
    pub fn ways(mut self, up: Way, down: Way) -> Self {
        self.ways = Some((up, down));
        self
    }

    /// Every stream has [ways that the dice decide](Way::rough).
    pub fn rough(mut self) -> Self {
        self.ways = None;
        self
    }

    pub(super) fn drawn(&self, dice: &Dice) -> (Way, Way) {
        self.ways.clone().unwrap_or_else(|| (Way::rough(dice), Way::rough(dice)))
    }
}
