//! The Model Context Protocol over Streamable HTTP (revision 2026-07-28, basic/transports/streamable-http).
//!
//! The module `server` (feature `server`) serves an engine: as a `tower` service over `http` types, wherever these are spoken, and on
//! sockets of its own, with hyper, on smol or tokio.
//! The module `client` (feature `client`) is the other side: a client of a URL, on hyper or on any HTTP client that is a service.
//!
//! The rules of the binding are pure functions, without sockets, an HTTP implementation or an executor:
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`origin`] | who may send requests, and what browsers are told |
//! | [`accept`] | which form a body has, and which forms a client takes |
//! | [`mirror`] | which headers repeat what of the body, and whether they do |
//! | [`status`] | which status an answer or a refusal has, and what a client makes of it |
//! | [`sse`] | how events are written and read |
//!
//! A server's POST goes through them like this:
//!
//! ```
//! use http::{Request, StatusCode};
//! use sansio_mcp::wire::Envelope;
//! use sansio_mcp_http::{accept, mirror, origin, status};
//!
//! # let rules = mirror::ParamHeaders::default();
//! # let policy = origin::Policy::default();
//! let request = Request::post("/mcp")
//!     .header("Host", "localhost:3000")
//!     .header("Accept", "application/json, text/event-stream")
//!     .header("Content-Type", "application/json")
//!     .header("MCP-Protocol-Version", "2026-07-28")
//!     .header("Mcp-Method", "tools/list")
//!     .body(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}}"#)?;
//!
//! let head = request.headers();
//! policy.admit(head, request.uri().authority())?;
//! status::require_post(request.method())?;
//! let forms = accept::accepted(head)?;
//! accept::require_json(head)?;
//! let envelope = Envelope::parse(request.body().as_bytes())?;
//! let refusal = mirror::validate(head, &envelope, |_tool| Some(&rules)).unwrap_err();
//! assert_eq!((refusal.status(), refusal.code()), (StatusCode::BAD_REQUEST, -32020));
//! # assert!(forms.json && forms.events);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

/// The types of heads that are judged here.
pub use http;

pub mod accept;
#[cfg(feature = "client")]
pub mod client;
mod headers;
pub mod mirror;
pub mod origin;
#[cfg(feature = "server")]
pub mod server;
pub mod sse;
pub mod status;
#[cfg(any(
    all(feature = "server", any(feature = "smol", feature = "tokio")),
    all(feature = "client", any(feature = "smol", feature = "tls"))
))]
mod turn;
