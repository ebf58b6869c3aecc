//! Output that would break the protocol if it reached the wire: `println!`, bytes written to stdout, a child process
//! that inherits it. While a server runs, all of it goes to stderr.
//!
//! ```text
//! cargo run --example stray_output 2>/dev/null
//! ```

use std::error::Error;
use std::io::Write;
use std::process::Command;

use sansio_mcp_sdk::Shared;
use sansio_mcp_sdk::server::{Context, Exit, NoArguments, Server, ToolSpec};
use sansio_mcp_stdio::serve;

async fn shout(_: NoArguments, _: Context) -> Result<&'static str, Exit> {
    println!("stray line");
    std::io::stdout().write_all(b"{\"stray\":\"bytes\"}\n")?;
    std::io::stdout().flush()?;
    if cfg!(unix) {
        Command::new("echo").arg("stray child").status()?;
    }
    Ok("shouted")
}

fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::<Shared>::builder("stray_output", env!("CARGO_PKG_VERSION"))
        .tool(ToolSpec::new("shout").description("Writes to stdout in every way there is."), shout)
        .build()?;
    smol::block_on(serve(server))?;
    // What comes after it goes there too: the client may still be reading.
    println!("stray farewell");
    Ok(())
}
