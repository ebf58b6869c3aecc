//! Servers as child processes (basic/transports/stdio, "Shutdown").
//!
//! What is the same on every runtime: starting the child, draining its stderr, watching for its end, and the ladder by
//! which it is stopped. A runtime adds the two streams and its clock.

mod launch;
mod port;
mod process;
mod run;
mod stderr;

pub use launch::{Launch, Stderr};
pub use run::{Ended, Running, Stopped};
