//! The counter on stdin and stdout, on tokio.
//!
//! ```text
//! cargo run -p sansio-mcp-stdio --features tokio --example on_tokio
//! ```

mod counter;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let server = counter::server().build()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(sansio_mcp_stdio::tokio::serve(server))?)
}
