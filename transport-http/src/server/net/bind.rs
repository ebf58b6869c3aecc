//! Where a server listens, and the hand on it.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use http::Response;
use http::request::Parts;
use sansio_mcp_sdk::clock::Clock;
use sansio_mcp_sdk::server::{ConfigError, Server};
use sansio_mcp_sdk::{Driver, Engine, Mode, Shared};

use super::Common;
use super::stage::{Stage, Stages};
use crate::server::{Config, Facts, Service};

/// A server and where it listens: `http://127.0.0.1:3000/mcp` unless told otherwise.
#[must_use = "nothing listens before it is bound"]
pub struct Endpoint<M: Mode = Shared> {
    server: Server<M>,
    config: Config,
    address: SocketAddr,
    path: String,
    check: Option<Box<Check>>,
}

/// Looks at the head of a request before it is served.
pub(super) type Check = dyn Fn(&mut Parts) -> Result<(), Response<()>> + Send + Sync;

impl<M: Mode> Endpoint<M> {
    /// An endpoint for this server.
    pub fn new(server: Server<M>) -> Self {
        let address = (Ipv4Addr::LOCALHOST, 3000).into();
        Self { server, config: Config::default(), address, path: "/mcp".to_owned(), check: None }
    }

    /// Which form answers have, bounds, which hosts and origins are served.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Where to listen. Port 0 is one that is free. Beyond this machine the [policy](Config::policy) has to list the hosts by which
    /// it is called, and there should be something that knows who calls (basic/transports/streamable-http, "Security & Endpoint").
    pub fn address(mut self, address: impl Into<SocketAddr>) -> Self {
        self.address = address.into();
        self
    }

    /// The path of the endpoint; others are not found.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Looks at the head of every request first: who has checked a token puts a [`Caller`](crate::server::Caller) among its
    /// extensions, or refuses it with a response, such as 401 and `WWW-Authenticate`, which pages of
    /// [listed origins](crate::origin::Policy::allow_origin) may read. It must not block; a request for which it panics is
    /// answered with 500. Whatever takes longer, or wants the response as well, is a layer around the [service](Service).
    ///
    /// A browser's preflight, which never carries a token, is answered without it.
    pub fn check(
        mut self,
        check: impl Fn(&mut Parts) -> Result<(), Response<()>> + Send + Sync + 'static,
    ) -> Self {
        self.check = Some(Box::new(check));
        self
    }

    pub(in crate::server) fn bind<R>(self, clock: Arc<dyn Clock>) -> Result<Bound<R, M>, BindError> {
        let Self { server, config, address, path, check } = self;
        if !path.starts_with('/') {
            return Err(ConfigError::new("path", "does not begin with /").into());
        }
        let limits = config.limits;
        let (engine, driver) = Engine::new(server, Arc::clone(&clock));
        let service = Service::new(engine, config)?;
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let common = Arc::new(Common { service, path: path.into(), check, limits, clock });
        let running = Running { common, driver, stages: Arc::new(Stages::new()) };
        Ok(Bound { listener, address, running, runtime: PhantomData })
    }
}

/// Why nothing listens.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// Something is wrong with the configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The system refuses the address.
    #[error("cannot listen: {0}")]
    Io(#[from] io::Error),
}

/// A server that listens, on the runtime `R`.
#[must_use = "nobody is served before `serve` is polled"]
pub struct Bound<R, M: Mode = Shared> {
    pub(in crate::server) listener: TcpListener,
    address: SocketAddr,
    pub(in crate::server) running: Running<M>,
    runtime: PhantomData<fn() -> R>,
}

/// Everything of a server but its socket.
pub(in crate::server) struct Running<M: Mode> {
    pub(super) common: Arc<Common>,
    pub(super) driver: Driver<M>,
    pub(super) stages: Arc<Stages>,
}

impl<R, M: Mode> Bound<R, M> {
    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// What clients are given.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.running.common.path)
    }

    /// The hand on it, to be kept.
    pub fn handle(&self) -> Handle {
        Handle { common: Arc::clone(&self.running.common), stages: Arc::clone(&self.running.stages) }
    }
}

impl<R, M: Mode> fmt::Debug for Bound<R, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound").field("address", &self.address).finish_non_exhaustive()
    }
}

/// The hand on a server that runs elsewhere. Cheap to clone; dropping it does nothing.
#[derive(Clone)]
pub struct Handle {
    common: Arc<Common>,
    stages: Arc<Stages>,
}

impl Handle {
    /// Begins a shutdown. What is on its way is served, for a tenth of a second; from then on no connection is accepted, no request
    /// is begun, subscriptions end with their response, and calls may finish within
    /// [`Limits::drain_time`](crate::server::Limits::drain_time), then they are cancelled. `serve` completes when everything is
    /// over and written.
    pub fn shutdown(&self) {
        self.stages.advance(Stage::Settling);
    }

    /// Its engine: to publish changes, among others.
    pub fn engine(&self) -> &Engine {
        self.common.service.engine()
    }

    /// What is being served.
    pub fn facts(&self) -> Facts {
        self.common.service.facts()
    }

    /// Connections that are open.
    pub fn connections(&self) -> usize {
        self.stages.connections()
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("facts", &self.facts()).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_listened_to_unless_told_otherwise() {
        let server = Server::shared("shop", "1").build().expect("a server");
        let endpoint = Endpoint::new(server);
        assert_eq!(endpoint.address, SocketAddr::from(([127, 0, 0, 1], 3000)));
        let told = endpoint.address(([0, 0, 0, 0], 80));
        assert_eq!(told.address, SocketAddr::from(([0, 0, 0, 0], 80)));
    }
}
