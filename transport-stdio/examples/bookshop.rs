//! The bookshop as a server on stdin and stdout, for any MCP client:
//!
//! ```text
//! cargo run --example bookshop
//! ```
//!
//! What it has to tell its operator goes to stderr; `RUST_LOG=trace` tells more.

mod shop;

use std::error::Error;
use std::sync::Arc;

use sansio_mcp_stdio::{SystemClock, serve};
use shop::Shop;

fn main() -> Result<(), Box<dyn Error>> {
    let level = std::env::var("RUST_LOG").ok().and_then(|level| level.parse().ok());
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(level.unwrap_or(tracing::Level::WARN))
        .init();

    let shop = Shop::new(Arc::new(SystemClock::new()), std::thread::sleep);
    // A host may ask for much at once: 256 run side by side, the rest waits.
    let server = shop::server(shop).slots(256).queue(4096).build()?;
    smol::block_on(serve(server))?;
    Ok(())
}
