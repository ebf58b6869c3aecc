//! How continuation state is sealed and opened.

use std::sync::OnceLock;
use std::time::Duration;

use sansio_mcp::limits::STATE_LIFE;
use sansio_mcp::server::Request;
use sansio_mcp::server::continuation::{
    Bound, Continuation, Entropy, KeyRing, NoEntropy, OpenError, SealError, SealKey, Sealer, StateRefused,
    open_state, seal_state,
};
use sansio_mcp::time::Now;

use super::work::contained;

pub(crate) struct Sealing {
    sealer: OnceLock<Box<dyn Sealer + Send + Sync>>,
    pub(crate) life: Duration,
}

impl Default for Sealing {
    fn default() -> Self {
        Self { sealer: OnceLock::new(), life: STATE_LIFE }
    }
}

/// Why state that came in does not open.
pub(super) enum NotOpened {
    Refused(StateRefused),
    /// The application's sealer panicked.
    Panicked,
}

impl Sealing {
    pub(crate) fn set(&mut self, sealer: Box<dyn Sealer + Send + Sync>) {
        self.sealer = OnceLock::from(sealer);
    }

    /// The configured keys, or else a key of this process's own.
    fn sealer(&self) -> &(dyn Sealer + Send + Sync) {
        &**self.sealer.get_or_init(|| match SealKey::random(&SystemEntropy) {
            Ok(key) => {
                tracing::info!(
                    code = "OWN_STATE_KEY",
                    "no state keys are configured: questions go on in this process alone, until it ends"
                );
                Box::new(KeyRing::new(key, SystemEntropy))
            }
            Err(NoEntropy) => Box::new(NoKey),
        })
    }

    pub(super) fn seal(
        &self,
        bound: &Bound,
        continuation: &Continuation,
        now: Now,
    ) -> Result<String, SealError> {
        let sealed = contained(|| seal_state(self.sealer(), bound, continuation, now, self.life));
        sealed.unwrap_or(Err(NoEntropy.into()))
    }

    /// The state that a request brings along, with its answers taken.
    pub(super) fn open(
        &self,
        request: &Request,
        state: &str,
        caller: &[u8],
        now: Now,
    ) -> Result<Continuation, NotOpened> {
        let bound = Bound::of(request, caller);
        let opened = contained(|| open_state(self.sealer(), state, &bound, now));
        let mut continuation = opened.ok_or(NotOpened::Panicked)?.map_err(NotOpened::Refused)?;
        if let Some(responses) = request.input_responses() {
            continuation.absorb(responses);
        }
        Ok(continuation)
    }
}

/// Random bytes of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, out: &mut [u8]) -> Result<(), NoEntropy> {
        getrandom::fill(out).map_err(|_| NoEntropy)
    }
}

/// Without randomness there is no key.
struct NoKey;

impl Sealer for NoKey {
    fn seal(&self, _: &[u8]) -> Result<String, SealError> {
        Err(NoEntropy.into())
    }

    fn open(&self, _: &str) -> Result<Vec<u8>, OpenError> {
        Err(OpenError::UnknownKey)
    }
}
