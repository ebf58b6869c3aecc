//! Giving a call up from somewhere else than where it is awaited.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use sansio_mcp::id::CallId;

use super::shared::Shared;

/// Gives a [`Call`](super::Call) up, from any task or thread. Cheap to clone; holds neither the call nor the connection.
#[derive(Clone, Default)]
pub struct Canceller {
    fate: Arc<Mutex<Fate>>,
}

#[derive(Default)]
enum Fate {
    /// The call was not made yet.
    #[default]
    Awaited,
    /// It was made: its slot, and what it is there.
    Made(std::sync::Weak<Shared>, u32, CallId),
    /// It was given up before it was made, or it is over.
    Over,
}

impl Canceller {
    /// Gives the call up: whoever awaits it gets [`CallError::Cancelled`](super::CallError::Cancelled), unless it had
    /// ended before. A server that knows of the call is told the reason. One that was not made yet is not made.
    pub fn cancel(&self, reason: &str) {
        let made = {
            let mut fate = self.lock();
            mem::replace(&mut *fate, Fate::Over)
        };
        if let Fate::Made(shared, slot, call) = made
            && let Some(shared) = shared.upgrade()
        {
            shared.cancel_call(slot, call, reason);
        }
    }

    /// The call is to be made: false if it was given up.
    pub(super) fn may_be_made(&self) -> bool {
        matches!(*self.lock(), Fate::Awaited)
    }

    /// The call was made: false if it was given up meanwhile.
    pub(super) fn made(&self, shared: &Arc<Shared>, slot: u32, call: CallId) -> bool {
        let mut fate = self.lock();
        let awaited = matches!(*fate, Fate::Awaited);
        if awaited {
            *fate = Fate::Made(Arc::downgrade(shared), slot, call);
        }
        awaited
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Fate> {
        self.fate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Canceller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Canceller").finish_non_exhaustive()
    }
}
