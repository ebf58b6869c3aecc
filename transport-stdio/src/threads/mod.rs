//! The runnable parts on plain threads, without any executor or reactor. Everything here blocks the calling thread.
//!
//! ```no_run
//! use std::process::Command;
//!
//! use sansio_mcp_sdk::client::ClientConfig;
//! use sansio_mcp_sdk::model::{ClientCapabilities, Implementation};
//! use sansio_mcp_stdio::threads::{Wait, launch};
//!
//! let config = ClientConfig::builder(Implementation::new("me", "1"), ClientCapabilities::default()).build()?;
//! let (client, server) = launch(Command::new("adder"), config)?;
//! let sum = client.call_tool("add", &serde_json::json!({ "a": 1, "b": 2 })).wait()?;
//! println!("{:?}", sum.first_text());
//! drop(client);
//! println!("{}", server.join().expect("it does not panic"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod block_on;
mod child;
mod clock;
mod connect;
mod own;
#[cfg(unix)]
mod unix;

pub use block_on::{Wait, block_on};
pub use child::launch;
pub use clock::SystemClock;
pub use connect::connect;
pub use own::{serve, serve_on};
#[cfg(unix)]
pub use unix::{connect_unix, serve_unix};
