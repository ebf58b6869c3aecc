//! MCP within one process, and the tools to test it without waiting.
//!
//! * [`pipe`] and [`duplex`]: bounded byte streams. What crosses them is the wire format, never Rust values, so that a
//!   test over memory exercises what a test over stdio does.
//! * [`pair`]: the two ends of a shared channel; [`per_request()`]: of a transport with a stream for each request.
//! * [`VirtualClock`]: time that passes when it is told to.
//! * [`Lab`]: a single-threaded executor that advances the virtual clock when there is nothing else to do.
//! * [`sim`]: a network between client and server that delays, cuts up, stalls and breaks what crosses it, as a seed says.
//!
//! # A test of a tool
//!
//! A tool that sleeps for an hour is cancelled after five minutes, in no time:
//!
//! ```
//! use std::{cell::Cell, rc::Rc, sync::Arc, time::Duration};
//!
//! use sansio_mcp_memory::Lab;
//! use sansio_mcp_sdk::client::ClientConfig;
//! use sansio_mcp_sdk::model::{ClientCapabilities, Implementation};
//! use sansio_mcp_sdk::server::{Context, NoArguments, Server};
//! use sansio_mcp_sdk::{Engine, Local};
//!
//! let lab = Lab::new();
//! let cleaned = Rc::new(Cell::new(0));
//! let by_tool = cleaned.clone();
//! let server = Server::local("test", "1").tool("sleep", move |_: NoArguments, cx: Context<(), Local>| {
//!     let cleaned = by_tool.clone();
//!     async move {
//!         cx.on_exit(async move { cleaned.set(cleaned.get() + 1) });
//!         cx.sleep(Duration::from_secs(3600)).await;
//!         Ok("awake")
//!     }
//! });
//!
//! let (engine, driver) = Engine::new(server.build()?, Arc::new(lab.clock()));
//! lab.spawn(driver);
//! let config = ClientConfig::builder(Implementation::new("test", "1"), ClientCapabilities::default()).build()?;
//! let client = lab.connect(&engine, config);
//!
//! // Dropping a call cancels it; aborting a task drops its future.
//! let call = lab.spawn(client.call_tool("sleep", &serde_json::json!({})).total_timeout(None));
//! lab.advance(Duration::from_secs(5 * 60));
//! assert_eq!((call.is_done(), cleaned.get()), (false, 0));
//! call.abort();
//! lab.run_until_idle();
//! assert_eq!((engine.facts().running, cleaned.get()), (0, 1));
//! assert_eq!(lab.clock().elapsed(), Duration::from_secs(5 * 60));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod clock;
mod duplex;
mod lab;
mod per_request;
mod pipe;
mod serve;
pub mod sim;
mod task;

pub use clock::VirtualClock;
pub use duplex::{Duplex, duplex, pair};
pub use lab::{External, Lab};
pub use per_request::{StreamAcceptor, StreamOpener, drive, per_request};
pub use pipe::{Closed, PipeReader, PipeWriter, pipe};
pub use serve::serve_streams;
pub use task::Task;
