//! In memory: a client and a server of the same library, one thread for all, whole calls from the application's
//! arguments to the application's result.
//!
//! **Where an engine plugs in**: implement [`Side`] in a file of its own (see `rmcp_memory.rs`) and name it in
//! [`sides`].

use crate::harness::{Side, Wrong};
use crate::ours_memory::OursMemory;
use crate::rmcp_memory::{Lifecycle, RmcpMemory};

/// The sides of this measurement; the first is the measure for the others.
pub fn sides() -> Result<Vec<Box<dyn Side>>, Wrong> {
    Ok(vec![
        Box::new(RmcpMemory::start(Lifecycle::Initialize)?),
        Box::new(RmcpMemory::start(Lifecycle::Discover)?),
        Box::new(OursMemory::start()?),
    ])
}

/// Checks one call's progress notifications: 1 to the last, in order, nothing between and nothing after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgressCheck {
    seen: u32,
    wrong: bool,
}

impl ProgressCheck {
    /// Takes one notification.
    pub fn note(&mut self, progress: f64, total: Option<f64>, message: Option<&str>) {
        self.seen += 1;
        self.wrong |= progress.to_bits() != f64::from(self.seen).to_bits()
            || total.map(f64::to_bits) != Some(f64::from(crate::load::PROGRESS_STEPS).to_bits())
            || message != Some(crate::load::PROGRESS_MESSAGE);
    }

    /// How many there were so far.
    pub fn seen(&self) -> u32 {
        self.seen
    }

    /// Whether these were all, and right.
    pub fn complete(&self, wanted: u32) -> Result<(), Wrong> {
        match self {
            Self { wrong: true, .. } => Err(Wrong("progress out of order or with other contents".into())),
            Self { seen, .. } if *seen != wanted => {
                Err(Wrong(format!("{seen} progress notifications, not {wanted}")))
            }
            Self { .. } => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{PROGRESS_MESSAGE, PROGRESS_STEPS};

    fn noted(steps: impl IntoIterator<Item = u32>) -> ProgressCheck {
        let mut check = ProgressCheck::default();
        for step in steps {
            check.note(
                f64::from(step),
                Some(f64::from(PROGRESS_STEPS)),
                Some(PROGRESS_MESSAGE),
            );
        }
        check
    }

    #[test]
    fn progress_has_to_be_complete_and_in_order() {
        assert!(noted(1..=PROGRESS_STEPS).complete(PROGRESS_STEPS).is_ok());
        assert!(noted(1..PROGRESS_STEPS).complete(PROGRESS_STEPS).is_err());
        assert!(
            noted((1..=PROGRESS_STEPS).rev())
                .complete(PROGRESS_STEPS)
                .is_err()
        );
        assert!(
            noted([1, 3, 2, 4, 5, 6, 7, 8, 9, 10])
                .complete(PROGRESS_STEPS)
                .is_err()
        );
    }
}
