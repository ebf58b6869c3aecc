//! Which tools are offered, for transports that look into their descriptions.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sansio_mcp::model::Tool;

/// The tools that were offered at one moment.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Tools {
    /// Differs from that of every other state.
    pub generation: u64,
    /// In the order of the list.
    pub tools: Arc<[Arc<Tool>]>,
}

/// The current ones. Knows nothing of handlers, which may have to stay on their thread.
#[derive(Default)]
pub(crate) struct Listing {
    tools: Mutex<Arc<[Arc<Tool>]>>,
    /// Written with the lock held.
    generation: AtomicU64,
}

impl Listing {
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    pub(crate) fn current(&self) -> Tools {
        let tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        Tools { generation: self.generation(), tools: Arc::clone(&tools) }
    }

    pub(crate) fn set(&self, new: impl Iterator<Item = Arc<Tool>>) {
        let new = new.collect();
        let old = {
            let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
            self.generation.fetch_add(1, Ordering::Release);
            std::mem::replace(&mut *tools, new)
        };
        drop(old);
    }
}
