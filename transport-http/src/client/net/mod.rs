//! Below the driver: hyper on sockets.

mod io;
mod pool;
#[cfg(any(feature = "smol", feature = "tls"))]
mod stream;
pub(super) mod time;
#[cfg(feature = "tls")]
mod tls;

use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};
use sansio_mcp_sdk::client::{Client, ClientSetup};
use sansio_mcp_sdk::clock::Clock;

use super::endpoint::{Endpoint, UrlError};
use super::options::Options;
use super::spawn::Spawned;
use super::{Driver, connect_spawning};

pub(super) use io::{Connected, Connecting, Connector};
pub use pool::{Exchange, Pool, PooledBody};
#[cfg(feature = "smol")]
pub(super) use stream::Io;

/// The driver of a client on [`hyper`].
pub type HttpDriver = Driver<Pool, Exchange, PooledBody>;

/// A client that could not be made. Nothing was sent.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The URL names no server that a client can talk to.
    #[error("{0}")]
    Url(#[from] UrlError),
    /// `https` takes the feature `tls`.
    #[error("this program was built without TLS")]
    NoTls,
    /// TLS cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}

/// Makes a client whose connections `connector` makes, with what it takes for TLS.
pub(super) fn connect_through(
    url: &str,
    setup: ClientSetup,
    options: Options,
    clock: Arc<dyn Clock>,
    connector: impl FnOnce(&Endpoint, Secure) -> Connector,
) -> Result<(Client, HttpDriver), ConnectError> {
    let endpoint: Endpoint = url.parse()?;
    let connector = connector(&endpoint, Secure::new(&endpoint, &options)?);
    let spawned = Spawned::default();
    let pool = Pool::new(connector, &endpoint, &options, Arc::clone(&clock), spawned.clone());
    Ok(connect_spawning(pool, endpoint, setup, options, clock, spawned))
}

/// TLS, if the URL wants it.
#[derive(Clone)]
pub(super) struct Secure {
    #[cfg(feature = "tls")]
    tls: Option<tls::Tls>,
}

impl Secure {
    #[cfg(feature = "tls")]
    fn new(endpoint: &Endpoint, options: &Options) -> Result<Self, ConnectError> {
        let tls =
            || tls::Tls::new(endpoint.host(), options.tls.as_ref(), options.http2).map_err(ConnectError::Tls);
        Ok(Self { tls: endpoint.is_https().then(tls).transpose()? })
    }

    #[cfg(not(feature = "tls"))]
    fn new(endpoint: &Endpoint, _: &Options) -> Result<Self, ConnectError> {
        if endpoint.is_https() { Err(ConnectError::NoTls) } else { Ok(Self {}) }
    }

    /// Shakes hands where TLS is wanted, otherwise gives the stream back.
    #[cfg_attr(not(feature = "tls"), allow(clippy::unused_async))]
    pub(super) async fn shake<T>(&self, stream: T) -> Result<T, Connected>
    where
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            return Err(tls.connect(stream).await);
        }
        Ok(stream)
    }
}
