//! The engine: admission, handlers and channels of one process.

mod call;
mod channel;
mod connection;
mod driver;
mod hub;
mod requests;
mod signal;
mod watch;
mod work;

use std::sync::Arc;
use std::time::Duration;

pub(crate) use call::{Call, Cleanup};
pub use connection::{Connection, Exchange};
pub use driver::Driver;
pub use hub::Facts;
pub(crate) use hub::Hub;
pub use signal::Cancelled;
#[cfg(feature = "blocking")]
pub(crate) use signal::Outstanding;
pub(crate) use work::Work;
#[cfg(feature = "blocking")]
pub(crate) use work::contained;

use crate::clock::Clock;
use crate::mode::Mode;
use crate::server::Server;

/// How long clean-up may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) cleanup: Duration,
    pub(crate) closing: Duration,
}

/// Owns admission for all channels of a process. Cheap to clone.
pub struct Engine {
    hub: Arc<Hub>,
}

impl Engine {
    /// An engine that serves `server`, and the driver in which its handlers run.
    pub fn new<M: Mode>(server: Server<M>, clock: Arc<dyn Clock>) -> (Self, Driver<M>) {
        let Server { registry, config, admission, bounds, spawn } = server;
        let hub = Arc::new(Hub::new(admission, config, clock));
        hub.lock().add_handle();
        let driver = Driver::new(Arc::clone(&hub), registry, bounds, spawn);
        (Self { hub }, driver)
    }

    /// A channel that all requests share: stdio, sockets, the shared memory pipe.
    pub fn connect(&self) -> Connection {
        Connection::open(Arc::clone(&self.hub))
    }

    /// A stream of one request: an HTTP POST, a stream of the per-request memory pipe.
    pub fn exchange(&self) -> Exchange {
        Exchange::open(Arc::clone(&self.hub))
    }

    /// Stops everything: handlers are cancelled, clean-up runs within its bound, the driver completes.
    pub fn shutdown(&self) {
        let now = self.hub.now();
        self.hub.lock().shut_down(now);
    }

    /// What it is doing.
    pub fn facts(&self) -> Facts {
        self.hub.facts()
    }
}

impl Clone for Engine {
    fn clone(&self) -> Self {
        self.hub.lock().add_handle();
        Self { hub: Arc::clone(&self.hub) }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.hub.lock().drop_handle();
    }
}
