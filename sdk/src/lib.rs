//! Model Context Protocol servers and clients, on any executor or none.
//!
//! The protocol itself is [`sansio_mcp`]; here it gets futures. Nothing in this crate spawns, sleeps or reads by
//! itself: a transport polls, and a [`Clock`](clock::Clock) tells the time.
#![forbid(unsafe_code)]

pub mod client;
pub mod clock;
mod engine;
pub mod lines;
mod mode;
pub mod server;

pub use engine::{
    Cancelled, Connection, Driver, Engine, Exchange, ExchangeOptions, Facts, Filled, Framing, Tools,
};
pub use mode::{Local, Mode, Shared};
pub use sansio_mcp as protocol;
pub use sansio_mcp::model;
#[cfg(feature = "schemars")]
pub use schemars;
