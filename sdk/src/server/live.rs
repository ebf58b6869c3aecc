//! What a server offers at the moment, while it may change.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use sansio_mcp::subscription::Change;

use super::ConfigError;
use super::offers::Edit;
use super::registry::Registry;
use crate::engine::{Hub, Listing, contained};
use crate::mode::Mode;

/// The state of what is offered: one registry in place of another. The engine's driver looks at the generation, which takes no
/// lock, and at the registry itself only when that has changed.
pub(crate) struct Live<M: Mode> {
    current: Mutex<Arc<Registry<M>>>,
    /// Its tools, for transports.
    pub(crate) tools: Arc<Listing>,
    /// Of the current registry. Written with the lock held.
    generation: AtomicU64,
    /// Those who are told.
    hub: OnceLock<Weak<Hub>>,
    /// Clients may subscribe to resources.
    tells_of_resources: bool,
    /// The application's state, in an `Arc` of its type, for what is added later.
    state: Option<Arc<M::Value>>,
}

impl<M: Mode> Live<M> {
    pub(super) fn new(registry: Registry<M>, tells_of_resources: bool, state: Option<Arc<M::Value>>) -> Self {
        #[allow(clippy::arc_with_non_send_sync)] // Send in the mode that needs it
        let registry = Arc::new(registry);
        let tools = Arc::new(Listing::default());
        tools.set(registry.offers.listed_tools());
        Self {
            tools,
            current: Mutex::new(registry),
            generation: AtomicU64::new(0),
            hub: OnceLock::new(),
            tells_of_resources,
            state,
        }
    }

    /// Who is to be told of changes from now on.
    pub(crate) fn tell(&self, hub: &Arc<Hub>) {
        let _ = self.hub.set(Arc::downgrade(hub));
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The current registry, and its generation.
    pub(crate) fn current(&self) -> (Arc<Registry<M>>, u64) {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        (Arc::clone(&current), self.generation())
    }

    pub(super) fn state<S: 'static>(&self) -> Option<Arc<S>> {
        M::as_any(self.state.as_deref()?).downcast_ref::<Arc<S>>().cloned()
    }

    /// Takes all steps or none.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub(super) fn update(&self, edits: Vec<Edit<M>>) -> Result<(), ConfigError> {
        let (done, garbage) = {
            let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
            let mut offers = current.offers.clone();
            let applied = edits.iter().try_for_each(|edit| offers.apply(edit));
            let checked = applied.and_then(|()| offers.check(self.tells_of_resources));
            #[allow(clippy::arc_with_non_send_sync)] // Send in the mode that needs it
            let next = Arc::new(current.with(offers));
            match checked {
                Ok(()) => {
                    let changes: Vec<_> = current.offers.changes(&next.offers).collect();
                    if changes.iter().any(|change| matches!(change, Change::Tools)) {
                        self.tools.set(next.offers.listed_tools());
                    }
                    self.generation.fetch_add(1, Ordering::Release);
                    (Ok(changes), std::mem::replace(&mut *current, next))
                }
                Err(fault) => (Err(fault), next),
            }
        };
        // Handlers are the user's, as are their destructors.
        contained(|| drop((edits, garbage)));
        let changes = done?;
        if let Some(hub) = self.hub.get().and_then(Weak::upgrade) {
            hub.offers_changed(&changes);
        }
        Ok(())
    }
}
