//! MCP within one process, and the tools to test it without waiting.
//!
//! * [`pipe`] and [`duplex`]: bounded byte streams. What crosses them is the wire format, never Rust values, so that a
//!   test over memory exercises what a test over stdio does.
//! * [`pair`]: the two ends of a shared channel; [`per_request()`]: of a transport with a stream for each request.
//! * [`VirtualClock`]: time that passes when it is told to.
//! * [`Lab`]: a single-threaded executor that advances the virtual clock when there is nothing else to do.
#![forbid(unsafe_code)]

mod clock;
mod duplex;
mod lab;
mod per_request;
mod pipe;
mod task;

pub use clock::VirtualClock;
pub use duplex::{Duplex, duplex, pair};
pub use lab::{External, Lab};
pub use per_request::{StreamAcceptor, StreamOpener, drive, per_request};
pub use pipe::{Closed, PipeReader, PipeWriter, pipe};
pub use task::Task;
