//! The counter on stdin and stdout, on smol.
//!
//! ```text
//! cargo run -p sansio-mcp-stdio --example on_smol
//! ```

mod counter;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let server = counter::server().build()?;
    Ok(smol::block_on(sansio_mcp_stdio::smol::serve(server))?)
}
