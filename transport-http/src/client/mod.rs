//! Clients over HTTP (basic/transports/streamable-http), of servers of revision 2026-07-28.

mod answer;
mod body;
mod credentials;
mod driver;
mod endpoint;
mod era;
mod failure;
mod head;
#[cfg(any(feature = "smol", feature = "tokio"))]
mod net;
mod options;
mod post;
mod refresh;
mod set;
#[cfg(feature = "smol")]
pub mod smol;
mod spawn;
#[cfg(feature = "tokio")]
pub mod tokio;
mod tools;

use std::error::Error;
use std::future::Future;
use std::sync::Arc;

use http::{Request, Response};
use http_body::Body;
use sansio_mcp_sdk::client::{Client, ClientSetup};
use sansio_mcp_sdk::clock::Clock;
use tower_service::Service;

pub use body::RequestBody;
pub use credentials::{Bearer, Credentials, CredentialsError, Refusal, Verdict, Working};
pub use driver::Driver;
pub use endpoint::{Endpoint, UrlError};
pub use era::{Era, LegacyServer, detect};
pub use failure::code;
#[cfg(any(feature = "smol", feature = "tokio"))]
pub use net::{ConnectError, Exchange, HttpDriver, Pool, PooledBody};
pub use options::{HttpLimits, Options};
#[cfg(feature = "smol")]
pub use smol::{connect, connect_with};

/// An error of what is below: any.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Makes a client of the server at a URL and the future that moves its messages, over any HTTP client that is a
/// [`Service`]: for tests, or to stand on something else than [`hyper`].
///
/// The service is cloned for requests that it does not take at once. Dropping the future of a response, or its body, has to
/// close the stream: so requests are abandoned.
pub fn connect_on<S, F, B>(
    service: S,
    endpoint: Endpoint,
    setup: impl Into<ClientSetup>,
    options: Options,
    clock: Arc<dyn Clock>,
) -> (Client, Driver<S, F, B>)
where
    S: Service<Request<RequestBody>, Response = Response<B>, Future = F> + Clone,
    S::Error: Into<BoxError>,
    F: Future<Output = Result<Response<B>, S::Error>>,
    B: Body,
    B::Error: Into<BoxError>,
{
    connect_spawning(service, endpoint, setup.into(), options, clock, spawn::Spawned::default())
}

fn connect_spawning<S, F, B>(
    service: S,
    endpoint: Endpoint,
    setup: ClientSetup,
    options: Options,
    clock: Arc<dyn Clock>,
    spawned: spawn::Spawned,
) -> (Client, Driver<S, F, B>)
where
    S: Service<Request<RequestBody>, Response = Response<B>, Future = F> + Clone,
    S::Error: Into<BoxError>,
    F: Future<Output = Result<Response<B>, S::Error>>,
    B: Body,
    B::Error: Into<BoxError>,
{
    let (client, connection) = Client::connect(setup.over_streams(), clock);
    (client, Driver::new(connection, service, endpoint, options, spawned))
}
