//! What admission may use, and where these numbers come from.

use crate::config::ConfigError;

/// Default for [`AdmissionLimits::slots`]. Handlers mostly wait for something else, so this is well above the
/// number of processors, and still low enough that a database or service behind them keeps up.
pub const DEFAULT_SLOTS: usize = 64;

/// Default for [`AdmissionLimits::queue`]. Sixteen rounds of the default slots: with handlers of a second the last in the
/// queue waits a quarter of a minute, which most clients still sit out. At less than 200 bytes a ticket this is 200 kB.
pub const DEFAULT_QUEUE: usize = 1024;

/// Default for [`AdmissionLimits::again`]: as many as one channel may have in flight, so that one client alone does not meet it.
pub const DEFAULT_AGAIN: usize = 16_384;

/// How much is let in at once, and how much may wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct AdmissionLimits {
    /// Tickets, at the gate or running, at one time. Cancelled work counts until it is really over. At least one.
    /// When all are in use, newcomers wait.
    pub slots: usize,
    /// Tickets that may wait at one time, for a slot or in a lane. Zero means that nothing ever waits. When it is
    /// reached, newcomers are refused as [`Busy`](super::Busy); see
    /// [`Admission`](super::Admission#what-is-bounded) for the exact bound.
    pub queue: usize,
    /// Tickets of [`enter_again`](super::Admission::enter_again) that may wait beyond `queue`. Only past that is one of them
    /// refused: each is the answer of a person, but the same state can be sent many times.
    pub again: usize,
}

impl AdmissionLimits {
    /// So many slots, and so many that may wait.
    pub const fn new(slots: usize, queue: usize) -> Self {
        Self { slots, queue, again: DEFAULT_AGAIN }
    }

    pub(super) fn check(self) -> Result<Self, ConfigError> {
        if self.slots == 0 {
            return Err(ConfigError::new("slots", "is zero: nothing could ever run"));
        }
        Ok(self)
    }
}

impl Default for AdmissionLimits {
    fn default() -> Self {
        Self::new(DEFAULT_SLOTS, DEFAULT_QUEUE)
    }
}
