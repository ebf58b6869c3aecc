//! The counter on stdin and stdout, on plain threads.
//!
//! ```text
//! cargo run -p sansio-mcp-stdio --features threads --example on_threads
//! ```

mod counter;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let server = counter::server().build()?;
    Ok(sansio_mcp_stdio::threads::serve(server)?)
}
