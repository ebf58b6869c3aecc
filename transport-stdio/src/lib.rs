//! The stdio transport (basic/transports/stdio): one JSON-RPC message a line over a pair of byte streams.
//!
//! [`serve_on`] serves any [`futures_io`] reader and writer on any executor, and [`connect_on`] is the client's side of the
//! same. The runnable parts come three times, each by a feature, in any combination:
//!
//! | feature | module | runs on |
//! | --- | --- | --- |
//! | `smol`, the default | [`smol`], and this one | any executor, smol's reactor |
//! | `tokio` | `tokio` | a tokio runtime of either kind |
//! | `threads` | `threads` | plain threads |
//!
//! Each has `serve`, a whole server process on its own stdin and stdout; `launch`, a client of a server that it starts as a
//! child process; `serve_unix` and `connect_unix`, the same lines over Unix sockets; and a `SystemClock`. Many lines travel in
//! one system call in both directions.
//!
//! # The end of a server
//!
//! The end of input is a half-close: requests that were accepted may still finish for 1.5 s, then they are
//! cancelled; their clean-up runs, each bounded by another 1.5 s; then `serve` returns. It returns 3 s after the
//! cancellation in any case, also if a blocking handler never returns: see `Builder::closing_bound`. Some hosts
//! terminate a server two seconds after they closed its stdin: clean-up that needs longer than half a second
//! should not count on more. A server launched here has 5 s unless [`Launch`] says otherwise.
#![forbid(unsafe_code)]

mod connect;
mod serve;
#[cfg(feature = "smol")]
pub mod smol;
#[cfg(any(feature = "smol", feature = "tokio", feature = "threads"))]
mod system;
#[cfg(feature = "threads")]
pub mod threads;
#[cfg(feature = "tokio")]
pub mod tokio;

pub use connect::connect_on;
pub use serve::{LINE_LIMIT, serve_engine, serve_on};
#[cfg(feature = "smol")]
pub use smol::{SystemClock, launch, serve};
#[cfg(all(unix, feature = "smol"))]
pub use smol::{connect_unix, serve_unix};
#[cfg(any(feature = "smol", feature = "tokio", feature = "threads"))]
pub use system::child::{Ended, Launch, Running, Stderr, Stopped};
#[cfg(all(unix, any(feature = "smol", feature = "tokio", feature = "threads")))]
pub use system::unix::Listener;
