//! What admission may use, and where these numbers come from.

/// Default for [`AdmissionLimits::slots`]. Handlers mostly wait for something else, so this is well above the
/// number of processors, and still low enough that a database or service behind them keeps up.
pub const DEFAULT_SLOTS: usize = 64;

/// Default for [`AdmissionLimits::queue`]. Sixteen rounds of the default slots: with handlers of a second the last in the
/// queue waits a quarter of a minute, which most clients still sit out. At less than 200 bytes a ticket this is 200 kB.
pub const DEFAULT_QUEUE: usize = 1024;

/// How much is let in at once, and how much may wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AdmissionLimits {
    /// Tickets, at the gate or running, at one time. Cancelled work counts until it is really over. At least one.
    /// When all are in use, newcomers wait.
    pub slots: usize,
    /// Tickets that may wait at one time, for a slot or in a lane. Zero means that nothing ever waits. When it is
    /// reached, newcomers are refused as [`Busy`](super::Busy); see
    /// [`Admission`](super::Admission#what-is-bounded) for the exact bound.
    pub queue: usize,
}

impl AdmissionLimits {
    pub(super) fn check(self) -> Result<Self, ConfigError> {
        if self.slots == 0 { Err(ConfigError::ZeroSlots) } else { Ok(self) }
    }
}

impl Default for AdmissionLimits {
    fn default() -> Self {
        Self { slots: DEFAULT_SLOTS, queue: DEFAULT_QUEUE }
    }
}

/// Limits that cannot work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// [`AdmissionLimits::slots`] is zero: nothing could ever run.
    #[error("`slots` must be at least 1, or nothing could ever run")]
    ZeroSlots,
}
