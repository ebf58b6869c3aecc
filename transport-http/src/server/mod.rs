//! The server: a [`tower`](tower_service) service that serves each POST as one exchange of an engine, and hyper around it.
//!
//! [`Service`] needs no runtime: it polls the request's body and its engine, and takes the time from the engine's clock. It can be
//! mounted wherever `http` types are: in axum beside other routes and under any layers, or on sockets by the modules `smol` and
//! `tokio`, each behind the feature of its name.
//!
//! ```
//! # use std::sync::Arc;
//! use sansio_mcp_http::server::{Config, Service};
//! use sansio_mcp_sdk::Engine;
//! use sansio_mcp_sdk::server::{Context, NoArguments, Server};
//! # fn any_clock() -> Arc<dyn sansio_mcp_sdk::clock::Clock> { Arc::new(sansio_mcp_memory::VirtualClock::new()) }
//!
//! let server = Server::shared("hello", "1")
//!     .tool("hello", async |_: NoArguments, cx: Context| {
//!         // The head of the request, as a middleware left it.
//!         let agent = cx.get::<http::request::Parts>().and_then(|head| head.headers.get("user-agent").cloned());
//!         Ok(format!("hello {agent:?}"))
//!     })
//!     .build()?;
//! let (engine, driver) = Engine::new(server, any_clock());
//! let service = Service::new(engine, Config::new())?;
//! // Spawn the driver; handlers live in it. Mount the service.
//! # drop((driver, service));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What a request goes through
//!
//! | step | refused with |
//! | --- | --- |
//! | `Host`, `Origin` | 403 |
//! | `OPTIONS` of a listed origin is answered with 204; other methods than POST | 405 |
//! | `Accept`, `Content-Type` | 406, 415 |
//! | as many requests as may be, or shutting down | 503 |
//! | its body, within size and time | 413, 408, 503 |
//! | a message | 400, -32700 or -32600 |
//! | headers that repeat it | 400, -32020 or -32022 |
//! | the engine | 200, 400, 404 or 503 and its error |
//!
//! A notification is answered with 202. When the response or its body is dropped, because the client has gone, the request is
//! cancelled and its clean-up runs in the engine's driver.

mod body;
mod caller;
mod config;
mod future;
mod limits;
#[cfg(any(feature = "smol", feature = "tokio"))]
mod net;
mod open;
mod refusal;
mod rules;
mod service;
#[cfg(feature = "smol")]
pub mod smol;
mod stream;
#[cfg(feature = "tokio")]
pub mod tokio;
mod turn;

pub use body::{Body, BodyError};
pub use caller::Caller;
pub use config::{Config, Mode};
pub use future::ResponseFuture;
pub use limits::Limits;
#[cfg(any(feature = "smol", feature = "tokio"))]
pub use net::{BindError, Bound, Endpoint, Handle};
pub use open::{Facts, Idle};
pub use service::Service;
