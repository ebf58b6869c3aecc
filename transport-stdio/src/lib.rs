//! The stdio transport (basic/transports/stdio): one JSON-RPC message a line over a pair of byte streams.
//!
//! [`serve`] is a whole server process on its own stdin and stdout; [`serve_on`] serves any
//! [`futures_io`] reader and writer, and [`connect_on`] is the client's side of the same. Many lines travel in
//! one system call in both directions.
//!
//! # The end of a server
//!
//! The end of input is a half-close: requests that were accepted may still finish for 1.5 s, then they are
//! cancelled; their clean-up runs, each bounded by another 1.5 s; then [`serve`] returns. It returns 3 s after the
//! cancellation in any case, also if a blocking handler never returns: see `Builder::closing_bound`. Some hosts
//! terminate a server two seconds after they closed its stdin: clean-up that needs longer than half a second
//! should not count on more.
#![forbid(unsafe_code)]

#[cfg(feature = "smol")]
mod clock;
mod connect;
#[cfg(feature = "smol")]
mod own;
mod serve;

#[cfg(feature = "smol")]
pub use clock::SystemClock;
pub use connect::connect_on;
#[cfg(feature = "smol")]
pub use own::serve;
pub use serve::{LINE_LIMIT, serve_engine, serve_on};

/// The README's examples, compiled.
#[cfg(all(doctest, feature = "smol"))]
#[doc = include_str!("../../README.md")]
pub struct Readme;
