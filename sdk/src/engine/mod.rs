//! The engine: admission, handlers and channels of one process.

mod call;
mod channel;
mod connection;
mod driver;
mod flow;
mod hub;
mod publish;
mod requests;
mod rounds;
mod sealing;
mod signal;
mod tools;
mod values;
mod watch;
mod work;

use std::sync::Arc;
use std::time::Duration;

pub(crate) use call::{Call, Cleanup};
pub use connection::{Connection, Exchange, ExchangeOptions, Filled, Framing};
pub use driver::Driver;
pub use hub::Facts;
pub(crate) use hub::Hub;
pub(crate) use rounds::Asker;
pub(crate) use sealing::Sealing;
pub use sealing::SystemEntropy;
pub use signal::Cancelled;
#[cfg(feature = "blocking")]
pub(crate) use signal::Outstanding;
pub(crate) use tools::Listing;
pub use tools::Tools;
pub(crate) use work::{Work, contained};

use sansio_mcp::misuse::Misuse;
use sansio_mcp::subscription::Change;

use crate::clock::Clock;
use crate::mode::Mode;
use crate::server::{ConfigError, Server};

/// How long what nobody waits for any more may take, and how much there may be of what takes no slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// One clean-up.
    pub(crate) cleanup: Duration,
    /// One clean-up, while shutting down.
    pub(crate) closing: Duration,
    /// Everything, from the shutdown on.
    pub(crate) total: Duration,
    /// Subscriptions on all channels.
    pub(crate) subscriptions: usize,
}

impl Bounds {
    /// # Errors
    /// Names the bound that is zero.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if self.cleanup.is_zero() || self.closing.is_zero() {
            return Err(ConfigError::new(
                "cleanup_bounds",
                "are zero: no clean-up would ever get to its end",
            ));
        }
        if self.total.is_zero() {
            return Err(ConfigError::new("closing_bound", "is zero: nothing would be waited for"));
        }
        Ok(())
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            cleanup: Duration::from_secs(5),
            closing: Duration::from_millis(1500),
            total: Duration::from_secs(3),
            subscriptions: 16_384,
        }
    }
}

/// Owns admission for all channels of a process. Cheap to clone.
pub struct Engine {
    pub(crate) hub: Arc<Hub>,
}

impl Engine {
    /// An engine that serves `server`, and the driver in which its handlers run.
    pub fn new<M: Mode>(server: Server<M>, clock: Arc<dyn Clock>) -> (Self, Driver<M>) {
        let Server { live, config, admission, bounds, sealing, logs, spawn } = server;
        let hub =
            Arc::new(Hub::new(admission, config, sealing, bounds, logs, Arc::clone(&live.tools), clock));
        hub.lock().add_handle();
        live.tell(&hub);
        let driver = Driver::new(Arc::clone(&hub), live, bounds, spawn);
        (Self { hub }, driver)
    }

    /// A channel that all requests share: stdio, sockets, the shared memory pipe.
    pub fn connect(&self) -> Connection {
        Connection::open(&self.hub, None)
    }

    /// As [`connect`](Self::connect), for a caller that the transport has verified: whatever names the principal, the same
    /// bytes on each replica. State that one caller was given opens for no other.
    pub fn connect_as(&self, caller: &[u8]) -> Connection {
        Connection::open(&self.hub, Some(caller.into()))
    }

    /// A stream of one request: an HTTP POST, a stream of the per-request memory pipe.
    pub fn exchange(&self) -> Exchange {
        self.open_exchange(ExchangeOptions::default())
    }

    /// As [`exchange`](Self::exchange), for a caller that the transport has verified; see [`connect_as`](Self::connect_as).
    pub fn exchange_as(&self, caller: &[u8]) -> Exchange {
        self.open_exchange(ExchangeOptions::default().caller(caller))
    }

    /// As [`exchange`](Self::exchange), with all that the transport knows about it.
    pub fn open_exchange(&self, options: ExchangeOptions) -> Exchange {
        Exchange::open(&self.hub, options)
    }

    /// Ends every subscription with its response, and accepts none from here on: the first step of a shutdown that lets
    /// calls finish. [`shutdown`](Self::shutdown) does this and cancels everything else, too.
    pub fn end_subscriptions(&self) {
        self.hub.lock().end_subscriptions();
    }

    /// The clock that it was given.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.hub.clock
    }

    /// Whether it was shut down: what is asked from here on is not served.
    pub fn is_closing(&self) -> bool {
        self.hub.lock().closing
    }

    /// The tools that are offered at the moment, for transports that look into their descriptions.
    pub fn tools(&self) -> Tools {
        self.hub.tools.current()
    }

    /// Differs from [`Tools::generation`] once others are offered. Takes no lock.
    pub fn tools_generation(&self) -> u64 {
        self.hub.tools.generation()
    }

    /// Stops everything: handlers are cancelled, clean-up runs within its bound, the driver completes when all is
    /// over, or at the [closing bound](crate::server::Builder::closing_bound).
    pub fn shutdown(&self) {
        let now = self.hub.now();
        self.hub.lock().shut_down(now);
    }

    /// Something has changed: every subscription that asked for it is told, on every channel. Several changes of the
    /// same thing that a subscriber has not read yet are one to it.
    ///
    /// # Errors
    /// The server has not declared that it tells of this; nobody could have asked for it.
    pub fn publish(&self, change: Change<'_>) -> Result<(), Misuse> {
        self.hub.publish(change)
    }

    /// As [`publish`](Self::publish), for every resource that was asked for and whose URI `matches`.
    ///
    /// # Errors
    /// The server has not declared that resources can be subscribed to.
    pub fn publish_resources(&self, matches: &dyn Fn(&str) -> bool) -> Result<(), Misuse> {
        self.hub.publish_resources(matches)
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
