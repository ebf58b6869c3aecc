//! The Model Context Protocol as values: no I/O, no clock, no randomness, no threads, no async.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

pub mod admission;
pub mod client;
pub mod code;
pub mod id;
pub mod limits;
pub mod misuse;
pub mod model;
pub mod server;
mod slab;
#[cfg(test)]
mod table_test;
pub mod time;
mod timers;
pub mod violation;
pub mod wire;

/// The revision that this crate speaks.
pub const PROTOCOL_VERSION: &str = "2026-07-28";
