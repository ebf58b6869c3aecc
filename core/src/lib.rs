//! The Model Context Protocol as values: no I/O, no clock, no randomness, no threads, no async.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

pub mod id;
pub mod time;
