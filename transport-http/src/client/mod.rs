//! Clients over HTTP (basic/transports/streamable-http), of servers of revision 2026-07-28.
//!
//! `connect` of the modules `smol` and `tokio`, each behind the feature of its name, takes a URL and gives the application's
//! [`Client`] and a [`Driver`], the future that moves its messages. The driver polls everything there is, connections too:
//! nothing is spawned. [`connect_on`] does the same on any HTTP client that is a [`Service`].
//!
#![cfg_attr(feature = "smol", doc = "```no_run")]
#![cfg_attr(not(feature = "smol"), doc = "```ignore")]
//! use sansio_mcp_http::client::{self, Bearer, Options};
//! use sansio_mcp_sdk::client::Client;
//! use sansio_mcp_sdk::model::Implementation;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let setup = Client::builder(Implementation::new("host", "1")).build()?;
//! let options = Options::new().credentials(Bearer::new("secret")?);
//! let (client, driver) = client::connect_with("https://example.com/mcp", setup, options)?;
//! ::smol::spawn(driver).detach();
//! ::smol::block_on(async {
//!     let result = client.call_tool("import", &serde_json::json!({"path": "a.csv"})).await?;
//!     println!("{}", result.first_text().unwrap_or_default());
//!     Ok(())
//! })
//! # }
//! ```
//!
//! # What a request is
//!
//! Each is a POST and a small task of its own, so that giving one up closes its stream at once, before the first byte of the server
//! too, and a stream that is slow or not read is in nobody's way. At most [`HttpLimits::posts`] are under way at a time;
//! subscriptions do not count.
//!
//! Arguments that a tool's schema marks with `x-mcp-header` are repeated in headers, by what the lists of tools say that came
//! over this client. A call of a tool that was in none is sent without: a server that wants headers refuses it (-32020), then
//! the list is read and the call sent once more, as it is after the list has changed. Tools with invalid annotations are left
//! out of every list, with a warning in the log.
//!
//! # What is no answer
//!
//! It fails its call at once: with [`CallError::Lost`](sansio_mcp_sdk::client::CallError::Lost) if the connection or stream
//! was, and otherwise with [`CallError::Transport`](sansio_mcp_sdk::client::CallError::Transport) and one of these [codes](code):
//!
//! | code | what came |
//! | --- | --- |
//! | `NO_ANSWER` | 202, 204, another media type than the two, an empty body |
//! | `BAD_ANSWER` | no message, or none that answers the request |
//! | `TOO_LARGE` | more than [`HttpLimits`] allow |
//! | `UNAUTHORIZED`, `FORBIDDEN` | 401, 403, after [`Credentials`] had their say |
//! | `SERVER_BUSY` | 503 or 429; [busy](sansio_mcp_sdk::client::CallError::is_busy), with the hint of `Retry-After` in seconds |
//! | `REDIRECTED` | a redirection, which is not followed |
//! | `HTTP_STATUS` | another status of failure |
//! | `LEGACY_SERVER` | an answer to `server/discover` that only earlier revisions give; see [`detect`] |
//! | `UNSENDABLE`, `CREDENTIALS` | nothing: the request was not sent, because a header cannot repeat what it has to, or for want of credentials |
//!
//! An error of the protocol is the answer whatever its status is. A call whose connection was lost may have run.
//!
//! Subscriptions end when their stream does; [`Client::relisten`] opens them again.

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
