//! The values of one request's own context.

use std::any::Any;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::work::contained;
use crate::mode::Mode;

/// What a transport has attached to a channel.
pub(crate) type Attached = Arc<dyn Any + Send + Sync>;

/// What the context hook, layers and handlers have set for one request. Nothing is allocated before the first.
pub(super) struct Values<M: Mode> {
    /// Those that may leave their thread: a blocking body sees and sets the same.
    shared: OnceLock<Arc<Common>>,
    /// Those that may not.
    own: Mutex<Vec<Arc<M::Value>>>,
}

#[derive(Default)]
struct Common(Mutex<Vec<Arc<dyn Any + Send + Sync>>>);

impl<M: Mode> Default for Values<M> {
    fn default() -> Self {
        Self { shared: OnceLock::new(), own: Mutex::default() }
    }
}

impl<M: Mode> Values<M> {
    /// The same values, for another thread.
    #[cfg(feature = "blocking")]
    pub(super) fn twin(&self) -> Values<crate::mode::Shared> {
        let twin = Values::default();
        let _ = twin.shared.set(Arc::clone(self.shared.get_or_init(Arc::default)));
        twin
    }

    pub(super) fn set(&self, value: Arc<dyn Any + Send + Sync>) {
        let shared = self.shared.get_or_init(Arc::default);
        shared.0.lock().unwrap_or_else(PoisonError::into_inner).push(value);
    }

    pub(super) fn set_own(&self, value: Arc<M::Value>) {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).push(value);
    }

    pub(super) fn get<T: Any + Clone>(&self) -> Option<T> {
        // Cloned once no lock is held: that is the user's code.
        let own = {
            let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
            own.iter().rev().find(|value| M::as_any(value).is::<T>()).cloned()
        };
        if let Some(own) = own {
            return M::as_any(&own).downcast_ref::<T>().cloned();
        }
        let shared = {
            let shared = self.shared.get()?.0.lock().unwrap_or_else(PoisonError::into_inner);
            shared.iter().rev().find(|value| value.is::<T>()).cloned()
        };
        shared?.downcast_ref::<T>().cloned()
    }
}

impl<M: Mode> Drop for Values<M> {
    /// They are the user's: their panics are contained.
    fn drop(&mut self) {
        let own = std::mem::take(self.own.get_mut().unwrap_or_else(PoisonError::into_inner));
        for value in own {
            contained(|| drop(value));
        }
    }
}

impl Drop for Common {
    fn drop(&mut self) {
        for value in std::mem::take(self.0.get_mut().unwrap_or_else(PoisonError::into_inner)) {
            contained(|| drop(value));
        }
    }
}
